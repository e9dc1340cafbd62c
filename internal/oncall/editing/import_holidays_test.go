package editing

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestALongHolidayIsRefusedNotShortened(t *testing.T) {
	t.Parallel()
	const calendar = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART;VALUE=DATE:20270101\r\n" +
		"DTEND;VALUE=DATE:%s\r\nSUMMARY:Summer\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	days, err := ReadHolidays(fmt.Appendf(nil, calendar, "20270302"))
	require.NoError(t, err)
	require.Len(t, days, 60)
	_, err = ReadHolidays(fmt.Appendf(nil, calendar, "20270303"))
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, `event 1 of the calendar, "Summer": it covers 61 days, at most 60 are allowed`)
}
