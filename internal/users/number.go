package users

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Region is the country of phone numbers without a country code, in two capital letters: CH. "" = none, such numbers
// are refused.
type Region string

// Known reports whether numbers of the region can be read.
func (r Region) Known() bool { return phonenumbers.GetSupportedRegions()[string(r)] }

// e164 matches phone numbers as they are stored and dialled.
var e164 = regexp.MustCompile(`^\+[1-9][0-9]{7,14}$`)

// IsE164 reports whether a phone number is in international form, as it is stored and dialled: +15551234567.
func IsE164(number string) bool { return e164.MatchString(number) }

// Number returns a phone number in international form. It reads what people write: spaces, signs between digits, 00 for
// +, and a national prefix in brackets. An Invalid fault says what to do. It is the only place that reads numbers:
// vendors dial what is stored.
func (r Region) Number(text string) (string, error) {
	text = strings.TrimSpace(text)
	if number, ok := parsed(text, string(r)); ok {
		return number, nil
	}
	after, double := strings.CutPrefix(text, "00") // in regions with another international prefix, or without a region
	if double {
		if number, ok := parsed("+"+after, ""); ok {
			return number, nil
		}
	}
	if r == "" && !double && !strings.HasPrefix(text, "+") && strings.ContainsAny(text, "0123456789") {
		return "", fault.Invalidf("number",
			"the phone number has no country code: write it like +15551234567, or set phone_region (IRIS_PHONE_REGION) to the country of such numbers")
	}
	return "", fault.Invalidf("number", "the phone number is not possible: write it with its country code, like +15551234567, and without an extension")
}

// parsed returns a number in international form; false if it is not possible.
func parsed(text, region string) (string, bool) {
	if len(text) > maxDestination || strings.ContainsFunc(strings.TrimPrefix(text, "tel:"), func(c rune) bool { return unicode.IsLetter(c) || unicode.IsControl(c) }) {
		return "", false
	}
	n, err := phonenumbers.Parse(text, region)
	if err != nil || phonenumbers.IsPossibleNumberWithReason(n) != phonenumbers.IS_POSSIBLE || n.GetExtension() != "" {
		return "", false
	}
	number := phonenumbers.Format(n, phonenumbers.E164)
	return number, IsE164(number)
}

// Contact returns a destination of a mode as it is stored: phone numbers in international form, others without spaces
// around them. An Invalid fault says why the destination cannot be one of the mode.
func (r Region) Contact(mode Mode, destination string) (string, error) {
	destination = strings.TrimSpace(destination)
	if mode == SMS || mode == Call {
		number, err := r.Number(destination)
		if err != nil {
			return "", fault.Invalidf(string(mode), "the %s contact %.100q cannot be used: %s", mode, destination,
				fault.Public(err))
		}
		return number, nil
	}
	return destination, CheckContact(mode, destination)
}
