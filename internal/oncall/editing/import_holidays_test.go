package editing

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// readHolidays returns the days of a calendar with their names.
func readHolidays(t *testing.T, events ...string) (days, leftOut []string, err error) {
	t.Helper()
	text := "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n"
	for i, e := range events {
		text += fmt.Sprintf("BEGIN:VEVENT\nUID:%d\n%s\nEND:VEVENT\n", i+1, e)
	}
	found, leftOut, err := ReadHolidays([]byte(strings.ReplaceAll(text+"END:VCALENDAR\n", "\n", "\r\n")),
		time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	for _, h := range found {
		days = append(days, h.Day.String()+" "+h.Name)
	}
	return days, leftOut, err
}

func TestReadHolidays(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		event string
		want  []string
	}{
		"a day":               {"DTSTART;VALUE=DATE:20261225", []string{"2026-12-25 x"}},
		"a day that ends":     {"DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261225", []string{"2026-12-25 x"}},
		"two days":            {"DTSTART;VALUE=DATE:20261225\nDTEND;VALUE=DATE:20261227", []string{"2026-12-25 x", "2026-12-26 x"}},
		"a time":              {"DTSTART:20261225T100000Z", []string{"2026-12-25 x"}},
		"times":               {"DTSTART:20261225T100000\nDTEND:20261226T000000", []string{"2026-12-25 x"}},
		"a day of its zone":   {"DTSTART;TZID=Asia/Tokyo:20261225T000000\nDTEND;TZID=Asia/Tokyo:20261225T235959", []string{"2026-12-25 x"}},
		"two rules":           {"DTSTART;VALUE=DATE:20270104\nRRULE:FREQ=WEEKLY;COUNT=2\nRRULE:FREQ=DAILY;COUNT=2", []string{"2027-01-04 x", "2027-01-05 x", "2027-01-11 x"}},
		"a moved one":         {"DTSTART;VALUE=DATE:20270104\nRRULE:FREQ=WEEKLY;COUNT=2\nSUMMARY:x\nEND:VEVENT\nBEGIN:VEVENT\nUID:1\nRECURRENCE-ID;VALUE=DATE:20270111\nDTSTART;VALUE=DATE:20270113", []string{"2027-01-04 x", "2027-01-13 x"}},
		"every year till now": {"DTSTART;VALUE=DATE:19900101\nRRULE:FREQ=YEARLY;UNTIL=20260101", []string{"2024-01-01 x", "2025-01-01 x", "2026-01-01 x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			days, leftOut, err := readHolidays(t, tc.event+"\nSUMMARY:x", "DTSTART;VALUE=DATE:19991231\nSUMMARY:long ago")
			require.NoError(t, err)
			require.Empty(t, leftOut)
			require.Equal(t, tc.want, days)
		})
	}
}

// What can be read is used; the rest is listed. A calendar of which nothing can be used is refused.
func TestHolidaysThatAreLeftOut(t *testing.T) {
	t.Parallel()
	days, leftOut, err := readHolidays(t, "DTSTART;VALUE=DATE:20270101\nSUMMARY:New Year\nnot folded",
		"DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270303\nSUMMARY:Summer", "DTSTART:soon\nSUMMARY:Feast")
	require.NoError(t, err)
	require.Equal(t, []string{"2027-01-01 New Year"}, days)
	require.Equal(t, []string{`line 8: "not folded" is no property like NAME:value`, `Feast: DTSTART: "soon" is not a time`,
		"Summer: it covers 61 days, at most 60 are allowed: give a longer holiday as several events"}, leftOut)

	for event, why := range map[string]string{
		"DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270303\nSUMMARY:Summer":              "no event of this calendar can be used; Summer: it covers 61 days, at most 60 are allowed",
		"DTSTART;VALUE=DATE:19990101":                                                         "this calendar has no events from 2024 to 2046",
		"DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=DAILY":                                       "the calendar has more than 5000 occurrences from 2024-01-01 to 2047-01-01",
		"DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270103\nRRULE:FREQ=DAILY;COUNT=5000": "the calendar has 5001 holidays from 2024 to 2046, at most 5000 are allowed",
	} {
		_, _, err := readHolidays(t, event)
		require.True(t, fault.Is(err, fault.Invalid), event)
		require.ErrorContains(t, err, why)
	}
	days, _, err = readHolidays(t, "DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270302")
	require.NoError(t, err)
	require.Len(t, days, 60)
}

func TestHolidaysOfACountryAreOfTheSameYears(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	days, err := CountryHolidays("CH-ZH", now)
	require.NoError(t, err)
	require.Equal(t, "2024-01-01 Neujahrstag", days[0].Day.String()+" "+days[0].Name)
	require.Equal(t, "2046-12-26", days[len(days)-1].Day.String())
	_, err = CountryHolidays("ZH", now)
	require.ErrorContains(t, err, `the holidays of "ZH" are not known`)
}
