package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/page"
)

// maxTicked is how many ticked incidents a form changes at most. A form that changes all matching incidents changes up
// to incidents.MaxTogether.
const maxTicked = 200

// pastTense has the words for changed incidents, by verb.
var pastTense = map[string]string{"acknowledge": "acknowledged", "resolve": "resolved", "snooze": "snoozed"}

// bulk changes the ticked incidents, or all that match the filter of the list. It skips incidents that cannot be changed,
// and the result says why.
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
	if pastTense[verb] == "" {
		return "", fault.Invalidf("verb", "Choose what to do with the ticked incidents: acknowledge, resolve or snooze")
	}
	var pause incidents.Pause
	if verb == "snooze" {
		var err error
		if pause, err = pauseOf(r.PostFormValue("for"), "", page.Zone(r)); err != nil {
			return "", err
		}
	}
	load, noneText := h.ticked, "Nothing was changed: tick at least one incident."
	if r.PostFormValue("all") != "" {
		load, noneText = h.matching, "Nothing was changed: no incident matches."
	}
	selected, more, err := load(r)
	switch {
	case err != nil:
		return "", err
	case len(selected) == 0 && more:
		return "Nothing was changed: none of the incidents that were searched matches; older ones were not searched.", nil
	case len(selected) == 0:
		return noneText, nil
	}
	result := partition(selected, verb, page.Reader(r).Name)
	if err := result.apply(h.changer(r, verb, pause)); err != nil {
		return "", err
	}
	h.Pages.Note(r, result.failure)
	text := result.text()
	if more {
		text += " Older incidents may match too and were not changed."
	}
	return text, nil
}

// ticked reads the incidents of the form.
func (h Handlers) ticked(r *http.Request) (found []incidents.Incident, more bool, err error) {
	var ids []any
	for _, text := range r.PostForm["id"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	switch {
	case len(ids) == 0:
		return nil, false, nil
	case len(ids) > maxTicked:
		return nil, false, fault.Invalidf("id", "At most %d incidents can be changed at once", maxTicked)
	}
	found, err = h.Incidents.List(r.Context(),
		filters.Query{Conditions: []filters.Condition{{Field: "id", Op: filters.In, Values: ids}}})
	return found, false, err
}

// maxReads is how many pages of the list are read at most to find the incidents that match a filter.
const maxReads = 4

// matching reads the incidents that match the filter of the list, except for those that were opened after the list was
// shown. more reports whether older incidents were not searched, so that further ones may match.
func (h Handlers) matching(r *http.Request) (found []incidents.Incident, more bool, err error) {
	back, err := url.Parse(r.PostFormValue("back"))
	newest, placeErr := filters.ParsePlace(r.PostFormValue("newest"))
	if err != nil || placeErr != nil {
		return nil, false, fault.Invalidf("newest", "The form does not say when the list was shown: open the list again")
	}
	newest.ID++ // the newest one is changed too
	v := back.Query()
	f := readFilter(v)
	q := filters.Query{Conditions: f.conditions(selectedTab(v, selections(page.Reader(r)))), After: &newest}
	for range maxReads {
		q.Limit = incidents.MaxTogether - len(found)
		part, older, err := h.find(r.Context(), q, f)
		if err != nil {
			return nil, false, err
		}
		found, q.After, more = append(found, part...), older, older != nil
		if !more || len(found) >= incidents.MaxTogether {
			break
		}
	}
	return found, more, nil
}

// change changes incidents in one transaction, or none of them.
type change func(ids ...incidents.ID) (incidents.Outcomes, error)

// changer returns the change of a verb. pause is the one of a snooze.
func (h Handlers) changer(r *http.Request, verb string, pause incidents.Pause) change {
	return func(ids ...incidents.ID) (incidents.Outcomes, error) {
		ctx, by, several := r.Context(), page.Actor(r), incidents.Several{Incidents: ids}
		switch verb {
		case "acknowledge":
			return h.Changes.AcknowledgeSeveral.Do(ctx, by, incidents.ClaimOfSeveral{Several: several,
				Claimant: incidents.Claimant{AskFirst: true}})
		case "resolve":
			return h.Changes.ResolveSeveral.Do(ctx, by, several)
		}
		return h.Changes.SnoozeSeveral.Do(ctx, by, incidents.SnoozeOfSeveral{Several: several, Pause: pause})
	}
}

// outcome is what a change does to several incidents.
type outcome struct {
	verb    string
	changed []incidents.ID
	skipped []skipped // by reason
	failure error     // ended the change after some incidents had been changed; nil = none
}

// skipped has the incidents that were skipped for one reason, in words for one and for several incidents.
type skipped struct {
	one, several string
	ids          []incidents.ID
}

// skip moves an incident from those that are changed to those that are skipped.
func (o *outcome) skip(id incidents.ID, one, several string) {
	o.changed = slices.DeleteFunc(o.changed, func(c incidents.ID) bool { return c == id })
	for k := range o.skipped {
		if o.skipped[k].one == one {
			o.skipped[k].ids = append(o.skipped[k].ids, id)
			return
		}
	}
	o.skipped = append(o.skipped, skipped{one, several, []incidents.ID{id}})
}

// partition separates the incidents that can be changed from those that are skipped, with the reason. An incident that
// another person acknowledged is never taken over.
func partition(selected []incidents.Incident, verb, reader string) outcome {
	o := outcome{verb: verb}
	for _, i := range selected {
		_, refused := i.Status().After(incidents.Snooze)
		switch state := string(i.State()); {
		case i.Resolved:
			o.skip(i.ID, "was already resolved", "were already resolved")
		case verb == "acknowledge" && i.Owner == reader && !i.Active && i.SnoozedUntil.IsZero():
			o.skip(i.ID, "was already yours", "were already yours")
		case verb == "acknowledge" && i.Owner != "" && i.Owner != reader:
			o.skip(i.ID, "belongs to "+i.Owner, "belong to "+i.Owner)
		case verb == "snooze" && refused != nil:
			o.skip(i.ID, "is "+state+" and was not snoozed", "are "+state+" and were not snoozed")
		default:
			o.changed = append(o.changed, i.ID)
		}
	}
	return o
}

// apply changes the incidents together; after a conflict, one by one. It returns an error only if no incident was
// changed. An error after that becomes the failure of the outcome.
func (o *outcome) apply(do change) error {
	ids := slices.Clone(o.changed)
	done, err := do(ids...)
	if fault.Is(err, fault.Conflict) { // the state of one of them has just changed
		done, err = o.oneByOne(ids, do)
	}
	for _, d := range done.Items {
		if d.Kept != "" {
			o.skip(d.ID, "belongs to "+d.Kept, "belong to "+d.Kept)
		}
	}
	return err
}

// oneByOne changes incidents in order. It skips those whose state does not permit the change any more, and ends at the
// first other error.
func (o *outcome) oneByOne(ids []incidents.ID, do change) (done incidents.Outcomes, err error) {
	for k, id := range ids {
		one, err := do(id)
		switch {
		case err == nil:
			done.Items = append(done.Items, one.Items...)
		case fault.Is(err, fault.Conflict):
			o.skip(id, "was changed in the meantime", "were changed in the meantime")
		case len(done.Items) == 0:
			return done, err
		default:
			o.failure = err
			o.skip(id, "failed", "failed")
			for _, rest := range ids[k+1:] {
				o.skip(rest, "was not tried", "were not tried")
			}
			return done, nil
		}
	}
	return done, nil
}

// maxNumbers is how many numbers of incidents the result names for a reason.
const maxNumbers = 10

// text is the result as people read it: "7 acknowledged, 1 was already resolved (#12)."
func (o outcome) text() string {
	parts := []string{fmt.Sprintf("%d %s", len(o.changed), pastTense[o.verb])}
	for _, s := range o.skipped {
		words := s.one
		if len(s.ids) > 1 {
			words = s.several
		}
		var numbers []string
		for _, id := range s.ids[:min(len(s.ids), maxNumbers)] {
			numbers = append(numbers, fmt.Sprintf("#%d", id))
		}
		if more := len(s.ids) - maxNumbers; more > 0 {
			numbers = append(numbers, fmt.Sprintf("and %d more", more))
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", len(s.ids), words, strings.Join(numbers, ", ")))
	}
	text := strings.Join(parts, ", ") + "."
	if o.failure != nil {
		text += " The error: " + fault.Public(o.failure) + "."
	}
	return text
}
