package ical_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/ical"
)

func sample(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return text
}

func year2026(t *testing.T, text []byte) ical.Calendar {
	t.Helper()
	got, err := ical.Read(text, time.UTC, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	return got
}

func starts(c ical.Calendar) []string {
	var out []string
	for _, e := range c.Events {
		out = append(out, e.UID+" "+e.Summary+e.Start.Format(" 01-02T15:04"))
	}
	return out
}

// A description that was not folded, a line without a colon, an attendee with a quote: the events are read, and the
// lines are reported.
func TestALineThatCannotBeReadIsReported(t *testing.T) {
	t.Parallel()
	got := year2026(t, sample(t, "broken_lines.ics"))
	require.Equal(t, []string{"a Ana 10-05T07:00", "b Bea 10-12T07:00", "d Dora 10-26T08:00"}, starts(got))
	require.Equal(t, []ical.Problem{
		{Summary: "line 10", Why: `"second line of the description, which is not folded https://" is no property like NAME:value`},
		{Summary: "line 31", Why: `"Status of the shift" is no property like NAME:value`},
		{Summary: "line 36", Why: `"-- sent by the calendar server of example.com" is no property like NAME:value`},
		{UID: "c", Summary: "Cleo", Why: `line 24: "DTEND 20261019T170000" is no property like NAME:value`},
	}, got.Problems)
	require.Equal(t, []string{"a", "b", "d"}, got.UIDs)
}

// Some servers send one calendar for each person, each with its own zones.
func TestSeveralCalendarsAreRead(t *testing.T) {
	t.Parallel()
	got := year2026(t, sample(t, "two_calendars.ics"))
	require.Empty(t, got.Problems)
	require.Equal(t, []string{"a Ana 10-05T07:00", "b Bea 10-05T13:00", "c Cleo 10-06T16:00"}, starts(got))
}

func TestTextAroundACalendarIsReported(t *testing.T) {
	t.Parallel()
	const event = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261019T090000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\n"
	got := year2026(t, []byte("\xef\xbb\xbfBEGIN:VCALENDAR\r\n"+event+"END:VCALENDAR\r\nX-A:b\r\n"+strings.Repeat("<br>\r\n", 20)))
	require.Len(t, got.Events, 1)
	require.Len(t, got.Problems, 11)
	require.Equal(t, ical.Problem{Summary: "line 8", Why: `"X-A:b" is outside of the calendar`}, got.Problems[0])
	require.Equal(t, ical.Problem{Summary: "11 more lines", Why: "they cannot be read"}, got.Problems[10])
}

// The events that are missing in a part of a calendar must not count as removed.
func TestAStructureThatIsBrokenIsRefused(t *testing.T) {
	t.Parallel()
	const event = "BEGIN:VEVENT\nUID:1\nDTSTART:20261019T090000Z\nDURATION:PT1H\n"
	for text, why := range map[string]string{
		"BEGIN:VCALENDAR\n" + event + "END:VCALENDAR\n":                                "line 6 of the iCalendar cannot be read: END:VCALENDAR has no BEGIN",
		"BEGIN:VCALENDAR\nBEGIN VEVENT\nEND:VEVENT\nEND:VCALENDAR\n":                   "line 3 of the iCalendar cannot be read: END:VEVENT has no BEGIN",
		"BEGIN:VCALENDAR\nEND:VCALENDAR\n" + event + "END:VEVENT\n":                    "line 3 of the iCalendar cannot be read: BEGIN:VEVENT is in the wrong place",
		"BEGIN:VCALENDAR\nEND:VCALENDAR\nBEGIN:VCALENDAR\n" + event + "END:VEVENT\n":   "it does not end in END:VCALENDAR",
		"BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID 1\nEND:VEVENT\nEND:VCALENDAR\n":            `line 3 of the iCalendar cannot be read: "UID 1" is no property like NAME:value`,
		"BEGIN:VCALENDAR\nBEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n":             "line 2 of the iCalendar cannot be read: BEGIN:VCALENDAR is in the wrong place",
		"BEGIN:VCALENDAR\n" + strings.Repeat("BEGIN:X\n", 500_000) + "END:VCALENDAR\n": "line 11 of the iCalendar cannot be read: more than 10 parts are within each other",
	} {
		_, err := ical.Read([]byte(text), time.UTC, time.Unix(0, 0), time.Now())
		require.True(t, fault.Is(err, fault.Invalid), "%v", err)
		require.ErrorContains(t, err, why)
	}
}

// Limits count the window: a calendar of many years can be read, and too many occurrences of this year cannot.
func TestLimitsCountTheWindow(t *testing.T) {
	t.Parallel()
	event := func(i int, at time.Time, rule string) string {
		return fmt.Sprintf("BEGIN:VEVENT\nUID:%d\nDTSTART:%s\nDURATION:PT1H\n%sEND:VEVENT\n", i, at.Format("20060102T150405Z"), rule)
	}
	calendar := func(first time.Time, events int, rule string) []byte {
		var out strings.Builder
		out.WriteString("BEGIN:VCALENDAR\n")
		for i := range events {
			out.WriteString(event(i, first.Add(time.Duration(i)*time.Hour), rule))
		}
		out.WriteString(event(events, time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), "") + "END:VCALENDAR\n")
		return []byte(out.String())
	}
	past, now := time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, text := range map[string][]byte{
		"2,500 events of years ago":                calendar(past, 2500, ""),
		"500 recurring events of years ago":        calendar(past, 500, "RRULE:FREQ=WEEKLY;COUNT=20\n"),
		"1,500 recurring events that were ended":   calendar(past, 1500, "RRULE:FREQ=WEEKLY;UNTIL=20201231T000000Z\n"),
		"1,500 occurrences of this year, and more": calendar(past, 1500, "RRULE:FREQ=YEARLY;COUNT=3\n"),
	} {
		got := year2026(t, text)
		require.Len(t, got.Events, 1, name)
		require.Empty(t, got.Problems, name)
	}
	for why, text := range map[string][]byte{
		"the calendar has more than 2000 occurrences from 2026-01-01 to 2027-01-01":                calendar(now, 2001, ""),
		"the recurring events of the calendar together recur for more than 20000 years: end those": calendar(past, 3000, "RRULE:COUNT=3;FREQ=YEARLY\n"),
	} {
		_, err := ical.Read(text, time.UTC, now, now.AddDate(1, 0, 0))
		require.True(t, fault.Is(err, fault.Invalid), "%v", err)
		require.ErrorContains(t, err, why)
	}
}
