package editing

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/countries"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// Limits: the days of one holiday, the days of one calendar, and the years before and after this one for which holidays
// are kept.
const (
	maxHoliday  = 60
	maxHolidays = 5000
	yearsBack   = 2
	yearsAhead  = 20
)

// holidayYears returns the first year of which holidays are kept, and the year after the last one.
func holidayYears(now time.Time) (first, end int) {
	return now.UTC().Year() - yearsBack, now.UTC().Year() + yearsAhead + 1
}

// ReadHolidays returns the days that the events of an iCalendar text cover, from two years ago to 20 years ahead. Each
// day is that of the event's own zone. It also returns the lines and events that it left out, and why: those that
// cannot be read, and events of more than 60 days. A text without a usable event is a fault.
func ReadHolidays(raw []byte, now time.Time) (days []scheduling.Holiday, leftOut []string, err error) {
	first, end := holidayYears(now)
	read, err := ical.ReadDays(raw, oncall.LocalDate(first, time.January, 1, 0).Time(),
		oncall.LocalDate(end, time.January, 1, 0).Time())
	if err != nil {
		return nil, nil, err
	}
	names := map[oncall.Date]string{}
	for _, e := range read.Events {
		begin, last := oncall.LocalIn(e.Start, e.Zone).Date(), oncall.LocalIn(e.End.Add(-time.Second), e.Zone).Date()
		if length := last - begin + 1; length > maxHoliday {
			read.Problems = append(read.Problems, ical.Problem{UID: e.UID, Summary: e.Summary, Why: fmt.Sprintf(
				"it covers %d days, at most %d are allowed: give a longer holiday as several events", length, maxHoliday)})
			continue
		}
		for day := begin; day <= last; day++ {
			if _, known := names[day]; !known {
				names[day] = e.Summary
			}
		}
	}
	if len(names) > maxHolidays {
		return nil, nil, fault.Invalidf("body", "the calendar has %d holidays from %d to %d, at most %d are allowed: leave some out",
			len(names), first, end-1, maxHolidays)
	}
	leftOut = LeftOut(problems(read.Problems))
	switch {
	case len(names) == 0 && len(leftOut) > 0:
		return nil, nil, fault.Invalidf("body", "no event of this calendar can be used; %s", leftOut[0])
	case len(names) == 0:
		return nil, nil, fault.Invalidf("body", "this calendar has no events from %d to %d: "+
			"give one VEVENT with DTSTART for each holiday, such as DTSTART;VALUE=DATE:20261225", first, end-1)
	}
	return sortedHolidays(names), leftOut, nil
}

// CountryNamed returns the country with a code. An unknown code is an Invalid fault of the field "country".
func CountryNamed(code string) (countries.Country, error) {
	c, ok := countries.Find(code)
	if !ok {
		return c, fault.Invalidf("country",
			"the holidays of %.20q are not known: choose a code of /v1/holiday-countries, such as DE or CH-ZH", code)
	}
	return c, nil
}

// CountryHolidays returns the public holidays of a country, of the same years as ReadHolidays.
func CountryHolidays(code string, now time.Time) ([]scheduling.Holiday, error) {
	country, err := CountryNamed(code)
	if err != nil {
		return nil, err
	}
	names := map[oncall.Date]string{}
	first, end := holidayYears(now)
	country.Days(names, first, end)
	return sortedHolidays(names), nil
}

func sortedHolidays(names map[oncall.Date]string) []scheduling.Holiday {
	out := make([]scheduling.Holiday, 0, len(names))
	for day, name := range names {
		out = append(out, scheduling.Holiday{Day: day, Name: name})
	}
	slices.SortFunc(out, func(x, y scheduling.Holiday) int { return int(x.Day - y.Day) })
	return out
}
