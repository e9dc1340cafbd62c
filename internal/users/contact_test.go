package users

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestCheckContact(t *testing.T) {
	t.Parallel()
	for mode, spellings := range map[Mode][]string{
		Email:   {"ann@example.com", "ann+pager@mail.example.com"},
		SMS:     {"+15551234567"},
		Call:    {"+15551234567"},
		Slack:   {"@ann", "ann", "#db-alerts", "U0ANN0001", "ann@example.com"},
		Webhook: {"https://hooks.example.com/x?y=1", "http://10.0.0.1:8080/"},
		Push:    {"token-of-a-phone"},
	} {
		for _, s := range spellings {
			require.NoError(t, CheckContact(mode, s))
		}
	}
	for mode, spellings := range map[Mode][]string{
		Email: {"", "ann", "Ann <ann@example.com>", "ann@", "a b@example.com",
			"ann@example.com\r\nBcc: x@example.com"},
		SMS: {"", "+", "12", "0123", "555-HELP", "+41 79 123 45 67", "(555) 123-4567", "0041791234567",
			"+1.555.123.4567", "+1555123456789012", "+1555\n1234567"},
		Call:    {"ann@example.com"},
		Slack:   {"", "@", "#", "ann b"},
		Webhook: {"", "hooks.example.com", "ftp://hooks.example.com/", "https://", "https:///x", "https://a b/"},
		Push:    {"", "two words"},
		Drop:    {"anything"},
		"fax":   {"+15551234567"},
	} {
		for _, s := range append(spellings, strings.Repeat("x", maxDestination+1)) {
			require.True(t, fault.Is(CheckContact(mode, s), fault.Invalid), "%s %q", mode, s)
		}
	}
	require.ErrorContains(t, CheckContact(Webhook, "ftp://x"), "https:// or http://", "the text names both schemes")
}
