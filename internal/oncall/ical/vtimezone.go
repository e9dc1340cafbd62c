package ical

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/kit/recurrence"
)

// Bounds of the zones that a calendar describes.
const (
	maxZones       = 100  // of all calendars in a text
	maxObservances = 10   // of one zone
	maxOnsets      = 2000 // of one part of a zone
	firstYear      = 1600 // some programs use this year as the beginning
	lastYear       = 2100
)

// describedZones returns the zones that a calendar describes itself, by TZID. Those in the IANA database are taken from
// there. Zones that cannot be read, or exceed the bound, are missing; events that need one become Problems.
func (r *reader) describedZones(c *component) map[string]*time.Location {
	out := map[string]*time.Location{}
	for _, z := range c.parts {
		id := z.GetProperty(ics.ComponentPropertyTzid)
		if z.kind != "VTIMEZONE" || id == nil || exactZone(id.Value) != nil {
			continue
		}
		if r.descriptions++; r.descriptions > maxZones {
			break
		}
		if zone, ok := describedZone(z, id.Value); ok {
			out[id.Value] = zone
		}
	}
	return out
}

// onset is a change of a zone's clock.
type onset struct {
	at     int64 // Unix seconds
	offset int32 // seconds east of Greenwich from then on
	saving bool
}

// describedZone makes a zone from a VTIMEZONE (RFC 5545 3.6.5): the changes of all its parts, until 2100.
func describedZone(z *component, name string) (*time.Location, bool) {
	var all []onset
	if len(z.parts) == 0 || len(z.parts) > maxObservances {
		return nil, false
	}
	first := int32(0) // before all changes
	var earliest int64
	for _, part := range z.parts {
		saving := part.kind == "DAYLIGHT"
		if !saving && part.kind != "STANDARD" {
			continue
		}
		from, ok1 := offsetOf(part.GetProperty("TZOFFSETFROM"))
		to, ok2 := offsetOf(part.GetProperty("TZOFFSETTO"))
		starts, ok3 := onsets(part)
		if !ok1 || !ok2 || !ok3 || part.broken != "" {
			return nil, false
		}
		for _, s := range starts {
			all = append(all, onset{s.Unix() - int64(from), to, saving})
		}
		if at := starts[0].Unix() - int64(from); len(all) == len(starts) || at < earliest {
			first, earliest = from, at
		}
	}
	if len(all) == 0 {
		return nil, false
	}
	slices.SortStableFunc(all, func(a, b onset) int { return int(max(-1, min(1, a.at-b.at))) })
	zone, err := time.LoadLocationFromTZData(name, zoneFile(first, all))
	return zone, err == nil
}

// onsets returns the times at which a part of a zone begins, on the clock that is valid until then.
func onsets(part *component) ([]time.Time, bool) {
	p := part.GetProperty(ics.ComponentPropertyDtStart)
	if p == nil {
		return nil, false
	}
	start, err := time.Parse("20060102T150405", strings.TrimSuffix(p.Value, "Z"))
	if err != nil || start.Year() < firstYear {
		return nil, false
	}
	out := []time.Time{start}
	if rule := part.GetProperty(ics.ComponentPropertyRrule); rule != nil {
		option, err := rrule.StrToROption(rule.Value)
		if err != nil || option.Freq != rrule.YEARLY || len(option.Byhour)+len(option.Byminute)+len(option.Bysecond) > 0 {
			return nil, false
		}
		// Rules are expanded for less than 300 years; years before 1900 do not matter to calendars.
		if every := max(1, option.Interval); option.Count == 0 && start.Year() < 1900 {
			start = start.AddDate((1900-start.Year())/every*every, 0, 0)
		}
		option.Dtstart = start
		r, err := rrule.NewRRule(*option)
		if err != nil {
			return nil, false
		}
		next := r.Iterator()
		if !recurrence.Possible(*option) {
			next = func() (time.Time, bool) { return time.Time{}, false }
		}
		for at, ok := next(); ok && at.Year() < lastYear; at, ok = next() {
			if out = append(out, at); len(out) > maxOnsets {
				return nil, false
			}
		}
	}
	for _, p := range part.GetProperties(ics.ComponentPropertyRdate) {
		for _, one := range strings.Split(p.Value, ",") {
			at, err := time.Parse("20060102T150405", strings.TrimSuffix(one, "Z"))
			if err != nil || len(out) > maxOnsets {
				return nil, false
			}
			out = append(out, at)
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal), true
}

// offsetOf parses a UTC offset, in seconds: "+0100" or "+010000".
func offsetOf(p *ics.IANAProperty) (int32, bool) {
	if p == nil {
		return 0, false
	}
	text := strings.TrimSpace(p.Value)
	at, err := time.Parse("-0700", text)
	if err != nil {
		at, err = time.Parse("-070000", text)
	}
	_, seconds := at.Zone()
	return int32(seconds), err == nil
}

// zoneFile encodes a zone as a tzdata file (RFC 8536), which the standard library can load.
func zoneFile(first int32, all []onset) []byte {
	type kind struct {
		offset int32
		saving bool
	}
	kinds := []kind{{first, false}}
	var times, indexes bytes.Buffer
	for _, o := range all {
		k := kind{o.offset, o.saving}
		i := slices.Index(kinds, k)
		if i < 0 {
			i = len(kinds)
			kinds = append(kinds, k)
		}
		_ = binary.Write(&times, binary.BigEndian, o.at)
		indexes.WriteByte(byte(i))
	}
	var out bytes.Buffer
	header := func(transitions, types, letters int) {
		out.WriteString("TZif2" + strings.Repeat("\x00", 15))
		for _, n := range []int{0, 0, 0, transitions, types, letters} {
			_ = binary.Write(&out, binary.BigEndian, uint32(n))
		}
	}
	header(0, 1, 4) // the first part is for old programs
	out.WriteString("\x00\x00\x00\x00\x00\x00UTC\x00")
	header(len(all), len(kinds), 4)
	out.Write(times.Bytes())
	out.Write(indexes.Bytes())
	for _, k := range kinds {
		_ = binary.Write(&out, binary.BigEndian, k.offset)
		saving := byte(0)
		if k.saving {
			saving = 1
		}
		out.Write([]byte{saving, 0})
	}
	out.WriteString("LOC\x00\n\n")
	return out.Bytes()
}
