package ical

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	ics "github.com/arran4/golang-ical"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	product = "-//Oncall//Oncall calendar feed//EN"
	// refreshInterval is how often calendar programs should read a feed (RFC 7986).
	refreshInterval = "PT1H"
)

// Feed is a calendar to write.
type Feed struct {
	Name   string // of the person or team
	Shifts []oncall.FeedShift
	// Contacts of the people on the shifts; nil = the feed shows none.
	Contacts map[users.ID]map[users.Mode]string
}

// UID identifies a shift in calendars.
func UID(s oncall.FeedShift) string { return fmt.Sprintf("event-%d@oncall", s.Feed) }

// Text returns the feed. The same data gives the same bytes.
func (f Feed) Text() string {
	c := ics.NewCalendarFor("Oncall")
	c.SetProductId(product)
	c.SetCalscale("GREGORIAN")
	c.SetXWRCalName(clean(f.Name) + " Oncall Calendar")
	c.SetRefreshInterval(refreshInterval)
	for _, s := range f.Shifts {
		f.add(c.AddEvent(UID(s)), s)
	}
	return c.Serialize(ics.WithNewLineWindows)
}

// ETag returns a strong entity tag of a text.
func ETag(text string) string {
	sum := sha256.Sum256([]byte(text))
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

func (f Feed) add(e *ics.VEvent, s oncall.FeedShift) {
	name, contacts := s.FullName, f.Contacts[s.User]
	if name == "" || f.Contacts != nil && len(contacts) == 0 {
		name = s.UserName
	}
	name = clean(name)
	e.SetDtStampTime(s.Changed)
	e.SetModifiedAt(s.Changed)
	e.SetSequence(s.Sequence)
	e.SetStartAt(s.Start)
	e.SetEndAt(s.End)
	e.SetSummary(clean(s.Team) + " " + clean(s.Role) + " shift: " + name)
	description := name
	for _, mode := range slices.Sorted(maps.Keys(contacts)) {
		description += "\n" + string(mode) + ": " + clean(contacts[mode])
	}
	if len(contacts) == 0 {
		description += "\n"
	}
	e.SetDescription(description)
	e.SetTimeTransparency(ics.TransparencyTransparent)
	status := ics.ObjectStatusConfirmed
	if s.Cancelled {
		status = ics.ObjectStatusCancelled
	}
	e.SetStatus(status)
	if mail := address(contacts[users.Email]); mail != "" {
		e.AddProperty(ics.ComponentPropertyAttendee, "MAILTO:"+mail, ics.WithCN(parameter(name)),
			&ics.KeyValues{Key: string(ics.ParameterRole), Value: []string{string(ics.ParticipationRoleReqParticipant)}})
	}
}

// clean removes line breaks and other control characters, which are invalid in a line.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// parameter makes the value of a parameter, which has no escapes: characters that could end it become a space or a
// typographic sign.
func parameter(s string) string {
	return strings.TrimSpace(strings.NewReplacer(`"`, " ", ",", " ", ";", " ", ":", " ", `\`, " ", "'",
		"\u2019").Replace(s))
}

// address makes a mail address that cannot end its line.
func address(s string) string { return strings.ReplaceAll(clean(s), " ", "") }
