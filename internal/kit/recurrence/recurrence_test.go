package recurrence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/teambition/rrule-go"
)

var rules = map[string]bool{
	"FREQ=DAILY": true, "FREQ=WEEKLY;BYDAY=MO,SU": true, "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29": true, "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO": true,
	"FREQ=MONTHLY;BYDAY=5FR": true, "FREQ=YEARLY;BYWEEKNO=53": true, "FREQ=YEARLY;BYYEARDAY=366": true, "FREQ=MONTHLY;BYDAY=MO,TU;BYSETPOS=-1": true,
	"FREQ=DAILY;COUNT=3": true, "FREQ=HOURLY;INTERVAL=5;BYDAY=TU": true, "FREQ=MINUTELY;BYHOUR=3": true, "FREQ=MONTHLY;INTERVAL=13;BYMONTHDAY=31": true, "FREQ=MONTHLY;INTERVAL=48;BYMONTHDAY=29": false,
	"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30": false, "FREQ=MONTHLY;BYMONTH=4,6;BYMONTHDAY=31": false, "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30,31": false,
	"FREQ=YEARLY;BYWEEKNO=2;BYMONTH=7": false, "FREQ=YEARLY;BYYEARDAY=1;BYMONTH=3": false, "FREQ=DAILY;INTERVAL=7;BYDAY=TU": false,
	"FREQ=WEEKLY;BYDAY=MO;BYSETPOS=2": false, "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30": false, "FREQ=YEARLY;INTERVAL=2;BYMONTH=2;BYMONTHDAY=29": false,
	"FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30": false, "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30": false,
}

// start is a Monday in February of an odd year.
var start = time.Date(2027, 2, 1, 22, 30, 0, 0, time.UTC)

func option(tb testing.TB, rule string) rrule.ROption {
	o, err := rrule.StrToROption(rule)
	require.NoError(tb, err)
	o.Dtstart = start
	return *o
}

func TestPossible(t *testing.T) {
	t.Parallel()
	for rule, want := range rules {
		require.Equal(t, want, Possible(option(t, rule)), rule)
	}
	for _, year := range []int{1, 1760, 9990, 12_000} { // at any beginning it ends
		o := option(t, "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30")
		o.Dtstart = start.AddDate(year-start.Year(), 0, 0)
		require.False(t, Possible(o))
	}
}

// It answers as the library does from the true beginning.
func TestPossibleIsTrueIfTheLibraryFindsAnOccurrence(t *testing.T) {
	t.Parallel()
	for rule, want := range rules {
		o := option(t, rule)
		if o.Freq > rrule.DAILY {
			continue // the library takes minutes
		}
		r, err := rrule.NewRRule(o)
		require.NoError(t, err)
		_, found := r.Iterator()()
		require.Equal(t, want, found, rule)
	}
}

func BenchmarkPossible(b *testing.B) {
	for _, rule := range []string{"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", "FREQ=DAILY;INTERVAL=7;BYDAY=TU", "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=30", "FREQ=SECONDLY;BYMONTH=2;BYMONTHDAY=30"} {
		b.Run(rule, func(b *testing.B) {
			o := option(b, rule)
			for b.Loop() {
				Possible(o)
			}
		})
	}
}
