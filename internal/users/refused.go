package users

import "strings"

// DefaultRefusedNumbers are numbers to which nothing is sent unless the operator allows it: emergency numbers, and
// prefixes (with +) of premium and satellite numbers. A stolen session could spend the installation's money on those.
func DefaultRefusedNumbers() []string {
	return []string{
		"000", "110", "111", "112", "117", "118", "119", "911", "999",
		"+1900", "+31900", "+31906", "+31909", "+3290", "+33899", "+34803", "+34806", "+34807", "+39899", "+41900", "+41901", "+41906",
		"+43900", "+43930", "+4490", "+4491", "+4498", "+49900", "+61190", "+870", "+881", "+882", "+883", "+979",
	}
}

// RefusedNumber reports whether a phone number is one of the refused numbers or begins with a refused prefix. Prefixes
// have a +.
func RefusedNumber(number string, refused []string) bool {
	international := strings.HasPrefix(strings.TrimSpace(number), "+")
	digits := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, number)
	whole := digits
	if after, ok := strings.CutPrefix(digits, "00"); ok && !international && len(digits) > 5 {
		international, digits = true, after
	}
	if !international && len(digits) == 10 { // of the United States
		international, digits = true, "1"+digits
	}
	for _, r := range refused {
		prefix, isPrefix := strings.CutPrefix(r, "+")
		// Vendors also take a number with its country code and without a plus.
		if isPrefix && strings.HasPrefix(digits, prefix) && (international || len(digits) > 10) || !isPrefix && whole == r {
			return true
		}
	}
	return false
}
