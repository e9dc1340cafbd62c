package imports

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func epochRow(value string) (*Row, *Class) {
	c := &Class{Name: "x"}
	values := map[string][]byte{"at": nil}
	if value != "null" {
		values["at"] = []byte(value)
	}
	return NewRow(c, "row", values), c
}

func TestEpoch(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][2]string{
		"0":            {"1970-01-01T00:00:00Z", ""},
		"1700000000":   {"2023-11-14T22:13:20Z", ""},
		"-1":           {"1969-12-31T23:59:59Z", ""},
		"1700000000.0": {"2023-11-14T22:13:20Z", ""},
		"1700000000.25": {"2023-11-14T22:13:21Z",
			"note: at has a fraction of a second; the next whole second was taken"},
		"-0.5": {"1970-01-01T00:00:00Z",
			"note: at has a fraction of a second; the next whole second was taken"},
		"1.7e9": {"2023-11-14T22:13:20Z", ""},
		"1700000000000": {"9999-12-31T23:59:59Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		"1e300": {"9999-12-31T23:59:59Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		"-9223372036854775808": {"0001-01-01T00:00:00Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		"99999999999999999999": {"9999-12-31T23:59:59Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		"null":      {"", ""},
		"":          {"", "not taken: at is not a number"},
		"yesterday": {"", "not taken: at is not a number"},
		"NaN":       {"", "not taken: at is not a number"},
		"inf": {"9999-12-31T23:59:59Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		"18446744073709551615": {"9999-12-31T23:59:59Z",
			"not taken: at is out of range; the nearest possible value was taken"},
		strings.Repeat("9", 10000): {"", "not taken: at is not a number"},
	} {
		r, c := epochRow(value)
		at, ok := r.Epoch("at")
		require.Equal(t, want[0] != "", ok, value)
		if ok {
			require.Equal(t, want[0], at.Format(time.RFC3339), value)
		}
		said := ""
		for _, reason := range c.Reasons {
			said += string(reason.Kind) + ": " + reason.Text
		}
		require.Equal(t, want[1], said, value)
	}
}

func FuzzEpoch(f *testing.F) {
	for _, s := range []string{"0", "1.5", "-1e20", "NaN", "0x10", "1_000", "inf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, c := epochRow(value)
		at, ok := r.Epoch("at")
		if !ok {
			require.True(t, value == "null" || len(c.Reasons) == 1, "what is lost is told")
			return
		}
		require.True(t, at.Year() >= 1 && at.Year() <= 9999)
		require.Zero(t, at.Nanosecond())
	})
}

func TestTheReportShowsTheComparison(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)
	r := NewReport("x", nil)
	var b strings.Builder
	require.NoError(t, r.WriteText(&b))
	require.NotContains(t, b.String(), "on call")
	require.False(t, r.OnCall.Differs())
	r.OnCall = &Comparison{From: at, Until: at.Add(time.Hour), Teams: 2, Stretches: 5}
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.Contains(t, b.String(), "Who is on call, from 2026-11-21 22:00:00 to 2026-11-21 23:00:00 UTC: 2 teams and 5 stretches compared, no difference\n")
	nepal := time.FixedZone("x", 5*3600+45*60)
	for range maxExamples + 3 {
		r.OnCall.Differences = append(r.OnCall.Differences, Difference{Team: "db", Role: "primary", Zone: "x",
			From: at.In(nepal), Until: at.Add(time.Minute).In(nepal), There: []string{"ann", "bob"}})
	}
	b.Reset()
	require.NoError(t, r.WriteText(&b))
	require.True(t, r.OnCall.Differs())
	require.Equal(t, maxExamples+3, strings.Count(b.String(),
		"- primary of db, Sun 2026-11-22 03:45:00 +05:45 to Sun 2026-11-22 03:46:00 +05:45 (x): ann, bob in the source, nobody here\n"), "every one")
}

func TestModes(t *testing.T) {
	t.Parallel()
	m := Modes{"im": "slack"}
	require.NoError(t, m.Check())
	require.ErrorContains(t, Modes{"im": "fax"}.Check(), `there is no mode "fax"`)
	for name, want := range map[string]string{"im": "slack", "email": "email"} {
		mode, ok := m.Ours(name)
		require.True(t, ok)
		require.Equal(t, want, mode)
	}
	_, ok := m.Ours("hipchat")
	require.False(t, ok)
}
