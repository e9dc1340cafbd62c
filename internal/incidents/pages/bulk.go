package pages

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/page"
)

// maxTicked is how many incidents a form changes at most.
const maxTicked = 200

// pastTense has the words for changed incidents, by verb.
var pastTense = map[string]string{"acknowledge": "acknowledged", "resolve": "resolved", "snooze": "snoozed"}

// bulk changes the ticked incidents. Those that the change does not fit are left, and the result says why.
func (h Handlers) bulk(rw http.ResponseWriter, r *http.Request) {
	text, err := h.changeTicked(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	back := r.PostFormValue("back")
	if !goesBack(back) {
		back = "/incidents"
	}
	h.Pages.Done(rw, r, back, text)
}

func (h Handlers) changeTicked(r *http.Request) (string, error) {
	verb := r.PostFormValue("verb")
	var ids []any
	for _, text := range r.PostForm["id"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	switch {
	case pastTense[verb] == "":
		return "", fault.Invalidf("verb", "Choose what to do with the ticked incidents: acknowledge, resolve or snooze")
	case len(ids) == 0:
		return "Nothing was changed: tick at least one incident.", nil
	case len(ids) > maxTicked:
		return "", fault.Invalidf("id", "At most %d incidents can be changed at once", maxTicked)
	}
	var end incidents.SnoozeEnd
	if verb == "snooze" {
		var err error
		if end, err = snoozeEnd(r.PostFormValue("for"), "", page.Zone(r)); err != nil {
			return "", err
		}
	}
	ticked, err := h.Incidents.List(r.Context(),
		filters.Query{Conditions: []filters.Condition{{Field: "id", Op: filters.In, Values: ids}}})
	if err != nil {
		return "", err
	}
	result := sorted(ticked, verb, page.Reader(r).Name)
	if err := h.applyTo(r, &result, end); err != nil {
		return "", err
	}
	return result.text(), nil
}

// applyTo changes the incidents of a result that are to be changed.
func (h Handlers) applyTo(r *http.Request, result *outcome, end incidents.SnoozeEnd) error {
	do := func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		switch result.verb {
		case "acknowledge":
			return h.Incidents.Acknowledge(ctx, c, page.Reader(r))
		case "resolve":
			return h.Incidents.Resolve(ctx, c, true)
		}
		return h.Incidents.Snooze(ctx, c, end)
	}
	if len(result.changed) == 0 {
		return nil
	}
	change := incidents.Change{IDs: slices.Clone(result.changed), Actor: page.Reader(r).Name, Via: incidents.ViaWeb,
		AskFirst: true}
	changed, err := do(r.Context(), change)
	if fault.Is(err, fault.Conflict) { // the state of one of them has just changed
		changed, err = nil, nil
		for _, id := range change.IDs {
			change.IDs = []incidents.ID{id}
			one, failed := do(r.Context(), change)
			if fault.Is(failed, fault.Conflict) {
				result.leave(id, "was changed in the meantime", "were changed in the meantime")
			} else if failed != nil {
				return failed
			}
			changed = append(changed, one...)
		}
	}
	if err != nil {
		return err
	}
	var woken buckets.Set
	for _, a := range changed {
		if a.OwnedBy != 0 {
			result.leave(a.ID, "belongs to "+a.PreviousOwner, "belong to "+a.PreviousOwner)
		}
		woken.Add(int(int64(a.ID) % buckets.Count))
	}
	h.Wake(r.Context(), woken)
	return nil
}

// outcome is what a change does to several incidents.
type outcome struct {
	verb    string
	changed []incidents.ID
	left    []left // by reason
}

// left are the incidents that were left for one reason, in words for one and for several.
type left struct {
	one, several string
	ids          []incidents.ID
}

func (o *outcome) leave(id incidents.ID, one, several string) {
	o.changed = slices.DeleteFunc(o.changed, func(c incidents.ID) bool { return c == id })
	for k := range o.left {
		if o.left[k].one == one {
			o.left[k].ids = append(o.left[k].ids, id)
			return
		}
	}
	o.left = append(o.left, left{one, several, []incidents.ID{id}})
}

// sorted says which incidents a change fits, and why it does not fit the others. An incident of somebody else is not
// taken over.
func sorted(ticked []incidents.Incident, verb, reader string) outcome {
	o := outcome{verb: verb}
	for _, i := range ticked {
		_, refused := i.Status().After(incidents.Snooze)
		switch state := string(i.State()); {
		case i.Resolved:
			o.leave(i.ID, "was already resolved", "were already resolved")
		case verb == "acknowledge" && i.Owner == reader && !i.Active && i.SnoozedUntil.IsZero():
			o.leave(i.ID, "was already yours", "were already yours")
		case verb == "acknowledge" && i.Owner != "" && i.Owner != reader:
			o.leave(i.ID, "belongs to "+i.Owner, "belong to "+i.Owner)
		case verb == "snooze" && refused != nil:
			o.leave(i.ID, "is "+state+" and was not snoozed", "are "+state+" and were not snoozed")
		default:
			o.changed = append(o.changed, i.ID)
		}
	}
	return o
}

// text is the result as people read it: "7 acknowledged, 1 was already resolved (#12)".
func (o outcome) text() string {
	parts := []string{fmt.Sprintf("%d %s", len(o.changed), pastTense[o.verb])}
	for _, l := range o.left {
		words := l.one
		if len(l.ids) > 1 {
			words = l.several
		}
		numbers := make([]string, len(l.ids))
		for k, id := range l.ids {
			numbers[k] = fmt.Sprintf("#%d", id)
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(l.ids), words, strings.Join(numbers, ", ")))
	}
	return strings.Join(parts, ", ") + "."
}
