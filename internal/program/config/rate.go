package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Rate is a number of calls per second, written as "10/s", "600/min" or "1000/h".
type Rate float64

// ParseRate parses a rate. It must be above zero; to stop sending, pause the mode.
func ParseRate(text string) (Rate, error) {
	number, unit, ok := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return 0, fmt.Errorf("%q is not a rate; write it like 10/s, 600/min or 1000/h", text)
	}
	if !(n > 0 && n <= 1e6) {
		return 0, fmt.Errorf("rate %q must be more than 0 and at most 1000000", text)
	}
	switch unit {
	case "s", "sec", "second":
		return Rate(n), nil
	case "m", "min", "minute":
		return Rate(n / 60), nil
	case "h", "hour":
		return Rate(n / 3600), nil
	}
	return 0, fmt.Errorf("rate %q has an unknown unit; use s, min or h", text)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Rate) UnmarshalText(text []byte) error {
	v, err := ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = v
	return nil
}
