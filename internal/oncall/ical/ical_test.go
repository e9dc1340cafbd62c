package ical_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/users"
)

func shift() oncall.FeedShift {
	return oncall.FeedShift{
		ShiftRow: oncall.ShiftRow{
			Shift: oncall.Shift{Role: "primary", User: 7, Start: time.Unix(1_700_000_000, 0),
				End: time.Unix(1_700_003_600, 0)},
			Team: "ops, west; 2", UserName: "ann", FullName: "Ann Lee",
		},
		Feed: 12, Sequence: 3, Changed: time.Unix(1_690_000_000, 0),
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	f := ical.Feed{Name: "ops", Shifts: []oncall.FeedShift{shift()}, Contacts: map[users.ID]map[users.Mode]string{
		7: {users.SMS: "+1 555", users.Email: "ann@example.com"},
	}}
	require.Equal(t, strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Oncall//Oncall calendar feed//EN
CALSCALE:GREGORIAN
X-WR-CALNAME:ops Oncall Calendar
REFRESH-INTERVAL;VALUE=DURATION:PT1H
BEGIN:VEVENT
UID:event-12@oncall
DTSTAMP:20230722T042640Z
LAST-MODIFIED:20230722T042640Z
SEQUENCE:3
DTSTART:20231114T221320Z
DTEND:20231114T231320Z
SUMMARY:ops\, west\; 2 primary shift: Ann Lee
DESCRIPTION:Ann Lee\nemail: ann@example.com\nsms: +1 555
TRANSP:TRANSPARENT
STATUS:CONFIRMED
ATTENDEE;CN=Ann Lee;ROLE=REQ-PARTICIPANT:MAILTO:ann@example.com
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n"), f.Text())
	tag, again := ical.ETag(f.Text()), ical.ETag(f.Text())
	require.Equal(t, tag, again, "the same data, the same tag")
}

func TestTextWithoutContacts(t *testing.T) {
	t.Parallel()
	s := shift()
	s.Cancelled = true
	text := ical.Feed{Shifts: []oncall.FeedShift{s}}.Text()
	require.Contains(t, text, "DESCRIPTION:Ann Lee\\n\r\n")
	require.NotContains(t, text, "ATTENDEE", "without an address")
	require.Contains(t, text, "STATUS:CANCELLED\r\n")
	text = ical.Feed{Shifts: []oncall.FeedShift{s}, Contacts: map[users.ID]map[users.Mode]string{}}.Text()
	require.Contains(t, text, "DESCRIPTION:ann\\n\r\n", "who has no contacts goes by the user name")
}

// Whatever people are called, lines keep their length and nobody adds lines of their own.
func TestTextHoldsItsShape(t *testing.T) {
	t.Parallel()
	s := shift()
	s.FullName = "Ann\r\nBEGIN:VALARM\" ;X=1:y\u2028" + strings.Repeat("ж界\U0001F600", 60)
	s.Team = "a\nb\x00c\xff"
	text := ical.Feed{Name: "x\r\nATTACH:y", Shifts: []oncall.FeedShift{s}, Contacts: map[users.ID]map[users.Mode]string{
		7: {users.Email: "a@b\r\nEND:VEVENT"},
	}}.Text()
	require.Equal(t, strings.Count(text, "\n"), strings.Count(text, "\r\n"))
	for _, line := range strings.Split(text, "\r\n") {
		require.LessOrEqual(t, len(line), 75)
		require.NotContains(t, []string{"BEGIN:VALARM", "ATTACH:y"}, line)
	}
	require.Equal(t, 1, strings.Count(strings.ReplaceAll(text, "\r\n ", ""), "\r\nEND:VEVENT"))
	require.Contains(t, strings.ReplaceAll(text, "\r\n ", ""), "\U0001F600", "folds do not cut letters")
}
