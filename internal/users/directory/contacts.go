package directory

import (
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// How the name in Slack is derived if the directory does not have it.
const (
	SlackByName  = "name"  // the local part of the e-mail address
	SlackByEmail = "email" // the e-mail address
	SlackNone    = "none"
)

// Rules define how an entry becomes a person of Iris.
type Rules struct {
	// Region is the country of phone numbers without a country code.
	Region users.Region
	// Slack is SlackByName, SlackByEmail or SlackNone.
	Slack string
	// PhotoURL is the address of photos; {name} is replaced by the log-in name. "" = the address in the directory.
	PhotoURL string
	// Synced: people are synchronised with this directory, so a log-in refuses a person whose identity is in doubt.
	Synced bool
}

// maxName is the longest name in bytes.
const maxName = 255

// CheckName returns an Invalid fault for a name that cannot be a log-in name.
func CheckName(name string) error {
	switch {
	case name == "":
		return fault.Invalidf("name", "the entry has no log-in name")
	case len(name) > maxName:
		return fault.Invalidf("name", "the name is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || r == '/' || r == unicode.ReplacementChar
	}):
		return fault.Invalidf("name", "the name must not have spaces, slashes or control characters")
	}
	return nil
}

// contacts returns the contacts of a person in the directory. Modes with an unreadable value are in unclear: their
// contacts in Iris stay. For an invalid e-mail address it returns an Invalid fault.
func (r Rules) contacts(e Entry) (known map[users.Mode]string, unclear []users.Mode, err error) {
	known = map[users.Mode]string{}
	if email := strings.TrimSpace(e.Email); email != "" {
		if users.CheckContact(users.Email, email) != nil {
			return nil, nil, fault.Invalidf("mail", "the e-mail address of the entry is not valid")
		}
		known[users.Email] = email
	}
	if phone := strings.TrimSpace(e.Phone); phone != "" {
		if number, err := r.Region.Number(phone); err == nil {
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
