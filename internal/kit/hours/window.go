package hours

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Window is a part of each week, in civil time.
type Window struct {
	Days []string `json:"days,omitempty"` // mon, tue, wed, thu, fri, sat, sun; empty = every day
	From string   `json:"from,omitempty"` // 15:04; "" = 00:00
	To   string   `json:"to,omitempty"`   // 15:04, not included; "" = 24:00. A window with To before From lasts until the next day.
	Zone string   `json:"zone,omitempty"` // an IANA zone; "" = UTC
}

// InAny reports whether an instant is in one of the windows. Windows that Check refuses hold never.
func InAny(windows []Window, at time.Time) bool {
	return slices.ContainsFunc(windows, func(w Window) bool { return w.holds(at) })
}

var days = [...]string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

const wholeDay = 24 * 60 // minutes

// String describes the window: "mon, tue 18:00 to 08:00 Europe/Berlin".
func (w Window) String() string {
	on := "every day"
	if len(w.Days) > 0 {
		on = strings.Join(w.Days, ", ")
	}
	return fmt.Sprintf("%s %s to %s %s", on, cmp.Or(w.From, "00:00"), cmp.Or(w.To, "24:00"), cmp.Or(w.Zone, "UTC"))
}

// Check returns an Invalid fault if a field is wrong.
func (w Window) Check() error {
	for _, d := range w.Days {
		if !slices.Contains(days[:], strings.ToLower(d)) {
			return fault.Invalidf("days", "%.20q is no day: use mon, tue, wed, thu, fri, sat or sun", d)
		}
	}
	for _, at := range []string{w.From, w.To} {
		if _, ok := minutes(at, 0); !ok {
			return fault.Invalidf("from", "%.20q is no time of day: use 00:00 to 24:00", at)
		}
	}
	if _, err := time.LoadLocation(w.Zone); err != nil {
		return fault.Invalidf("zone", "%.60q is no time zone", w.Zone)
	}
	return nil
}

// holds reports whether an instant is in the window. The hours after midnight of a window that lasts until the next day
// belong to the day on which it begins.
func (w Window) holds(at time.Time) bool {
	zone, err := time.LoadLocation(w.Zone)
	if err != nil {
		return false
	}
	at = at.In(zone)
	from, _ := minutes(w.From, 0)
	to, _ := minutes(w.To, wholeDay)
	now := at.Hour()*60 + at.Minute()
	if from < to {
		return w.on(at.Weekday()) && now >= from && now < to
	}
	return now >= from && w.on(at.Weekday()) || now < to && w.on((at.Weekday()+6)%7)
}

func (w Window) on(d time.Weekday) bool {
	return len(w.Days) == 0 || slices.ContainsFunc(w.Days, func(s string) bool { return strings.ToLower(s) == days[d] })
}

// minutes returns the minutes since midnight; absent for "".
func minutes(s string, absent int) (int, bool) {
	if s == "" {
		return absent, true
	}
	if s == "24:00" {
		return wholeDay, true
	}
	t, err := time.Parse("15:04", s)
	return t.Hour()*60 + t.Minute(), err == nil
}
