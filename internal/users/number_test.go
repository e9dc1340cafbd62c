package users

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, region, want string }{
		{"+44 (0)20 7946 0958", "", "+442079460958"},
		{"+4402079460958", "", "+442079460958"},
		{"079 123 45 67", "CH", "+41791234567"},
		{"+41 (0)79 123 45 67", "CH", "+41791234567"},
		{"0041 79 123 45 67", "", "+41791234567"},
		{"0041791234567", "US", "+41791234567"},
		{"0011 41 79 123 45 67", "AU", "+41791234567"},
		{"+41\u00a079\u00a0123\u00a045\u00a067", "", "+41791234567"},
		{"tel:+41-79-123-45-67", "", "+41791234567"},
		{"(555) 123-4567", "US", "+15551234567"},
		{"15551234567", "US", "+15551234567"},
		{"+49/30/1234567", "", "+49301234567"},
		{" +15551234567 ", "CH", "+15551234567"},
		{"+１２０２５５５０１２３", "", "+12025550123"},
		{"+390612345678", "", "+390612345678"},
	} {
		got, err := Region(c.region).Number(c.text)
		require.NoError(t, err, "%s", c.text)
		require.Equal(t, c.want, got, "%s", c.text)
		again, err := Region("").Number(got)
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
	for _, text := range []string{"", "+", "12", "+1555", "+1555123456789012", "555-HELP", "1-800-FLOWERS", "ann@example.com", "+1 555 123 4567 ext. 9",
		"5551234567;ext=2", "+1555\n1234567", "+15551234567/+41791234567", "+999 123", "+15551234", strings.Repeat("1", 2000)} {
		_, err := Region("US").Number(text)
		require.True(t, fault.Is(err, fault.Invalid), "%q", text)
	}
	_, err := Region("").Number("079 123 45 67")
	require.ErrorContains(t, err, "phone_region", "the text names the setting")
	_, err = Region("").Contact(SMS, "079 123 45 67")
	require.ErrorContains(t, err, "phone_region")
	to, err := Region("").Contact(Email, " ann@example.com ")
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", to)
	require.True(t, Region("CH").Known())
	require.False(t, Region("XX").Known())
}

func FuzzNumber(f *testing.F) {
	f.Add("+1 (202) 555-0123", "US")
	f.Add("tel:00", "CH")
	f.Fuzz(func(t *testing.T, text, region string) {
		got, err := Region(region).Number(text)
		require.Equal(t, err == nil, got != "")
		require.True(t, err != nil || IsE164(got))
	})
}
