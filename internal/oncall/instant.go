package oncall

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// daysAhead matches days or weeks from now, at the same clock time.
var daysAhead = regexp.MustCompile(`^\+([0-9]{1,4})([dw])$`)

// PassOn returns a text that a process with the clock of the database reads, in any zone, as the instant that
// ParseInstant would return there for zone. What counts from now stays relative; days of zone become hours. now decides
// only whether the clocks of zone change on the way.
func PassOn(text string, zone *time.Location, now time.Time) (string, error) {
	text = strings.TrimSpace(text)
	at, err := ParseInstant(text, zone, now)
	switch {
	case err != nil:
		return "", err
	case daysAhead.MatchString(text):
		return "+" + at.Sub(now.Truncate(time.Second)).String(), nil
	case text == "", strings.EqualFold(text, "now"), strings.HasPrefix(text, "+"):
		return text, nil
	}
	return at.UTC().Format(time.RFC3339), nil
}

// ParseInstant parses an instant: "" or "now"; "+90m", "+3d" or "+2w" from now; "2026-11-22T02:00:00+01:00"; or a wall
// clock of zone, "2026-11-22 02:00", "2026-11-22T02:00:00" or "2026-11-22" for its midnight. Anything else, and a wall
// clock that zone skips, is an Invalid fault of the field "at".
func ParseInstant(text string, zone *time.Location, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "", strings.EqualFold(text, "now"):
		return now.Truncate(time.Second), nil
	case strings.HasPrefix(text, "+"):
		if d, err := time.ParseDuration(text[1:]); err == nil && d >= 0 {
			return now.Add(d).Truncate(time.Second), nil
		}
		if m := daysAhead.FindStringSubmatch(text); m != nil {
			n, err := strconv.Atoi(m[1])
			if m[2] == "w" {
				n *= 7
			}
			return (LocalOf(now.In(zone)) + Local(n*24*3600)).In(zone), err
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && sane(t) {
		return t.Truncate(time.Second), nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil && sane(t) {
			at := LocalOf(t).In(zone)
			if LocalOf(at) == LocalOf(t) {
				return at, nil
			}
			if layout != time.DateOnly {
				return time.Time{}, fault.Invalidf("at",
					"the clocks of %s skip %s: that instant would be %s; say that, or another time",
					zone, text, at.Format("2006-01-02 15:04"))
			}
			_, skipped := at.ZoneBounds() // the zone skips midnight: the day begins after the skip
			return skipped, nil
		}
	}
	return time.Time{}, fault.Invalidf("at",
		"%.60q is no instant: say now, +2h, +3d, 2026-11-22 02:00 or 2026-11-22T02:00:00+01:00", text)
}

// sane reports whether the year of an instant is plausible.
func sane(t time.Time) bool { return t.Year() >= 1970 && t.Year() < 2300 }
