package page

import (
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Seconds reads a typed period such as 1h 30m, 90s, 2d, or 90, which are seconds; "" = 0. field is named by the fault.
func Seconds(field, typed string) (int64, error) {
	text := strings.ReplaceAll(strings.ReplaceAll(typed, " ", ""), "min", "m")
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n >= 0 {
		return n, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseInt(days, 10, 16); err == nil && n >= 0 {
			return n * 86400, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fault.Invalidf(field, "%.40q is no period: write one such as 30s, 5m or 1h30m", typed)
	}
	return int64(d / time.Second), nil
}

// Period is the text that Seconds reads, such as 1h30m.
func Period(seconds int64) string {
	if seconds == 0 {
		return "0"
	}
	text := (time.Duration(seconds) * time.Second).String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}
