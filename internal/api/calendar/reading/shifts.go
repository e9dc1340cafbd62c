package reading

import (
	"time"

	"github.com/iris-oncall/iris/internal/ical"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// Shifts reads an iCalendar text and stores its shifts from c.Since to until in c. zone applies to times without a time zone. Shifts
// returns the events whose people were not found; a text that cannot be read is an Invalid fault.
func Shifts(c *editing.ExternalCalendar, raw []byte, candidates []editing.Candidate, zone *time.Location, until time.Time) ([]Unmatched, error) {
	read, err := ical.Read(raw, zone, c.Since, until)
	if err != nil {
		return nil, err
	}
	var unmatched []Unmatched
	c.UIDs = read.UIDs
	c.Wanted, unmatched = occurrences(candidates, read)
	return unmatched, nil
}

// Unmatched is an event of which no shift was made, or not for all of its people.
type Unmatched struct {
	UID     string   `json:"uid"`
	Summary string   `json:"summary"`
	Names   []string `json:"names"`
	Why     string   `json:"why"`
}

// occurrences finds the people of each occurrence. It reports unknown names once for each event.
func occurrences(candidates []editing.Candidate, read ical.Calendar) (wanted []editing.OccurrenceShift, unmatched []Unmatched) {
	unmatched = []Unmatched{}
	for _, p := range read.Problems {
		unmatched = append(unmatched, Unmatched{p.UID, p.Summary, []string{}, p.Why})
	}
	reported := map[string]bool{}
	for _, e := range read.Events {
		people := make([]editing.EventPerson, len(e.People))
		for i, p := range e.People {
			people[i] = editing.EventPerson(p)
		}
		found, unknown := editing.MatchPeople(candidates, e.Summary, people)
		for _, id := range found {
			wanted = append(wanted, editing.OccurrenceShift{Occurrence: editing.Occurrence{UID: e.UID, Occurs: e.Occurs, User: id}, Start: e.Start, End: e.End})
		}
		if len(unknown) > 0 && !reported[e.UID] {
			reported[e.UID] = true
			unmatched = append(unmatched, Unmatched{e.UID, e.Summary, unknown, "nobody, or more than one, is called so"})
		}
	}
	return wanted, unmatched
}
