package ical

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// Bounds of what is read: a short text can have many recurring events.
const (
	maxEvents      = 2000
	maxRecurring   = 100
	maxOccurrences = 2000
)

// Person is a person whom an event names.
type Person struct{ Name, Email string }

// Event is one occurrence of an event.
type Event struct {
	UID string
	// Occurs identifies an occurrence of an event: its start or, if it was moved, its original start.
	Occurs     time.Time
	Start, End time.Time // whole seconds, UTC
	Summary    string
	People     []Person // attendees who did not decline
	WholeDays  bool     // it has dates without times of day
	Free       bool     // the owner is available during it (TRANSP:TRANSPARENT)
}

// Problem is an event that could not be read.
type Problem struct{ UID, Summary, Why string }

// Calendar is the result of reading.
type Calendar struct {
	Events   []Event
	UIDs     []string // of all events that could be read, also those without an occurrence in the window, sorted
	Problems []Problem
}

// Read returns the occurrences of a calendar's events that overlap [from, until), by start. Times without a zone and
// whole days are in zone, unless the calendar names one (X-WR-TIMEZONE). Zones may be described in the calendar itself.
// Recurring events begin and end at the same time of day across changes of the clocks. Text that is not a calendar, or
// exceeds the bounds, is an Invalid fault of the field "body". An event that cannot be read is a Problem.
func Read(raw []byte, zone *time.Location, from, until time.Time) (Calendar, error) {
	parsed, err := Parse(raw)
	if err != nil {
		return Calendar{}, err
	}
	r := reader{zone: zone, own: ownZones(parsed), from: from, until: until, moved: map[occurrence]bool{}}
	for _, p := range parsed.CalendarProperties {
		if p.IANAToken == "X-WR-TIMEZONE" {
			if named, ok := r.named(p.Value); ok {
				r.zone = named
			}
		}
	}
	events := parsed.Events()
	if len(events) > maxEvents {
		return Calendar{}, fault.Invalidf("body", "the calendar has %d events, at most %d are read at once",
			len(events), maxEvents)
	}
	for _, e := range events {
		if p := e.GetProperty(ics.ComponentPropertyRecurrenceId); p != nil {
			if at, _, err := r.at(p); err == nil {
				r.moved[occurrence{e.Id(),
					at.In(r.siblingZone(p, e.GetProperty(ics.ComponentPropertyDtStart))).Unix()}] = true
			}
		}
	}
	for _, e := range events {
		if err := r.event(e); err != nil {
			return Calendar{}, err
		}
	}
	slices.SortStableFunc(r.out.Events, func(a, b Event) int { return a.Start.Compare(b.Start) })
	slices.Sort(r.out.UIDs)
	r.out.UIDs = slices.Compact(r.out.UIDs)
	return r.out, nil
}

// Parse parses a calendar. A text that ends before END:VCALENDAR is an Invalid fault, as is any other text that is not
// a calendar: a server may send an empty answer or a part of one, and the events that are missing must not count as
// removed.
func Parse(raw []byte) (*ics.Calendar, error) {
	parsed, err := ics.ParseCalendar(bytes.NewReader(raw))
	if err == nil && !bytes.HasSuffix(bytes.TrimSpace(raw), []byte("END:VCALENDAR")) {
		err = errors.New("it does not end in END:VCALENDAR")
	}
	if err != nil {
		return nil, unreadable(raw, err)
	}
	return parsed, nil
}

// occurrence identifies an occurrence of a recurring event by its original start, in Unix seconds.
type occurrence struct {
	uid string
	at  int64
}

// unreadable returns the fault for a text that is not a calendar: the line, what is wrong, and what to do.
func unreadable(raw []byte, err error) error {
	const do = "send the text of an .ics file, from BEGIN:VCALENDAR to END:VCALENDAR"
	if line, why := badLine(raw); why != nil {
		return fault.Invalidf("body", "line %d of the iCalendar cannot be read: %v; correct or remove it, or export the calendar again", line, why)
	}
	return fault.Invalidf("body", "the text is not a readable iCalendar: %v; %s", err, do)
}

// badLine finds the first line that is not a property. It returns the line's number from 1, and what is wrong.
func badLine(raw []byte) (int, error) {
	lines := strings.Split(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); {
		first, whole := i+1, lines[i]
		for i++; i < len(lines) && (strings.HasPrefix(lines[i], " ") || strings.HasPrefix(lines[i], "\t")); i++ {
			whole += lines[i][1:]
		}
		if strings.TrimSpace(whole) == "" {
			continue
		}
		if p, err := ics.ParseProperty(ics.ContentLine(whole)); err != nil {
			return first, err
		} else if p == nil {
			return first, fault.Invalidf("body", "%.60q is no property like NAME:value", whole)
		}
	}
	return 0, nil
}

type reader struct {
	zone        *time.Location
	own         map[string]*time.Location // zones that the calendar describes itself
	from, until time.Time
	moved       map[occurrence]bool
	recurring   int
	out         Calendar
}

// event adds the occurrences of e.
func (r *reader) event(e *ics.VEvent) error {
	uid, summary := e.Id(), value(e, ics.ComponentPropertySummary)
	wrong := func(why string) error {
		r.out.Problems = append(r.out.Problems, Problem{uid, summary, why})
		return nil
	}
	if uid == "" {
		return wrong("it has no UID")
	}
	begin := e.GetProperty(ics.ComponentPropertyDtStart)
	start, days, err := r.at(begin)
	if err != nil {
		return wrong("DTSTART: " + err.Error())
	}
	zone := r.zoneOf(begin)
	length, end, err := r.length(e, start, days, zone)
	if err != nil {
		return wrong(err.Error())
	}
	r.out.UIDs = append(r.out.UIDs, uid)
	if value(e, ics.ComponentPropertyStatus) == string(ics.ObjectStatusCancelled) {
		return nil
	}
	event := Event{UID: uid, Summary: summary, People: people(e), WholeDays: days,
		Free: value(e, ics.ComponentPropertyTransp) == "TRANSPARENT"}
	if p := e.GetProperty(ics.ComponentPropertyRecurrenceId); p != nil {
		at, _, err := r.at(p)
		if err != nil {
			return wrong("RECURRENCE-ID: " + err.Error())
		}
		if _, ranged := p.ICalParameters["RANGE"]; ranged {
			return wrong("RECURRENCE-ID: changes of all following occurrences at once cannot be read")
		}
		return r.add(event, at.In(r.siblingZone(p, begin)), start.In(zone), end)
	}
	spans := []oncall.Span{{Start: start.In(zone), End: end}}
	if rule := e.GetProperty(ics.ComponentPropertyRrule); rule != nil {
		if r.recurring++; r.recurring > maxRecurring {
			return fault.Invalidf("body", "the calendar has more than %d recurring events", maxRecurring)
		}
		absences, err := (scheduling.Recurring{Zone: zone, Start: start, Length: length,
			Rule: rule.Value}).Between(r.from, r.until)
		if err != nil {
			return wrong(fault.Public(err))
		}
		spans = spans[:0]
		for _, a := range absences {
			spans = append(spans, oncall.Span{Start: a.Start, End: a.End})
		}
	}
	if e.GetProperty(ics.ComponentPropertyExrule) != nil {
		return wrong("EXRULE: exceptions by a rule cannot be read; list them with EXDATE")
	}
	more, err := r.listed(e, ics.ComponentPropertyRdate, begin)
	if err != nil {
		return wrong("RDATE: " + err.Error())
	}
	for _, at := range more {
		spans = append(spans, oncall.Span{Start: at.in(zone),
			End: (at.Local + oncall.Local(length/time.Second)).In(zone)})
	}
	left, err := r.listed(e, ics.ComponentPropertyExdate, begin)
	if err != nil {
		return wrong("EXDATE: " + err.Error())
	}
	slices.SortStableFunc(spans, func(a, b oncall.Span) int { return a.Start.Compare(b.Start) })
	spans = slices.CompactFunc(spans, func(a, b oncall.Span) bool { return a.Start.Equal(b.Start) })
	for _, s := range spans {
		out := slices.ContainsFunc(left, func(l listedTime) bool { return l.means(s.Start, zone) })
		if out || r.moved[occurrence{uid, s.Start.Unix()}] {
			continue
		}
		if err := r.add(event, s.Start, s.Start, s.End); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) add(e Event, occurs, start, end time.Time) error {
	if !start.Before(r.until) || !r.from.Before(end) {
		return nil
	}
	if len(r.out.Events) == maxOccurrences {
		return fault.Invalidf("body", "the calendar has more than %d occurrences in that time", maxOccurrences)
	}
	e.Occurs, e.Start, e.End = occurs.UTC(), start.UTC(), end.UTC()
	r.out.Events = append(r.out.Events, e)
	return nil
}

// length returns how long an event lasts on the clock of its zone, and when its first occurrence ends.
func (r *reader) length(e *ics.VEvent, start oncall.Local, days bool, zone *time.Location) (time.Duration, time.Time, error) {
	begin := start.In(zone)
	end := begin
	switch p, d := e.GetProperty(ics.ComponentPropertyDtEnd), e.GetProperty(ics.ComponentPropertyDuration); {
	case p != nil:
		local, _, err := r.at(p)
		if err != nil {
			return 0, end, fault.Invalidf("body", "DTEND: %v", err)
		}
		end = local.In(r.zoneOf(p))
	case d != nil:
		nominal, exact, err := duration(d.Value)
		if err != nil {
			return 0, end, err
		}
		end = (start + oncall.Local(nominal/time.Second)).In(zone).Add(exact)
	case days:
		end = (start + oncall.Local(24*60*60)).In(zone)
	}
	if !begin.Before(end) {
		return 0, end, fault.Invalidf("body", "it must end after it begins")
	}
	return time.Duration(oncall.LocalIn(end, zone)-start) * time.Second, end, nil
}

// listedTime is an entry of EXDATE or RDATE.
type listedTime struct {
	oncall.Local
	zone *time.Location
	day  bool // a whole day
}

// in returns the instant; a whole day begins in the event's zone.
func (l listedTime) in(zone *time.Location) time.Time {
	if l.day {
		return l.Local.In(zone)
	}
	return l.Local.In(l.zone)
}

// means reports whether the entry applies to an occurrence that begins at t. A whole day applies to every occurrence
// that begins on it.
func (l listedTime) means(t time.Time, zone *time.Location) bool {
	if l.day {
		return oncall.LocalIn(t, zone).Date() == l.Date()
	}
	return l.Local.In(l.zone).Equal(t)
}

// maxListed bounds the entries of an event, because each occurrence is compared with each entry.
const maxListed = 1000

// listed returns the entries of EXDATE or RDATE.
func (r *reader) listed(e *ics.VEvent, name ics.ComponentProperty, begin *ics.IANAProperty) ([]listedTime, error) {
	var out []listedTime
	for _, p := range e.GetProperties(name) {
		if parameterOf(p, "VALUE") == "PERIOD" || strings.Contains(p.Value, "/") {
			return nil, fault.Invalidf("body", "periods are not supported: list the beginnings, or separate events")
		}
		for _, one := range strings.Split(p.Value, ",") {
			each := *p
			each.Value = one
			at, day, err := r.at(&each)
			if err != nil {
				return nil, err
			}
			if out = append(out, listedTime{at, r.siblingZone(&each, begin), day}); len(out) > maxListed {
				return nil, fault.Invalidf("body", "there are more than %d; export less of the calendar", maxListed)
			}
		}
	}
	return out, nil
}

// at parses a time as it is written, without its zone (see zoneOf). days reports whether it is a whole day.
func (r *reader) at(p *ics.IANAProperty) (at oncall.Local, days bool, err error) {
	if p == nil {
		return 0, false, fault.Invalidf("body", "it is missing")
	}
	if id := p.ICalParameters["TZID"]; len(id) > 0 {
		if _, ok := r.named(id[0]); !ok {
			return 0, false, fault.Invalidf("body",
				"the time zone %.100q is not one of the IANA database, and the calendar has no VTIMEZONE that describes it", id[0])
		}
	}
	text := strings.TrimSuffix(strings.TrimSpace(p.Value), "Z")
	t, err := time.Parse("20060102T150405", text)
	if err != nil {
		if t, err = time.Parse("20060102", text); err != nil {
			return 0, false, fault.Invalidf("body", "%.100q is not a time", p.Value)
		}
		days = true
	}
	if t.Year() < 1970 || t.Year() > 2200 {
		return 0, false, fault.Invalidf("body", "the year of %.100q is out of range", p.Value)
	}
	return oncall.LocalOf(t), days, nil
}

// zoneOf is the zone of a time that at could parse.
func (r *reader) zoneOf(p *ics.IANAProperty) *time.Location {
	if strings.HasSuffix(strings.TrimSpace(p.Value), "Z") {
		return time.UTC
	}
	if id := p.ICalParameters["TZID"]; len(id) > 0 {
		if zone, ok := r.named(id[0]); ok {
			return zone
		}
	}
	return r.zone
}

// siblingZone is zoneOf p. If p names no zone, it uses the zone of begin, the DTSTART of the same event, unless that is
// UTC: some programs name the zone only there.
func (r *reader) siblingZone(p, begin *ics.IANAProperty) *time.Location {
	if begin == nil || len(p.ICalParameters["TZID"]) > 0 || strings.HasSuffix(strings.TrimSpace(p.Value), "Z") {
		return r.zoneOf(p)
	}
	if strings.HasSuffix(strings.TrimSpace(begin.Value), "Z") {
		return r.zone
	}
	return r.zoneOf(begin)
}

// named finds a zone: in the IANA database, in the calendar, or by the end of a longer name.
func (r *reader) named(name string) (*time.Location, bool) {
	if zone := exactZone(name); zone != nil {
		return zone, true
	}
	if zone := r.own[name]; zone != nil {
		return zone, true
	}
	parts := strings.Split(strings.Trim(strings.TrimSpace(name), `"/`), "/") // some programs add a path before the name
	for i := range parts {
		if zone := exactZone(strings.Join(parts[i:], "/")); zone != nil {
			return zone, true
		}
	}
	return nil, false
}

// exactZone finds a zone of the IANA database by its whole name; nil = there is none.
func exactZone(name string) *time.Location {
	if name == "" || name == "Local" {
		return nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil
	}
	return zone
}

var durationText = regexp.MustCompile(`^\+?P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// duration parses a duration of RFC 5545: weeks and days on the calendar, the rest on the clock.
func duration(text string) (nominal, exact time.Duration, err error) {
	const day = 24 * time.Hour
	units := []struct {
		most int // of this unit
		of   time.Duration
		to   *time.Duration
	}{
		{100, 7 * day, &nominal}, {1000, day, &nominal},
		{24 * 1000, time.Hour, &exact}, {24 * 60 * 1000, time.Minute, &exact}, {400 * 24 * 60 * 60, time.Second,
			&exact},
	}
	m := durationText.FindStringSubmatch(text)
	bad := strings.TrimPrefix(text, "+") == "P" || m == nil
	for i, u := range units {
		if !bad && m[i+1] != "" {
			n, err := strconv.Atoi(m[i+1])
			bad = err != nil || n > u.most
			*u.to += time.Duration(n) * u.of
		}
	}
	if bad {
		return 0, 0, fault.Invalidf("body", "DURATION: %.100q is not a duration", text)
	}
	return nominal, exact, nil
}

func value(e *ics.VEvent, name ics.ComponentProperty) string {
	if p := e.GetProperty(name); p != nil {
		return clean(ics.FromText(p.Value))
	}
	return ""
}

// people returns the attendees who are people and did not decline.
func people(e *ics.VEvent) []Person {
	var out []Person
	for _, p := range e.GetProperties(ics.ComponentPropertyAttendee) {
		kind, answer := parameterOf(p, "CUTYPE"), parameterOf(p, "PARTSTAT")
		if answer == "DECLINED" || kind == "ROOM" || kind == "RESOURCE" {
			continue
		}
		who := Person{Name: clean(parameterOf(p, "CN"))}
		if scheme, address, ok := strings.Cut(p.Value, ":"); ok && strings.EqualFold(scheme, "mailto") {
			who.Email = clean(address)
		}
		if who != (Person{}) {
			out = append(out, who)
		}
	}
	return out
}

func parameterOf(p *ics.IANAProperty, name string) string {
	if v := p.ICalParameters[name]; len(v) > 0 {
		return v[0]
	}
	return ""
}
