package incidents

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

const (
	searchFor    = 40 * time.Millisecond // how long Search goes back in time
	searchWithin = time.Second
	labelsOf     = 200 // incidents whose labels are searched
)

// Search finds incidents that a caller reaches: the one with the number, then the newest with the text. No index helps a
// search in texts, so it ends after a short time and may then miss old incidents.
func (i *Incidents) Search(ctx context.Context, by operation.Actor, text string, limit int) ([]Incident, error) {
	read := filters.Reader[Incident](i.deps.Store.List)
	var out []Incident
	if number, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64); err == nil {
		found, err := read(ctx, by.Within(filters.Query{Conditions: []filters.Condition{filters.Equal("id", number)}}))
		if err != nil {
			return nil, err
		}
		out = found
	}
	if strings.HasPrefix(text, "#") {
		return out, nil
	}
	short, cancel := context.WithTimeout(ctx, searchWithin)
	defer cancel()
	found, _, err := read.SearchFor(short, searchFor,
		by.Within(filters.Query{Conditions: []filters.Condition{HasText(text)}, Limit: limit}), Incident.Place)
	if fault.Is(err, fault.Unavailable) && ctx.Err() == nil { // the statement ended with its time
		err = nil
	}
	for _, one := range found {
		if !slices.ContainsFunc(out, func(other Incident) bool { return other.ID == one.ID }) {
			out = append(out, one)
		}
	}
	return out[:min(len(out), limit)], err
}

// FindLabels finds labels, as NAME=VALUE, of the newest open incidents that a caller reaches.
func (i *Incidents) FindLabels(ctx context.Context, by operation.Actor, text string, limit int) ([]string, error) {
	conditions, _ := InState(StateOpen)
	found, err := i.deps.Store.List(ctx, by.Within(filters.Query{Conditions: conditions, Limit: labelsOf}))
	labels := map[string]bool{}
	for _, one := range found {
		for name, value := range Labels(one.Context, one.Severity) {
			label := name + "=" + value
			if value != "" && len(label) <= maxTitle && strings.Contains(strings.ToLower(label), strings.ToLower(text)) {
				labels[label] = true
			}
		}
	}
	out := slices.Sorted(maps.Keys(labels))
	return out[:min(len(out), limit)], err
}
