// Package humanize formats values as text for people: numbers with a noun, sentences, durations, and shortened texts.
// Any package may call it; it imports nothing of Iris.
package humanize

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Count returns a number with its noun: "1 page", "3 pages".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Sentence returns text with a capital letter and a full stop. An empty text stays empty.
func Sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:] + "."
}

// Shorten returns the first characters of text, most at most. A shortened text ends in an ellipsis.
func Shorten(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// Duration formats a duration in whole seconds: "1 h 30 min", "1 min 30 s". A duration below a second is in
// milliseconds, at least "1 ms". Zero and negative durations are "0 s".
func Duration(d time.Duration) string {
	if d > 0 && d < time.Second {
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	d = d.Round(time.Second)
	if d <= 0 {
		return "0 s"
	}
	var parts []string
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / u.unit; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.unit
		}
	}
	return strings.Join(parts, " ")
}

// Age formats how long ago something happened in one or two units: "40 s", "12 min", "3 h 5 min", "2 d". The scripts of
// the pages format it in the same way. A negative age is "0 s".
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d", int(d.Hours())/24)
	}
}
