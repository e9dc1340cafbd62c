package editing

import (
	"time"

	"github.com/iris-oncall/iris/internal/oncall/ical"
)

// ReadShifts reads an iCalendar text and stores its shifts from c.Since to until in c. zone applies to times without a
// time zone. It returns the events whose people were not found; a text that cannot be read is an Invalid fault.
func ReadShifts(c *ExternalCalendar, raw []byte, candidates []Candidate, zone *time.Location, until time.Time) ([]UnmatchedEvent, error) {
	read, err := ical.Read(raw, zone, c.Since, until)
	if err != nil {
		return nil, err
	}
	c.UIDs = read.UIDs
	return c.occurrences(candidates, read), nil
}

// UnmatchedEvent is an event that got no shift, or no shift for some of its people. Why is the reason. A line that
// cannot be read has its number as summary.
type UnmatchedEvent struct {
	UID     string   `json:"uid"`
	Summary string   `json:"summary"`
	Names   []string `json:"names"`
	Why     string   `json:"why"`
}

// problems returns the events and lines that cannot be read.
func problems(found []ical.Problem) []UnmatchedEvent {
	out := []UnmatchedEvent{}
	for _, p := range found {
		out = append(out, UnmatchedEvent{p.UID, p.Summary, []string{}, p.Why})
	}
	return out
}

// occurrences finds the people of each occurrence. It reports unknown names once for each event.
func (c *ExternalCalendar) occurrences(candidates []Candidate, read ical.Calendar) []UnmatchedEvent {
	c.Wanted, c.Unmatched = nil, nil
	unmatched := problems(read.Problems)
	for _, p := range read.Problems {
		c.Unmatched = append(c.Unmatched, OccurrenceShift{Occurrence: Occurrence{UID: p.UID}})
	}
	reported := map[string]bool{}
	for _, e := range read.Events {
		people := make([]EventPerson, len(e.People))
		for i, p := range e.People {
			people[i] = EventPerson(p)
		}
		found, unknown := MatchPeople(candidates, e.Summary, people)
		for _, id := range found {
			c.Wanted = append(c.Wanted, OccurrenceShift{Occurrence: Occurrence{UID: e.UID, Occurs: e.Occurs, User: id},
				Start: e.Start, End: e.End})
		}
		if len(found) == 0 {
			c.Unmatched = append(c.Unmatched, OccurrenceShift{Occurrence: Occurrence{UID: e.UID, Occurs: e.Occurs},
				Start: e.Start, End: e.End})
		}
		if len(unknown) > 0 && !reported[e.UID] {
			reported[e.UID] = true
			unmatched = append(unmatched, UnmatchedEvent{e.UID, e.Summary, unknown,
				"no person of the team, or more than one, has this name"})
		}
	}
	return unmatched
}
