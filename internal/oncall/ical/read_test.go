package ical_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/users"
)

// Every shift that goes out comes back, whatever the zone of the team and the readers is and the clocks do.
func TestFeedsComeBack(t *testing.T) {
	t.Parallel()
	zones := []string{
		"UTC", "Europe/Zurich", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
		"Pacific/Kwajalein", "Africa/Casablanca", "America/Sao_Paulo", "Asia/Tehran",
	}
	people := map[users.ID]string{1: "Ann Lee", 2: `Bob "Bo" O'Ray, the; second\n`, 3: "Ça Ïf 界 " +
		strings.Repeat("long", 40)}
	rapid.Check(t, func(t *rapid.T) {
		zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
		require.NoError(t, err)
		year := rapid.IntRange(2000, 2040).Draw(t, "year")
		// Hand-offs at a time of day, day by day around a change of the clocks or anywhere else.
		at := time.Date(year, time.Month(rapid.IntRange(1, 12).Draw(t, "month")), rapid.IntRange(1, 31).Draw(t, "day"),
			0, 0, 0, 0, zone)
		if _, change := at.ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(t, "at a change") {
			at = change.AddDate(0, 0, -2)
		}
		hand := oncall.Local(rapid.IntRange(0, 24*60-1).Draw(t, "minute") * 60)
		day := oncall.LocalIn(at, zone).Midnight()
		var f ical.Feed
		for i := range rapid.IntRange(1, 6).Draw(t, "shifts") {
			start, end := (day + hand).In(zone), (day + 24*60*60 + hand).In(zone)
			day += 24 * 60 * 60
			if !start.Before(end) {
				continue // the day that a zone skips
			}
			id := users.ID(rapid.IntRange(1, 3).Draw(t, "user"))
			f.Shifts = append(f.Shifts, oncall.FeedShift{
				ShiftRow: oncall.ShiftRow{Shift: oncall.Shift{Role: "primary", User: id, Start: start, End: end},
					Team: "ops", UserName: fmt.Sprint("u", id), FullName: people[id]},
				Feed: int64(i + 1), Changed: start,
			})
		}
		contacts := map[users.ID]map[users.Mode]string{}
		for id := range people {
			contacts[id] = map[users.Mode]string{users.Email: fmt.Sprintf("u%d@example.com", id)}
		}
		f.Contacts = contacts
		reader, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "reader"))
		require.NoError(t, err)
		got, err := ical.Read([]byte(f.Text()), reader, at.AddDate(0, 0, -5), at.AddDate(0, 0, 20))
		require.NoError(t, err)
		require.Empty(t, got.Problems)
		require.Len(t, got.Events, len(f.Shifts))
		for i, e := range got.Events {
			s := f.Shifts[i]
			require.Equal(t, ical.UID(s), e.UID)
			require.True(t, s.Start.Equal(e.Start) && s.End.Equal(e.End) && e.Occurs.Equal(s.Start), "%v: %v to %v", e,
				s.Start, s.End)
			require.Len(t, e.People, 1)
			require.Equal(t, contacts[s.User][users.Email], e.People[0].Email)
		}
	})
}

func read(t *testing.T, zone string, events ...string) ical.Calendar {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	require.NoError(t, err)
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"
	for i, e := range events {
		text += fmt.Sprintf("BEGIN:VEVENT\nUID:%d\nDTSTAMP:20260101T000000Z\n%s\nEND:VEVENT\n", i+1, e)
	}
	got, err := ical.Read([]byte(strings.ReplaceAll(text+"END:VCALENDAR\n", "\n", "\r\n")), loc,
		time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	return got
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		event string
		want  []string
	}{
		"instants": {"DTSTART:20261024T220000Z\nDTEND:20261025T220000Z",
			[]string{"10-24T22:00 10-25T22:00"}},
		"a zone":                 {"DTSTART;TZID=America/New_York:20261101T000000\nDTEND;TZID=America/New_York:20261102T000000", []string{"11-01T04:00 11-02T05:00"}},
		"a path before the zone": {"DTSTART;TZID=\"/mozilla.org/20070129_1/Europe/Zurich\":20261010T120000\nDURATION:PT1H", []string{"10-10T10:00 10-10T11:00"}},
		"no zone": {"DTSTART:20261010T120000\nDTEND:20261010T130000",
			[]string{"10-10T10:00 10-10T11:00"}},
		"a day": {"DTSTART;VALUE=DATE:20261025", []string{"10-24T22:00 10-25T23:00"}},
		"days": {"DTSTART;VALUE=DATE:20261024\nDTEND;VALUE=DATE:20261026",
			[]string{"10-23T22:00 10-25T23:00"}},
		"a nominal day": {"DTSTART;TZID=Europe/Zurich:20261024T120000\nDURATION:P1DT1H",
			[]string{"10-24T10:00 10-25T12:00"}},
		"cut by the window": {"DTSTART:20260930T220000Z\nDTEND:20261001T010000Z",
			[]string{"09-30T22:00 10-01T01:00"}},
		"outside the window": {"DTSTART:20261201T000000Z\nDTEND:20261202T010000Z", nil},
		"weekly across a change of the clocks": {"DTSTART;TZID=Europe/Zurich:20261019T090000\nDTEND;TZID=Europe/Zurich:20261026T090000\nRRULE:FREQ=WEEKLY;COUNT=3",
			[]string{"10-19T07:00 10-26T08:00", "10-26T08:00 11-02T08:00", "11-02T08:00 11-09T08:00"}},
		"without some": {"DTSTART;TZID=Europe/Zurich:20261023T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;UNTIL=20261026T080000Z\nEXDATE;TZID=Europe/Zurich:20261024T090000,20261025T090000",
			[]string{"10-23T07:00 10-23T08:00", "10-26T08:00 10-26T09:00"}},
		"dates of its own": {"DTSTART;TZID=Europe/Zurich:20261023T090000\nDURATION:PT1H\nRDATE;TZID=Europe/Zurich:20261026T090000,20261023T090000\nRDATE:20261028T120000Z\nEXDATE:20261028T120000Z",
			[]string{"10-23T07:00 10-23T08:00", "10-26T08:00 10-26T09:00"}},
		"days of its own": {"DTSTART;VALUE=DATE:20261024\nRDATE;VALUE=DATE:20261026",
			[]string{"10-23T22:00 10-24T22:00", "10-25T23:00 10-26T23:00"}},
		"without some that name no zone": {"DTSTART;TZID=America/New_York:20261010T090000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nEXDATE:20261011T090000",
			[]string{"10-10T13:00 10-10T14:00", "10-12T13:00 10-12T14:00"}},
		"without a whole day": {"DTSTART;TZID=America/New_York:20261010T210000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE;VALUE=DATE:20261010",
			[]string{"10-12T01:00 10-12T02:00"}},
		"two rules": {"DTSTART;TZID=Europe/Zurich:20261105T090000\nDURATION:PT1H\nRRULE:FREQ=WEEKLY;COUNT=2\nRRULE:FREQ=DAILY;INTERVAL=2;COUNT=2",
			[]string{"11-05T08:00 11-05T09:00", "11-07T08:00 11-07T09:00", "11-12T08:00 11-12T09:00"}},
		"a zone of Windows": {"DTSTART;TZID=Pacific Standard Time:20261010T090000\nDTEND;TZID=\"Pacific Standard Time\":20261010T170000",
			[]string{"10-10T16:00 10-11T00:00"}},
		"dates of its own in another zone": {"DTSTART;TZID=America/New_York:20261010T090000\nDURATION:PT1H\nRDATE:20261012T130000Z",
			[]string{"10-10T13:00 10-10T14:00", "10-12T13:00 10-12T14:00"}},
		"one day that ends on itself": {"DTSTART;VALUE=DATE:20261010\nDTEND;VALUE=DATE:20261010", []string{"10-09T22:00 10-10T22:00"}},
		"names in lower case":         {"dtstart;tzid=America/New_York:20261010T090000\nduration:PT1H", []string{"10-10T13:00 10-10T14:00"}},
		"cancelled":                   {"DTSTART:20261010T120000Z\nDTEND:20261010T130000Z\nSTATUS:CANCELLED", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, "Europe/Zurich", tc.event)
			require.Empty(t, got.Problems)
			require.Equal(t, []string{"1"}, got.UIDs)
			var spans []string
			for _, e := range got.Events {
				spans = append(spans, e.Start.Format("01-02T15:04")+" "+e.End.Format("01-02T15:04"))
			}
			require.Equal(t, tc.want, spans)
		})
	}
}

func TestReadMovedOccurrences(t *testing.T) {
	t.Parallel()
	got := read(t, "UTC", "DTSTART:20261010T090000Z\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:all\nEND:VEVENT\n"+
		"BEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20261011T090000Z\nDTSTART:20261011T150000Z\nDURATION:PT2H\nSUMMARY:moved")
	var all []string
	for _, e := range got.Events {
		all = append(all, e.Summary+e.Start.Format(" 02T15 ")+e.Occurs.Format("02T15"))
	}
	require.Equal(t, []string{"all 10T09 10T09", "moved 11T15 11T09", "all 12T09 12T09"}, all)
}

// Programs name the occurrence that a change of a series is for by its start or by its day.
func TestAChangeNamesItsOccurrenceByItsDay(t *testing.T) {
	t.Parallel()
	const series = "DTSTART;TZID=America/New_York:20261010T210000\nDURATION:PT1H\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:all\nEND:VEVENT\nBEGIN:VEVENT\nUID:1\n"
	for name, change := range map[string]string{
		"a day":     "RECURRENCE-ID;VALUE=DATE:20261011\n",
		"its start": "RECURRENCE-ID;TZID=America/New_York:20261011T210000\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := read(t, "Asia/Tokyo", series+change+"DTSTART;TZID=America/New_York:20261014T100000\nDURATION:PT2H\nSUMMARY:moved")
			require.Empty(t, got.Problems)
			var all []string
			for _, e := range got.Events {
				all = append(all, e.Summary+e.Start.Format(" 02T15 ")+e.Occurs.Format("02T15"))
			}
			require.Equal(t, []string{"all 11T01 11T01", "all 13T01 13T01", "moved 14T14 12T01"}, all)
		})
	}
}

// RFC 5545 3.3.5: of a time that the clock skips, the offset before the skip applies; of one that it shows twice, the
// first one. Zurich skips 02:00 to 03:00 on 29 March 2026 and repeats it on 25 October.
func TestATimeThatTheClockSkips(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		event string
		want  []string
	}{
		"a start": {"DTSTART;TZID=Europe/Zurich:20260329T023000\nDTEND;TZID=Europe/Zurich:20260329T090000",
			[]string{"03-29T01:30 03-29T07:00"}},
		"an end": {"DTSTART;TZID=Europe/Zurich:20260328T200000\nDTEND;TZID=Europe/Zurich:20260329T023000",
			[]string{"03-28T19:00 03-29T01:30"}},
		"both": {"DTSTART;TZID=Europe/Zurich:20260329T020000\nDTEND;TZID=Europe/Zurich:20260329T030000",
			[]string{"03-29T01:00 03-29T02:00"}},
		"an occurrence": {"DTSTART;TZID=Europe/Zurich:20260328T023000\nDTEND;TZID=Europe/Zurich:20260329T023000\nRRULE:FREQ=DAILY;COUNT=3",
			[]string{"03-28T01:30 03-29T01:30", "03-29T01:30 03-30T00:30", "03-30T00:30 03-31T00:30"}},
		"an occurrence that is left out": {"DTSTART;TZID=Europe/Zurich:20260328T023000\nDURATION:PT2H\nRRULE:FREQ=DAILY;COUNT=2\nEXDATE;TZID=Europe/Zurich:20260329T023000",
			[]string{"03-28T01:30 03-28T03:30"}},
		"an hour that is shown twice": {"DTSTART;TZID=Europe/Zurich:20261025T023000\nDTEND;TZID=Europe/Zurich:20261025T033000",
			[]string{"10-25T00:30 10-25T02:30"}},
		"a midnight": {"DTSTART;TZID=Africa/Cairo;VALUE=DATE:20260424", []string{"04-23T22:00 04-24T21:00"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\n" + tc.event + "\nEND:VEVENT\nEND:VCALENDAR\n"
			got, err := ical.Read([]byte(text), time.UTC, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
			require.NoError(t, err)
			require.Empty(t, got.Problems)
			var spans []string
			for _, e := range got.Events {
				spans = append(spans, e.Start.Format("01-02T15:04")+" "+e.End.Format("01-02T15:04"))
			}
			require.Equal(t, tc.want, spans)
		})
	}
}

func TestReadPeople(t *testing.T) {
	t.Parallel()
	got := read(t, "UTC", "DTSTART:20261010T090000Z\nDURATION:PT1H\nSUMMARY:a\\, b\nATTENDEE;CN=Ann Lee:mailto:ann@example.com\n"+
		"ATTENDEE;PARTSTAT=DECLINED:mailto:bob@example.com\nATTENDEE;CUTYPE=ROOM;CN=Room:mailto:room@example.com\nATTENDEE;CN=\"Cat, Fox\":MAILTO:\nATTENDEE:MAILTO:\n"+
		"ATTENDEE:ana@example.com\nATTENDEE;EMAIL=\"bea@example.com\":/x/principal/\nATTENDEE:/x/principal/\nATTENDEE;EMAIL=eva@example.com:MAILTO:\nATTENDEE:urn:uuid:1@2")
	require.Equal(t, "a, b", got.Events[0].Summary)
	require.Equal(t, []ical.Person{{"Ann Lee", "ann@example.com"}, {"Cat, Fox", ""}, {"", "ana@example.com"}, {"", "bea@example.com"}, {"", "eva@example.com"}},
		got.Events[0].People)
}

func TestReadTellsWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for event, why := range map[string]string{
		"DTEND:20261010T120000Z":                                                                      "DTSTART: it is missing",
		"DTSTART:soon":                                                                                `DTSTART: "soon" is not a time`,
		"DTSTART:00010101T000000Z":                                                                    `DTSTART: the year of "00010101T000000Z" is out of range`,
		"DTSTART;TZID=Middle Earth:20261010T120000":                                                   `DTSTART: the time zone "Middle Earth" is not one of the IANA database or of Windows, and the calendar has no VTIMEZONE that describes it`,
		"DTSTART:20261010T120000Z":                                                                    "it must end after it begins",
		"DTSTART:20261010T120000Z\nDTEND:20261010T110000Z":                                            "it must end after it begins",
		"DTSTART:20261010T120000Z\nDURATION:1H":                                                       `DURATION: "1H" is not a duration`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRRULE:FREQ=SECONDLY":                                "the rule may recur at most daily, at the time of day of its start",
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRRULE:NONSENSE":                                     `the rule "NONSENSE" is not one of RFC 5545, such as FREQ=WEEKLY;BYDAY=TU`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nEXDATE:x":                                           `EXDATE: "x" is not a time`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRDATE;VALUE=PERIOD:20261011T120000Z/PT1H":           "RDATE: periods are not supported: list the beginnings, or separate events",
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRRULE;X:FREQ=DAILY":                                 "line 9: parsing property RRULE: missing property value for X in RRULE",
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nEXDATE 20261010T120000Z":                            `line 9: "EXDATE 20261010T120000Z" is no property like NAME:value`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRDATE:x":                                            `RDATE: "x" is not a time`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nEXRULE:FREQ=DAILY":                                  "EXRULE: exceptions by a rule cannot be read; list them with EXDATE",
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRECURRENCE-ID:x":                                    `RECURRENCE-ID: "x" is not a time`,
		"DTSTART:20261010T120000Z\nDURATION:PT1H\nRECURRENCE-ID;RANGE=THISANDFUTURE:20261010T120000Z": "RECURRENCE-ID: changes of all following occurrences at once cannot be read",
	} {
		got := read(t, "UTC", event)
		require.Empty(t, got.Events, event)
		require.Equal(t, []ical.Problem{{UID: "1", Why: why}}, got.Problems, event)
	}
	const event = "BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261019T090000Z\r\nDURATION:PT1H\r\nEND:VEVENT\r\n"
	for _, cut := range []string{"hello", "", "\r\n", "BEGIN:VCALENDAR\r\n", "BEGIN:VCALENDAR\r\n" + event} {
		_, err := ical.Read([]byte(cut), time.UTC, time.Unix(0, 0), time.Now())
		require.True(t, fault.Is(err, fault.Invalid), "%q: %v", cut, err)
	}
	_, err := ical.Read([]byte("BEGIN:VCALENDAR\r\n"+event+"END:VCALENDAR\n\n"), time.UTC, time.Unix(0, 0), time.Now())
	require.NoError(t, err)
}

func FuzzRead(f *testing.F) {
	f.Add("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=Europe/Zurich:20261019T090000\r\nDURATION:P1W\r\nRRULE:FREQ=WEEKLY\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
	f.Add("BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1\nRECURRENCE-ID:20261019\nDTSTART:20261019\nEXDATE:20261019,20261020\nEND:VEVENT\nEND:VCALENDAR\n")
	from, until := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ical.Read([]byte(text), time.UTC, from, until)
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid), err)
		}
		for _, e := range got.Events {
			require.True(t, e.Start.Before(e.End) && e.Start.Before(until) && from.Before(e.End))
		}
	})
}

// Outlook names zones in its own way and describes them in the file.
func TestReadZonesThatTheCalendarDescribes(t *testing.T) {
	t.Parallel()
	const zones = "BEGIN:VTIMEZONE\nTZID:W. Europe Standard Time\nBEGIN:STANDARD\nDTSTART:16010101T030000\nTZOFFSETFROM:+0200\nTZOFFSETTO:+0100\n" +
		"RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=10\nEND:STANDARD\nBEGIN:DAYLIGHT\nDTSTART:16010101T020000\nTZOFFSETFROM:+0100\nTZOFFSETTO:+0200\n" +
		"RRULE:FREQ=YEARLY;INTERVAL=1;BYDAY=-1SU;BYMONTH=3\nEND:DAYLIGHT\nEND:VTIMEZONE\n" +
		"BEGIN:VTIMEZONE\nTZID:Mars\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0245\nTZOFFSETTO:+0245\nEND:STANDARD\nEND:VTIMEZONE\n" +
		"BEGIN:VTIMEZONE\nTZID:Broken\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0245\nRRULE:FREQ=SECONDLY\nTZOFFSETTO:+0245\nEND:STANDARD\nEND:VTIMEZONE\n" +
		"BEGIN:VTIMEZONE\nTZID:Europe/Zurich\nBEGIN:STANDARD\nDTSTART:20200101T000000\nTZOFFSETFROM:+0900\nTZOFFSETTO:+0900\nEND:STANDARD\nEND:VTIMEZONE\n"
	for name, text := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ical.Read([]byte(strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nX-WR-TIMEZONE:Mars\n"+zones+
				"BEGIN:VEVENT\nUID:1\nSUMMARY:Ça\n  界\nDTSTART;TZID=W. Europe Standard Time:20261024T090000\nDURATION:P1D\nRRULE:FREQ=DAILY;COUNT=2\nEND:VEVENT\n"+
				"BEGIN:VEVENT\nUID:2\nDTSTART:20261010T120000\nDURATION:PT1H\nEND:VEVENT\n"+
				"BEGIN:VEVENT\nUID:3\nDTSTART;TZID=Broken:20261010T120000\nDURATION:PT1H\nEND:VEVENT\n"+
				"BEGIN:VEVENT\nUID:4\nDTSTART;TZID=Europe/Zurich:20261010T130000\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n", "\n", text)),
				time.UTC, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
			require.NoError(t, err)
			var all []string
			for _, e := range got.Events {
				all = append(all, e.UID+e.Start.Format(" 02T15:04")+e.End.Format(" 02T15:04"))
			}
			require.Equal(t, []string{"2 10T09:15 10T10:15", "4 10T11:00 10T12:00", "1 24T07:00 25T08:00",
				"1 25T08:00 26T08:00"}, all)
			require.Equal(t, "Ça 界", got.Events[2].Summary)
			require.Equal(t, "3", got.Problems[0].UID)
			require.Contains(t, got.Problems[0].Why, `"Broken" is not one of the IANA database`)
		})
	}
}
