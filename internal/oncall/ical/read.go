package ical

import (
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

// Bounds of what is read. A short text can have many recurring events.
const (
	maxOccurrences = 2000
	maxDays        = 5000
	// maxYears bounds the years in which the rules of all recurring events are searched for occurrences. A rule of a
	// year takes less than 100 microseconds.
	maxYears = 20_000
	// ruleYears are the years that a rule counts in addition, for its checks.
	ruleYears = 5
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
	// Zone is the zone of the start. It decides on which days the event is.
	Zone *time.Location
	Free bool // the owner is available during it (TRANSP:TRANSPARENT)
}

// Problem is an event that could not be read. A line that was left out has no UID, and its number as summary.
type Problem struct{ UID, Summary, Why string }

// Calendar is the result of reading.
type Calendar struct {
	Events   []Event
	UIDs     []string // of all events that could be read, also those without an occurrence in the window, sorted
	Problems []Problem
}

// Read returns the occurrences of a calendar's events that overlap [from, until), by start. Times without a zone and
// whole days are in zone, unless the calendar names one (X-WR-TIMEZONE). Zones may be described in the calendar itself.
// Recurring events begin and end at the same time of day across changes of the clocks. Several calendars in one text are
// read as one. Text that is not a calendar, or exceeds the bounds, is an Invalid fault of the field "body". An event or
// line that cannot be read is a Problem.
func Read(raw []byte, zone *time.Location, from, until time.Time) (Calendar, error) {
	return read(raw, reader{zone: zone, from: from, until: until, most: maxOccurrences})
}

// ReadDays is Read for events that are days, such as holidays: an event that does not end after its start lasts for one
// day. At most 5,000 occurrences are read.
func ReadDays(raw []byte, from, until time.Time) (Calendar, error) {
	return read(raw, reader{zone: time.UTC, from: from, until: until, most: maxDays, days: true})
}

func read(raw []byte, r reader) (Calendar, error) {
	calendars, problems, err := parse(raw)
	if err != nil {
		return Calendar{}, err
	}
	r.out.Problems = problems
	own := r.zone
	for _, c := range calendars {
		r.zone = own
		if err := r.calendar(c); err != nil {
			return Calendar{}, err
		}
	}
	slices.SortStableFunc(r.out.Events, func(a, b Event) int { return a.Start.Compare(b.Start) })
	slices.Sort(r.out.UIDs)
	r.out.UIDs = slices.Compact(r.out.UIDs)
	return r.out, nil
}

// occurrence identifies an occurrence of a recurring event by its original start, in Unix seconds.
type occurrence struct {
	uid string
	at  int64
}

type reader struct {
	zone         *time.Location
	from, until  time.Time
	most         int  // occurrences
	days         bool // events are days
	years        int  // in which rules were searched
	descriptions int  // of zones
	out          Calendar

	// Of the calendar that is read.
	described map[string]*time.Location // zones that the calendar describes itself
	zones     map[string]*time.Location // zones by name; nil = there is none
	series    map[string]*component     // the events that may recur, by UID
	moved     map[occurrence]bool
}

// calendar adds the occurrences of a calendar.
func (r *reader) calendar(c *component) error {
	r.described, r.zones = r.describedZones(c), map[string]*time.Location{}
	r.series, r.moved = map[string]*component{}, map[occurrence]bool{}
	if p := c.GetProperty("X-WR-TIMEZONE"); p != nil {
		if named, ok := r.named(p.Value); ok {
			r.zone = named
		}
	}
	var changes []*component
	for _, e := range c.parts {
		switch {
		case e.kind != "VEVENT" || e.broken != "":
		case e.GetProperty(ics.ComponentPropertyRecurrenceId) != nil:
			changes = append(changes, e)
		default:
			r.series[e.Id()] = e
		}
	}
	for _, e := range changes {
		if at, err := r.original(e); err == nil {
			r.moved[occurrence{e.Id(), at.Unix()}] = true
		}
	}
	for _, e := range c.parts {
		if e.kind == "VEVENT" {
			if err := r.event(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// original returns the start of the occurrence that e changes. A date means the occurrence of that day.
func (r *reader) original(e *component) (time.Time, error) {
	p, begin := e.GetProperty(ics.ComponentPropertyRecurrenceId), e.GetProperty(ics.ComponentPropertyDtStart)
	at, day, err := r.at(p)
	if err != nil {
		return time.Time{}, err
	}
	if all := r.series[e.Id()]; day && all != nil {
		first := all.GetProperty(ics.ComponentPropertyDtStart)
		if start, days, err := r.at(first); err == nil && !days {
			return instant(at+start-start.Midnight(), r.zoneOf(first)), nil
		}
	}
	return instant(at, r.siblingZone(p, begin)), nil
}

// instant returns when the clock of a zone shows l, as RFC 5545 3.3.5 has it: the first time if it does so twice; if it
// skips l, the offset before the skip applies. Shifts of Iris itself use the offset after it (Local.In).
func instant(l oncall.Local, zone *time.Location) time.Time {
	at := l.In(zone)
	if oncall.LocalIn(at, zone) == l {
		return at
	}
	_, before := at.Zone()
	return time.Unix(int64(l)-int64(before), 0).In(zone)
}

// event adds the occurrences of e.
func (r *reader) event(e *component) error {
	uid, summary := e.Id(), value(e, ics.ComponentPropertySummary)
	wrong := func(why string) error {
		r.out.Problems = append(r.out.Problems, Problem{uid, summary, why})
		return nil
	}
	switch {
	case uid == "":
		return wrong("it has no UID")
	case e.broken != "":
		return wrong(e.broken)
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
	event := Event{UID: uid, Summary: summary, People: people(e), WholeDays: days, Zone: zone,
		Free: value(e, ics.ComponentPropertyTransp) == "TRANSPARENT"}
	if p := e.GetProperty(ics.ComponentPropertyRecurrenceId); p != nil {
		at, err := r.original(e)
		if err != nil {
			return wrong("RECURRENCE-ID: " + err.Error())
		}
		if _, ranged := p.ICalParameters["RANGE"]; ranged {
			return wrong("RECURRENCE-ID: changes of all following occurrences at once cannot be read")
		}
		return r.add(event, at, instant(start, zone), end)
	}
	for _, rule := range e.GetProperties(ics.ComponentPropertyRrule) {
		if err := r.spend(rule.Value, start); err != nil {
			return err
		}
	}
	spans, err := r.spans(e, oncall.Span{Start: instant(start, zone), End: end}, start, length, zone)
	if err != nil {
		return wrong(fault.Public(err))
	}
	left, err := r.listed(e, ics.ComponentPropertyExdate, begin)
	if err != nil {
		return wrong("EXDATE: " + err.Error())
	}
	leftTimes, leftDays := map[int64]bool{}, map[oncall.Date]bool{} // a day means each occurrence that begins on it
	for _, l := range left {
		if l.day {
			leftDays[l.Date()] = true
		} else {
			leftTimes[l.in(zone).Unix()] = true
		}
	}
	slices.SortStableFunc(spans, func(a, b oncall.Span) int { return a.Start.Compare(b.Start) })
	spans = slices.CompactFunc(spans, func(a, b oncall.Span) bool { return a.Start.Equal(b.Start) })
	for _, s := range spans {
		at := s.Start.Unix()
		if leftTimes[at] || leftDays[oncall.LocalIn(s.Start, zone).Date()] || r.moved[occurrence{uid, at}] {
			continue
		}
		if err := r.add(event, s.Start, s.Start, s.End); err != nil {
			return err
		}
	}
	return nil
}

// spans returns when e takes place: by its rules, or once if it has none, and at the listed times. EXDATE is not
// considered.
func (r *reader) spans(e *component, first oncall.Span, start oncall.Local, length time.Duration, zone *time.Location) ([]oncall.Span, error) {
	out := []oncall.Span{first}
	for i, rule := range e.GetProperties(ics.ComponentPropertyRrule) {
		if i == 0 {
			out = nil // the rules have the first one too
		}
		starts, err := scheduling.Recurring{Zone: zone, Start: start, Length: length, Rule: rule.Value}.Starts(r.from, r.until)
		if err != nil {
			return nil, err
		}
		for _, at := range starts {
			out = append(out, spanOf(instant(at, zone), at, length, zone))
		}
	}
	if e.GetProperty(ics.ComponentPropertyExrule) != nil {
		return nil, fault.Invalidf("body", "EXRULE: exceptions by a rule cannot be read; list them with EXDATE")
	}
	more, err := r.listed(e, ics.ComponentPropertyRdate, e.GetProperty(ics.ComponentPropertyDtStart))
	if err != nil {
		return nil, fault.Invalidf("body", "RDATE: %v", err)
	}
	for _, l := range more {
		at := l.in(zone)
		out = append(out, spanOf(at, oncall.LocalIn(at, zone), length, zone))
	}
	return out, nil
}

// spanOf returns an occurrence that begins at begin, when the clock shows or skips start. It ends length later on the
// clock, or exactly length later if it would end before it begins on a day of a change of the clocks.
func spanOf(begin time.Time, start oncall.Local, length time.Duration, zone *time.Location) oncall.Span {
	end := instant(start+oncall.Local(length/time.Second), zone)
	if !begin.Before(end) {
		end = begin.Add(length)
	}
	return oncall.Span{Start: begin, End: end}
}

var untilYear = regexp.MustCompile(`UNTIL=(\d{4})`)

// spend counts the years in which a rule is searched for occurrences. Rules that ended long ago cost little.
func (r *reader) spend(rule string, start oncall.Local) error {
	last := r.until.Year()
	if m := untilYear.FindStringSubmatch(rule); m != nil {
		year, _ := strconv.Atoi(m[1])
		last = min(last, year)
	}
	if r.years += ruleYears + max(0, last-start.Time().Year()); r.years > maxYears {
		return fault.Invalidf("body", "the recurring events of the calendar together recur for more than %d years: "+
			"end those that are over with UNTIL, or export less of the calendar", maxYears)
	}
	return nil
}

func (r *reader) add(e Event, occurs, start, end time.Time) error {
	if !start.Before(r.until) || !r.from.Before(end) {
		return nil
	}
	if len(r.out.Events) == r.most {
		return fault.Invalidf("body", "the calendar has more than %d occurrences from %s to %s: export less of it",
			r.most, r.from.Format(time.DateOnly), r.until.Format(time.DateOnly))
	}
	e.Occurs, e.Start, e.End = occurs.UTC(), start.UTC(), end.UTC()
	r.out.Events = append(r.out.Events, e)
	return nil
}

// length returns how long an event lasts on the clock of its zone, and when its first occurrence ends.
func (r *reader) length(e *component, start oncall.Local, days bool, zone *time.Location) (time.Duration, time.Time, error) {
	begin := instant(start, zone)
	end, onClock := begin, start
	switch p, d := e.GetProperty(ics.ComponentPropertyDtEnd), e.GetProperty(ics.ComponentPropertyDuration); {
	case p != nil:
		local, _, err := r.at(p)
		if err != nil {
			return 0, end, fault.Invalidf("body", "DTEND: %v", err)
		}
		end = instant(local, r.zoneOf(p))
		if onClock = local; r.zoneOf(p).String() != zone.String() {
			onClock = oncall.LocalIn(end, zone)
		}
	case d != nil:
		nominal, exact, err := duration(d.Value)
		if err != nil {
			return 0, end, err
		}
		end = instant(start+oncall.Local(nominal/time.Second), zone).Add(exact)
		onClock = oncall.LocalIn(end, zone)
	}
	if (days || r.days) && onClock <= start {
		onClock = (start.Date() + 1).Local()
		end = instant(onClock, zone)
	}
	length := time.Duration(onClock-start) * time.Second
	if length <= 0 {
		length = end.Sub(begin) // within an hour that the clock shows twice
	}
	if length <= 0 {
		return 0, end, fault.Invalidf("body", "it must end after it begins")
	}
	if !begin.Before(end) { // because it begins in an hour that the clock skips
		end = begin.Add(length)
	}
	return length, end, nil
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
		return instant(l.Local, zone)
	}
	return instant(l.Local, l.zone)
}

// maxListed bounds the entries of an event.
const maxListed = 1000

// listed returns the entries of EXDATE or RDATE.
func (r *reader) listed(e *component, name ics.ComponentProperty, begin *ics.IANAProperty) ([]listedTime, error) {
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
				"the time zone %.100q is not one of the IANA database or of Windows, and the calendar has no VTIMEZONE that describes it", id[0])
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

// named finds a zone: in the IANA database, in the calendar, by the end of a longer name, or by its name in Windows.
// The database takes a while, so each name is looked up once.
func (r *reader) named(name string) (*time.Location, bool) {
	zone, known := r.zones[name]
	if !known {
		if len(r.zones) < maxNames {
			zone = r.lookUp(name)
		}
		r.zones[name] = zone
	}
	return zone, zone != nil
}

// maxNames is how many names of zones are looked up for a calendar. Others are unknown.
const maxNames = 200

// zoneParts is the largest number of parts of a name in the database: America/Argentina/Salta.
const zoneParts = 3

func (r *reader) lookUp(name string) *time.Location {
	if zone := exactZone(name); zone != nil {
		return zone
	}
	if zone := r.described[name]; zone != nil {
		return zone
	}
	parts := strings.Split(strings.Trim(strings.TrimSpace(name), `"/`), "/") // some programs add a path before the name
	for i := max(0, len(parts)-zoneParts); i < len(parts); i++ {
		if zone := exactZone(strings.Join(parts[i:], "/")); zone != nil {
			return zone
		}
	}
	return exactZone(windowsZones[strings.TrimSpace(name)])
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

func value(e *component, name ics.ComponentProperty) string {
	if p := e.GetProperty(name); p != nil {
		return clean(ics.FromText(p.Value))
	}
	return ""
}

// people returns the attendees who are people and did not decline.
func people(e *component) []Person {
	var out []Person
	for _, p := range e.GetProperties(ics.ComponentPropertyAttendee) {
		kind, answer := parameterOf(p, "CUTYPE"), parameterOf(p, "PARTSTAT")
		if answer == "DECLINED" || kind == "ROOM" || kind == "RESOURCE" {
			continue
		}
		who := Person{Name: clean(parameterOf(p, "CN")), Email: clean(parameterOf(p, "EMAIL"))}
		scheme, address, isURI := strings.Cut(p.Value, ":")
		switch {
		case isURI && strings.EqualFold(scheme, "mailto") && address != "":
			who.Email = clean(address)
		case who.Email == "" && !isURI && strings.Contains(p.Value, "@"):
			who.Email = clean(p.Value) // some programs leave out mailto
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
