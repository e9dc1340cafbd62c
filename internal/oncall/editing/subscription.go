package editing

import (
	"net/url"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/users"
)

// SubscriptionKind is what the events of a subscribed calendar are.
type SubscriptionKind string

// The kinds. Shifts and holidays belong to a team, unavailability to a person.
const (
	KindShifts         SubscriptionKind = "shifts"
	KindHolidays       SubscriptionKind = "holidays"
	KindUnavailability SubscriptionKind = "unavailability"
)

// CalendarSubscription is a calendar that is read from a URL at intervals. The URL is a secret, because many programs
// put a key into it: only its host is shown.
type CalendarSubscription struct {
	ID        int64
	Kind      SubscriptionKind
	TeamID    int64 // 0 = of a person
	Team      string
	User      users.ID // 0 = of a team
	UserName  string
	Role      string // of shifts
	Name      string
	Host      string // "" = the holidays are of a country
	Country   string // code of the country whose holidays these are; "" = the calendar has a URL
	WholeDays bool   // only events of whole days make the person unavailable
	CreatedBy string
	CreatedAt time.Time
	// ReadAt is the last successful reading; zero = none yet. NextAt is the next reading.
	ReadAt, NextAt time.Time
	Failures       int      // since the last success
	Problem        string   // why the last reading failed
	Events         int      // that the last successful reading used
	LeftOut        []string // events that it did not use, and why
}

// Limits of subscriptions.
const (
	MaxSubscriptions = 20 // of a team or a person
	maxURL           = 2000
	maxName          = 100
	// MaxCalendar is the largest calendar that is read, in bytes.
	MaxCalendar = 4 << 20
	// maxBusy is the largest number of unavailabilities from one calendar.
	maxBusy = 500
	// ReadAhead is how far ahead events are read.
	ReadAhead = 366 * 24 * time.Hour
	// maxLeftOut bounds the events that are listed as left out.
	maxLeftOut = 20
)

// CalendarURL checks the address of a calendar and returns it with its host. webcal means https. With private, http is
// allowed too.
func CalendarURL(text string, private bool) (address, host string, err error) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || len(text) > maxURL:
		return "", "", fault.Invalidf("url",
			"give the address of an iCalendar, such as https://calendar.example.com/team.ics, with at most %d characters", maxURL)
	case u.User != nil:
		return "", "", fault.Invalidf("url",
			"the address may not have a user name or password: use a private address of the calendar")
	case u.Scheme == "webcal" || u.Scheme == "webcals":
		u.Scheme = "https"
	case u.Scheme == "http" && !private, u.Scheme != "http" && u.Scheme != "https":
		return "", "", fault.Invalidf("url", "the address must begin with https:// or webcal://")
	}
	u.Fragment = ""
	return u.String(), u.Host, nil
}

// CalendarTitle checks the name of a subscription; "" becomes its host.
func CalendarTitle(name, host string) (string, error) {
	name = strings.TrimSpace(name)
	if len([]rune(name)) > maxName {
		return "", fault.Invalidf("name", "a name has at most %d characters", maxName)
	}
	if name == "" {
		name = host
	}
	return name, nil
}

// ReadBusy returns the times between from and until in which the events of an iCalendar text take place. Overlapping
// events become one time. Cancelled events and those that are marked as free do not count. zone applies to times
// without a time zone. With wholeDays, only events of whole days count.
func ReadBusy(raw []byte, zone *time.Location, from, until time.Time, wholeDays bool) ([]oncall.Span, []string, error) {
	read, err := ical.Read(raw, zone, from, until)
	if err != nil {
		return nil, nil, err
	}
	var out []oncall.Span
	for _, e := range read.Events { // by start
		if e.Free || wholeDays && !e.WholeDays {
			continue
		}
		if last := len(out) - 1; last >= 0 && !out[last].End.Before(e.Start) {
			if e.End.After(out[last].End) {
				out[last].End = e.End
			}
			continue
		}
		out = append(out, oncall.Span{Start: e.Start, End: e.End})
	}
	if len(out) > maxBusy {
		return nil, nil, fault.Invalidf("body",
			"the calendar has more than %d busy times within a year: count only all-day events, or subscribe to a calendar that has only absences", maxBusy)
	}
	return out, LeftOut(problems(read.Problems)), nil
}

// LeftOut formats events that were not used.
func LeftOut(unmatched []UnmatchedEvent) []string {
	out := []string{}
	for _, u := range unmatched {
		if len(out) == maxLeftOut {
			break
		}
		name := u.Summary
		if name == "" {
			name = u.UID
		}
		out = append(out, humanize.Shorten(name, 200)+": "+humanize.Shorten(u.Why, 200))
	}
	return out
}

const (
	// ReadEvery is the time from one reading of a calendar to the next one.
	ReadEvery  = time.Hour
	firstRetry = 5 * time.Minute
	lastRetry  = 6 * time.Hour
)

// ReadRetry returns the pause after a number of failures in a row.
func ReadRetry(failures int) time.Duration {
	return min(lastRetry, firstRetry<<min(max(failures-1, 0), 10))
}
