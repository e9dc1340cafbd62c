package irisapi

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// maxClaims bounds how many incidents are claimed with one request: they are changed in one transaction.
const maxClaims = 1000

// claim is the body of both claim routes: an owner, or null to give the incidents back.
type claim struct {
	owner string // "" = unclaim
	raw   json.RawMessage
}

// parseClaim reads the owner; missing is the title for a body without one.
func parseClaim(b body, missing string) (claim, error) {
	raw, ok := b.members["owner"]
	if !ok {
		return claim{}, fault.Invalidf("owner", "%s", missing)
	}
	if isNull(raw) {
		return claim{raw: raw}, nil
	}
	owner, err := b.optionalText("owner")
	if err != nil {
		return claim{}, err
	}
	if owner == "" {
		return claim{}, noSuchOwner()
	}
	return claim{owner: owner, raw: raw}, nil
}

func noSuchOwner() error { return fault.New(fault.Invalid, "Invalid claim: no matching owner") }

// claimIncident makes somebody the owner of an incident, or nobody. "claim" on the wire is "acknowledge" inside.
func (a *API) claimIncident(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return invalidIncidentID()
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	c, err := parseClaim(b, `"owner" field required`)
	if err != nil {
		return err
	}
	done, err := a.claim(r, c, []incidents.ID{incidents.ID(id)})
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, record{{"incident_id", id}, {"owner", c.raw}, {"active", done[0].Active}})
	return nil
}

func (a *API) claimIncidents(w http.ResponseWriter, r *http.Request) error {
	const missing = "Missing owner or incident_ids fields"
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
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
	wire.JSON(w, http.StatusOK, record{{"owner", c.raw}, {"claimed", claimed}, {"unclaimed", unclaimed}})
	return nil
}

func incidentIDs(b body, missing string) ([]incidents.ID, error) {
	raw, ok := b.members["incident_ids"]
	if !ok {
		return nil, fault.Invalidf("incident_ids", "%s", missing)
	}
	var given []json.RawMessage
	if isNull(raw) || json.Unmarshal(raw, &given) != nil {
		return nil, fault.Invalidf("incident_ids", "incident_ids must be a list of incident ids")
	}
	if len(given) > maxClaims {
		return nil, fault.Invalidf("incident_ids", "incident_ids must not name more than %d incidents", maxClaims)
	}
	ids := make([]incidents.ID, 0, len(given))
	seen := map[int64]bool{}
	for _, g := range given {
		n, ok := integer(g)
		if !ok {
			return nil, fault.Invalidf("incident_ids", "incident_ids must be a list of incident ids")
		}
		if !seen[n] {
			seen[n] = true
			ids = append(ids, incidents.ID(n))
		}
	}
	return ids, nil
}

// claim checks everything before it changes anything: who asks, the incidents, the owner.
func (a *API) claim(r *http.Request, c claim, ids []incidents.ID) ([]incidents.Acknowledged, error) {
	ctx := r.Context()
	owner, unknown := lookUp(ctx, a.People, c.owner)
	if unknown != nil && !fault.Is(unknown, fault.NotFound) {
		return nil, unknown
	}
	if c.owner != "" && !wire.Actor(ctx).MayClaimFor(owner, a.Config.Openings) {
		return nil, fault.New(fault.Unauthenticated, "Invalid claimer for this app/user")
	}
	if err := a.allExist(ctx, ids); err != nil {
		return nil, err
	}
	var done []incidents.Acknowledged
	var err error
	switch {
	case c.owner == "":
		done, err = a.Incidents.Reopen(ctx, a.change(r, ids...))
	case unknown != nil || !owner.Active:
		return nil, noSuchOwner()
	default:
		done, err = a.Incidents.Acknowledge(ctx, a.change(r, ids...), owner)
	}
	if err != nil {
		return nil, err
	}
	for _, d := range done {
		if !d.Found {
			return nil, noSuchIncident()
		}
	}
	if len(done) != len(ids) {
		return nil, noSuchIncident()
	}
	a.wake(ctx, done)
	return done, nil
}

func (a *API) allExist(ctx context.Context, ids []incidents.ID) error {
	values := make([]any, len(ids))
	for i, id := range ids {
		values[i] = int64(id)
	}
	found, err := a.Incidents.List(ctx, filters.Query{Conditions: []filters.Condition{{Field: "id", Op: filters.In, Values: values}}})
	if err != nil {
		return err
	}
	if len(found) != len(ids) {
		return noSuchIncident()
	}
	return nil
}

// change says who changes incidents, and how.
func (a *API) change(r *http.Request, ids ...incidents.ID) incidents.Change {
	return incidents.Change{IDs: ids, Actor: wire.Actor(r.Context()).String(), Via: incidents.ViaAPI}
}

// wake tells the processors of changed incidents.
func (a *API) wake(ctx context.Context, done []incidents.Acknowledged) {
	var set buckets.Set
	for _, d := range done {
		if d.Found {
			set.Add(int(int64(d.ID) % buckets.Count))
		}
	}
	a.Wake(set)
}
