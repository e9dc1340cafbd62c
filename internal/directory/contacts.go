package directory

import (
	"strings"
	"unicode"

	"github.com/nyaruka/phonenumbers"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// How people are called in Slack when the directory does not say.
const (
	SlackByName  = "name"  // the local part of their e-mail address
	SlackByEmail = "email" // their e-mail address
	SlackNone    = "none"
)

// Rules say what an entry means for Iris.
type Rules struct {
	// Region is whose numbers are meant when a phone number has no country code, in two letters: US.
	Region string
	// Slack is SlackByName, SlackByEmail or SlackNone.
	Slack string
	// PhotoURL is where photos are; {name} stands for the log-in name. "" = as the directory says.
	PhotoURL string
	// Synced: people are kept in step with this directory, so a log-in need not decide who somebody is when that is in doubt.
	Synced bool
}

// maxName is the longest name in bytes.
const maxName = 255

// CheckName returns an Invalid fault for a name that nobody can log in with.
func CheckName(name string) error {
	switch {
	case name == "":
		return fault.Invalidf("name", "the entry has no name to log in with")
	case len(name) > maxName:
		return fault.Invalidf("name", "the name is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == unicode.ReplacementChar
	}):
		return fault.Invalidf("name", "the name holds spaces, slashes or characters that cannot be used")
	}
	return nil
}

// contacts returns where a person is reached according to the directory. Modes whose value cannot be understood are in
// unclear instead: what is known of them stays as it is. An e-mail address that is none is an Invalid fault.
func (r Rules) contacts(e Entry) (known map[users.Mode]string, unclear []users.Mode, err error) {
	known = map[users.Mode]string{}
	if email := strings.TrimSpace(e.Email); email != "" {
		if users.CheckContact(users.Email, email) != nil {
			return nil, nil, fault.Invalidf("mail", "the entry's e-mail address is none")
		}
		known[users.Email] = email
	}
	if phone := strings.TrimSpace(e.Phone); phone != "" {
		if number, ok := E164(phone, r.Region); ok {
			known[users.Call], known[users.SMS] = number, number
		} else {
			unclear = append(unclear, users.Call, users.SMS)
		}
	}
	if name := r.slack(e); name != "" {
		if users.CheckContact(users.Slack, name) == nil {
			known[users.Slack] = name
		} else {
			unclear = append(unclear, users.Slack)
		}
	}
	return known, unclear, nil
}

func (r Rules) slack(e Entry) string {
	email := strings.TrimSpace(e.Email)
	switch {
	case e.SlackName != "":
		return strings.TrimSpace(e.SlackName)
	case r.Slack == SlackByEmail:
		return email
	case r.Slack == SlackByName:
		name, _, _ := strings.Cut(email, "@")
		return name
	}
	return ""
}

func (r Rules) photo(e Entry) string {
	if r.PhotoURL != "" {
		return strings.ReplaceAll(r.PhotoURL, "{name}", e.Name)
	}
	return e.PhotoURL
}

// E164 spells a phone number internationally: +15551234567. Numbers without a country code are the region's. It reports
// false for what can be nobody's number.
func E164(number, region string) (string, bool) {
	n, err := phonenumbers.Parse(number, region)
	if err != nil || !phonenumbers.IsPossibleNumber(n) || n.GetExtension() != "" {
		return "", false
	}
	return phonenumbers.Format(n, phonenumbers.E164), true
}

// KnownRegion reports whether numbers of the region can be understood.
func KnownRegion(region string) bool { return phonenumbers.GetSupportedRegions()[region] }
