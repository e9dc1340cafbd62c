package irisapi

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// maxClaims is how many incidents one request may claim. They are changed in one transaction.
const maxClaims = 1000

// claim is the body of both claim routes: an owner, or null to take the claim back.
type claim struct {
	owner string // "" = take the claim back
	raw   json.RawMessage
}

// parseClaim reads the owner; missing is the title for a body without one.
func parseClaim(b Body, missing string) (claim, error) {
	c := claim{owner: b.Text("owner"), raw: b.Members["owner"]}
	b.Check(b.Has("owner"), fault.Invalidf("owner", "%s", missing))
	b.Check(!b.Given("owner") || c.owner != "", noSuchOwner())
	return c, b.Err()
}

func noSuchOwner() error { return fault.New(fault.Invalid, "Invalid claim: no matching owner") }

// one claims an incident, or takes the claim back.
func (a claims) one(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	c, err := parseClaim(ReadBody(w, r, ""), `"owner" field required`)
	if err != nil {
		return err
	}
	done, err := a.claim(r, c, []incidents.ID{id})
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, Record{{"incident_id", id}, {"owner", c.raw}, {"active", done[0].Active}})
}

// many claims incidents, or takes the claims back.
func (a claims) many(w http.ResponseWriter, r *http.Request) error {
	const missing = "Missing owner or incident_ids fields"
	b := ReadBody(w, r, "")
	c, err := parseClaim(b, missing)
	if err != nil {
		return err
	}
	ids, err := incidentIDs(b, missing)
	if err != nil {
		return err
	}
	claimed, unclaimed := []incidents.ID{}, []incidents.ID{}
	if len(ids) > 0 {
		done, err := a.claim(r, c, ids)
		if err != nil {
			return err
		}
		for _, d := range done {
			if d.Active {
				unclaimed = append(unclaimed, d.ID)
			} else {
				claimed = append(claimed, d.ID)
			}
		}
	}
	return routing.Answer(w, http.StatusOK, Record{{"owner", c.raw}, {"claimed", claimed}, {"unclaimed", unclaimed}})
}

func incidentIDs(b Body, missing string) ([]incidents.ID, error) {
	wrong := fault.Invalidf("incident_ids", "incident_ids must be a list of incident ids")
	b.Check(b.Has("incident_ids"), fault.Invalidf("incident_ids", "%s", missing))
	var given []json.RawMessage
	err := json.Unmarshal(b.Members["incident_ids"], &given)
	b.Check(err == nil && given != nil, wrong)
	b.Check(len(given) <= maxClaims, fault.Invalidf("incident_ids",
		"incident_ids must not name more than %d incidents", maxClaims))
	ids := make([]incidents.ID, 0, len(given))
	seen := map[int64]bool{}
	for _, g := range given {
		n, ok := Integer(g)
		b.Check(ok, wrong)
		if !seen[n] {
			seen[n] = true
			ids = append(ids, incidents.ID(n))
		}
	}
	return ids, b.Err()
}

// claim checks the caller, the incidents and the owner before it changes anything.
func (a claims) claim(r *http.Request, c claim, ids []incidents.ID) ([]incidents.Acknowledged, error) {
	ctx := r.Context()
	owner, unknown := Person(ctx, a.People, c.owner)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return nil, unknown
	}
	if c.owner != "" && !wire.Actor(ctx).MayClaimFor(owner, a.Openings) {
		return nil, fault.New(fault.Unauthenticated, "Invalid claimer for this app/user")
	}
	if err := a.allExist(ctx, ids); err != nil {
		return nil, err
	}
	var done []incidents.Acknowledged
	var err error
	switch {
	case c.owner == "":
		done, err = a.Incidents.Reopen(ctx, change(r, ids...))
	case unknown != nil || !owner.Active:
		return nil, noSuchOwner()
	default:
		done, err = a.Incidents.Acknowledge(ctx, change(r, ids...), owner)
	}
	if err != nil {
		return nil, err
	}
	missing := func(d incidents.Acknowledged) bool { return !d.Found }
	if len(done) != len(ids) || slices.ContainsFunc(done, missing) {
		return nil, a.noSuchIncident(ctx)
	}
	a.wake(r.Context(), done)
	return done, nil
}

func (a claims) allExist(ctx context.Context, ids []incidents.ID) error {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = int64(id)
	}
	found, err := a.Incidents.List(ctx, filters.Query{Conditions: []filters.Condition{{Field: "id", Op: filters.In,
		Values: values}}})
	if err == nil && len(found) != len(ids) {
		err = a.noSuchIncident(ctx)
	}
	return err
}

func (a claims) resolve(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	b := ReadBody(w, r, "")
	b.Check(b.Has("resolved"), fault.Invalidf("resolved", "resolved field required"))
	if err := b.Err(); err != nil {
		return err
	}
	raw := b.Members["resolved"]
	done, err := a.Incidents.Resolve(r.Context(), change(r, id), Truthy(raw))
	if err != nil {
		return err
	}
	if len(done) != 1 || !done[0].Found {
		return a.noSuchIncident(r.Context())
	}
	a.wake(r.Context(), done)
	return Answer(w, Record{{"incident_id", strconv.FormatInt(int64(id), 10)}, {"resolved", raw}}, nil)
}

// set sets the step of an incident and whether the incident escalates.
func (a states) set(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	b := ReadBody(w, r, "")
	step := b.Whole("current_step", 0, math.MaxInt16)
	b.Check(b.Given("active"), b.Fault("active", "%s is required", "active"))
	if err := b.Err(); err != nil {
		return err
	}
	done, err := a.Incidents.SetState(r.Context(), change(r, id), int(step), Truthy(b.Members["active"]))
	if err != nil {
		return fault.When(err, fault.Conflict, fault.Invalidf("active", "A resolved incident cannot escalate"))
	}
	if len(done) != 1 || !done[0].Found {
		return fault.New(fault.NotFound, "no such incident")
	}
	a.wake(r.Context(), done)
	return Done(w, nil)
}
