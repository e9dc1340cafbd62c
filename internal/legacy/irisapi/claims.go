package irisapi

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

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
	return routing.Answer(w, http.StatusOK, Record{{"incident_id", id}, {"owner", c.raw}, {"active", done[0].Escalating}})
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
			if d.Escalating {
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
	b.Check(len(given) <= incidents.MaxTogether, fault.Invalidf("incident_ids",
		"incident_ids must not name more than %d incidents", incidents.MaxTogether))
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

// claim claims incidents, or takes the claims back. A caller who may not act for the owner is refused first.
func (a claims) claim(r *http.Request, c claim, ids []incidents.ID) ([]incidents.Outcome, error) {
	ctx, several := r.Context(), incidents.Several{Incidents: ids}
	if c.owner == "" {
		done, err := a.Operations.Unacknowledge.DoValid(ctx, a.caller(ctx), several)
		return done.Items, a.noSuchIncident(ctx, err)
	}
	owner, err := Person(ctx, a.People, c.owner)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, err
	}
	by := wire.Actor(ctx).Claimer(a.Openings)
	if !auth.MayActAs(by, owner) {
		return nil, fault.New(fault.Unauthenticated, "Invalid claimer for this app/user")
	}
	done, err := a.Operations.AcknowledgeSeveral.DoValid(ctx, by, incidents.ClaimOfSeveral{Several: several,
		Claimant: incidents.Claimant{Owner: operation.Text(c.owner)}})
	return done.Items, a.noSuchIncident(ctx, fault.When(err, fault.Invalid, noSuchOwner()))
}

func (a claims) resolve(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	b := ReadBody(w, r, "")
	b.Check(b.Has("resolved"), fault.Invalidf("resolved", "resolved field required"))
	if err := b.Err(); err != nil {
		return err
	}
	raw, change := b.Members["resolved"], a.Operations.Unresolve
	if Truthy(raw) {
		change = a.Operations.Resolve
	}
	_, err := change.DoValid(r.Context(), a.caller(r.Context()), incidents.One{ID: id})
	return Answer(w, Record{{"incident_id", strconv.FormatInt(int64(id), 10)}, {"resolved", raw}},
		a.noSuchIncident(r.Context(), err))
}

// set sets the step of an incident and whether the incident escalates.
func (a states) set(w http.ResponseWriter, r *http.Request, id incidents.ID) error {
	b := ReadBody(w, r, "")
	step := b.Whole("current_step", 0, math.MaxInt16)
	b.Check(b.Given("active"), b.Fault("active", "%s is required", "active"))
	if err := b.Err(); err != nil {
		return err
	}
	by := a.caller(r.Context())
	by.Application, by.ApplicationName = 0, "" // an internal application controls every incident
	_, err := a.Operations.Move.DoValid(r.Context(), by, incidents.Moving{One: incidents.One{ID: id},
		Body: incidents.Place{Step: int(step), Escalating: Truthy(b.Members["active"])}})
	return Done(w, fault.When(err, fault.Conflict, fault.Invalidf("active", "A resolved incident cannot escalate")))
}
