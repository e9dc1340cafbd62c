package ical

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	ics "github.com/arran4/golang-ical"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Bounds of the structure of a text.
const (
	maxDepth    = 10 // components within each other
	maxReported = 10 // lines that cannot be read; further ones are counted
)

// component is a part of a text from BEGIN to END: a calendar, an event, a zone.
type component struct {
	ics.ComponentBase
	kind  string // such as VEVENT
	parts []*component
	// broken is the line without which the times of the component would be wrong, and why it cannot be read; "" =
	// there is none.
	broken string
}

// decisive are the properties without which a component would have other times or people, or would not be cancelled.
var decisive = []string{
	"DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID", "STATUS", "ATTENDEE",
}

// parser parses a text.
type parser struct {
	calendars []*component
	open      []*component // that have no END yet
	problems  []Problem
	reported  int
}

// parse returns the calendars of a text. A line that cannot be read, or is outside of the calendars, is left out and
// becomes a Problem. An Invalid fault is a text without a calendar, in which BEGIN and END do not match, for example
// because a server sent only a part of it, or in which a UID cannot be read: the events that are missing must not count
// as removed.
func parse(raw []byte) ([]*component, []Problem, error) {
	p := parser{}
	for number, line := range contentLines(raw) {
		if err := p.line(number, line); err != nil {
			return nil, nil, err
		}
	}
	if len(p.open) > 0 || len(p.calendars) == 0 {
		if len(p.open) == 0 && len(p.problems) > 0 {
			return nil, nil, unreadable(p.problems[0].Summary, p.problems[0].Why)
		}
		return nil, nil, fault.Invalidf("body", "the text is not a readable iCalendar: "+
			"it does not end in END:VCALENDAR; send the text of an .ics file, from BEGIN:VCALENDAR to END:VCALENDAR")
	}
	if more := p.reported - maxReported; more > 0 {
		p.problems = append(p.problems, Problem{Summary: fmt.Sprintf("%d more lines", more), Why: "they cannot be read"})
	}
	return p.calendars, p.problems, nil
}

// unreadable returns the fault for a text of which a line breaks the structure.
func unreadable(line, why string) error {
	return fault.Invalidf("body",
		"%s of the iCalendar cannot be read: %s; correct or remove it, or export the calendar again", line, why)
}

func lineName(number int) string { return fmt.Sprintf("line %d", number) }

// contentLines returns the lines of a text without their folds, each with the number of its first line, from 1. It
// leaves out empty ones.
func contentLines(raw []byte) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		var line bytes.Buffer
		number, first := 0, 0
		for one := range bytes.Lines(raw) {
			number++
			one = bytes.TrimSuffix(bytes.TrimSuffix(one, []byte("\n")), []byte("\r"))
			if len(one) > 0 && (one[0] == ' ' || one[0] == '\t') && line.Len() > 0 {
				line.Write(one[1:])
				continue
			}
			if strings.TrimSpace(line.String()) != "" && !yield(first, line.String()) {
				return
			}
			line.Reset()
			line.Write(one)
			first = number
		}
		if strings.TrimSpace(line.String()) != "" {
			yield(first, line.String())
		}
	}
}

// line adds a line to the component that is open.
func (p *parser) line(number int, text string) error {
	property, err := ics.ParseProperty(ics.ContentLine(text))
	if address := strings.LastIndex(strings.ToLower(text), "mailto:"); err != nil && strings.HasPrefix(text, "ATTENDEE;") && address > 0 {
		// Some programs write quotes in a name: the address counts.
		property, err = ics.ParseProperty(ics.ContentLine("ATTENDEE:" + text[address:]))
	}
	switch {
	case err != nil:
		return p.leaveOut(number, text, humanize.Shorten(err.Error(), 100))
	case property == nil:
		return p.leaveOut(number, text, fmt.Sprintf("%.60q is no property like NAME:value", text))
	}
	property.IANAToken = strings.ToUpper(property.IANAToken)
	for name, values := range maps.Clone(property.ICalParameters) {
		delete(property.ICalParameters, name)
		property.ICalParameters[strings.ToUpper(name)] = values
	}
	kind := strings.ToUpper(strings.TrimSpace(property.Value))
	switch {
	case property.IANAToken == "BEGIN":
		return p.begin(number, kind)
	case property.IANAToken == "END":
		return p.end(number, kind)
	case len(p.open) == 0:
		return p.leaveOut(number, text, fmt.Sprintf("%.60q is outside of the calendar", text))
	default:
		c := p.open[len(p.open)-1]
		c.Properties = append(c.Properties, ics.IANAProperty{BaseProperty: *property})
	}
	return nil
}

func (p *parser) begin(number int, kind string) error {
	c := &component{kind: kind}
	switch {
	case (kind == "VCALENDAR") != (len(p.open) == 0):
		return unreadable(lineName(number), fmt.Sprintf("BEGIN:%.60s is in the wrong place", kind))
	case len(p.open) == maxDepth:
		return unreadable(lineName(number), fmt.Sprintf("more than %d parts are within each other", maxDepth))
	case len(p.open) == 0:
		p.calendars = append(p.calendars, c)
	default:
		in := p.open[len(p.open)-1]
		in.parts = append(in.parts, c)
	}
	p.open = append(p.open, c)
	return nil
}

func (p *parser) end(number int, kind string) error {
	last := len(p.open) - 1
	if last < 0 || p.open[last].kind != kind {
		return unreadable(lineName(number), fmt.Sprintf("END:%.60s has no BEGIN", kind))
	}
	p.open = p.open[:last]
	return nil
}

// leaveOut reports a line that is not used. An event cannot be read without some of its lines. It is a fault if the line
// is an event's UID: without it, nobody knows which event must not count as removed.
func (p *parser) leaveOut(number int, text, why string) error {
	name := text // as written: a description that was not folded may have a line "Status of the shift"
	if i := strings.IndexAny(name, ":; \t"); i >= 0 {
		name = name[:i]
	}
	c := &component{}
	if last := len(p.open) - 1; last >= 0 {
		c = p.open[last]
	}
	switch {
	case c.kind == "VEVENT" && name == "UID":
		return unreadable(lineName(number), why)
	case slices.Contains(decisive, name):
		c.broken = lineName(number) + ": " + why
		if c.kind == "VEVENT" {
			return nil // the problem of the event names the line
		}
	}
	if p.reported++; p.reported <= maxReported {
		p.problems = append(p.problems, Problem{Summary: lineName(number), Why: why})
	}
	return nil
}
