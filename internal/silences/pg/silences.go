package pg

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/silences"
)

// Store implements silences.Store. Every change has an entry in the audit log, in the same transaction. It is safe for
// concurrent use.
type Store struct{ db *postgres.DB }

// New returns the store over d.
func New(d *postgres.DB) *Store { return &Store{db: d} }

// List implements silences.Store.
func (s *Store) List(ctx context.Context) (silences.Listed, error) {
	version, err := postgres.Read(ctx, s.db,
		(*postgresdb.Queries).SilenceVersion) // before the silences, which may be newer
	if err != nil {
		return silences.Listed{}, err
	}
	kept, err := s.read(ctx, postgresdb.SilencesParams{Kept: true, Before: math.MaxInt64, Most: silences.MostKept})
	return silences.Listed{Version: version, Silences: kept}, err
}

// Page implements silences.Store.
func (s *Store) Page(ctx context.Context, before silences.ID, includeOver bool, limit int) ([]silences.Silence, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return s.read(ctx, postgresdb.SilencesParams{Counted: true, Kept: !includeOver, Before: int64(before), Most: limit})
}

// ByID implements silences.Store.
func (s *Store) ByID(ctx context.Context, id silences.ID) (silences.Silence, error) {
	found, err := s.read(ctx, postgresdb.SilencesParams{Counted: true, ID: int64(id), Before: math.MaxInt64, Most: 1})
	if err == nil && (len(found) == 0 || id == 0) {
		err = fault.Newf(fault.NotFound, "there is no silence %d", id)
	}
	if err != nil {
		return silences.Silence{}, err
	}
	return found[0], nil
}

func (s *Store) read(ctx context.Context, p postgresdb.SilencesParams) ([]silences.Silence, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Silences, p)
	return postgres.Convert(rows, func(r postgresdb.SilencesRow) silences.Silence {
		return silences.Silence{
			Content: silences.Content{
				Scope: silences.Scope{Match: operation.Text(r.Match), Application: operation.Text(r.Application),
					Plan: operation.Text(r.Plan), Team: operation.Text(r.Team)},
				From: r.StartsAt.UTC(), To: r.EndsAt.UTC(), Recurrence: operation.Text(r.Recurrence), Zone: operation.Text(r.Zone), Comment: r.Comment,
			},
			ID: silences.ID(r.ID), Author: r.Author, CreatedAt: r.CreatedAt.UTC(), EndedAt: postgres.UTC(r.EndedAt), Hidden: int(r.Hidden),
			Applied: postgres.Deref(r.AppliedFrom), ApplicationID: r.ApplicationID, PlanIDs: r.PlanIds,
		}
	}), err
}

// Create implements silences.Store.
func (s *Store) Create(ctx context.Context, c silences.Content, author string) (silences.ID, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (silences.ID, error) {
		names, err := resolve(ctx, q, c.Scope)
		if err != nil {
			return 0, err
		}
		if err := room(ctx, q, 0, names); err != nil {
			return 0, err
		}
		id, err := q.AddSilence(ctx, postgresdb.AddSilenceParams{Match: text(c.Match),
			ApplicationID: names.ApplicationID, Plan: names.Plan,
			TeamID: names.TeamID, StartsAt: c.From, EndsAt: c.To, Recurrence: string(c.Recurrence), Zone: string(c.Zone), Comment: postgres.Storable(c.Comment),
			Author: postgres.Storable(author)})
		if err != nil {
			return 0, err
		}
		return silences.ID(id), changed(ctx, q, silences.ID(id), audit.SilenceCreated, author, c)
	})
}

// Replace implements silences.Store.
func (s *Store) Replace(ctx context.Context, id silences.ID, c silences.Content, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		names, err := resolve(ctx, q, c.Scope)
		if err != nil {
			return err
		}
		if err := room(ctx, q, id, names); err != nil {
			return err
		}
		n, err := q.ReplaceSilence(ctx, postgresdb.ReplaceSilenceParams{ID: int64(id), Match: text(c.Match),
			ApplicationID: names.ApplicationID,
			Plan:          names.Plan, TeamID: names.TeamID, StartsAt: c.From, EndsAt: c.To, Recurrence: string(c.Recurrence), Zone: string(c.Zone),
			Comment: postgres.Storable(c.Comment)})
		if err := found(n, err, id); err != nil {
			return err
		}
		if _, err := q.ReleaseOfSilence(ctx, postgresdb.ReleaseOfSilenceParams{ID: int64(id)}); err != nil {
			return err
		}
		return changed(ctx, q, id, audit.SilenceChanged, actor, c)
	})
}

// End implements silences.Store.
func (s *Store) End(ctx context.Context, before silences.Silence, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		if err := q.ChangeSilences(ctx); err != nil {
			return err
		}
		n, err := q.EndSilence(ctx, int64(before.ID))
		if err := found(n, err, before.ID); err != nil {
			return err
		}
		if _, err := q.ReleaseOfSilence(ctx, postgresdb.ReleaseOfSilenceParams{ID: int64(before.ID), SpreadSeconds: 120}); err != nil {
			return err
		}
		return changed(ctx, q, before.ID, audit.SilenceEnded, actor, before.Content)
	})
}

// Incidents implements silences.Store.
func (s *Store) Incidents(ctx context.Context, id silences.ID, application int64, before incidents.ID, limit int) ([]silences.HiddenIncident, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	ids, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).HiddenBySilence,
		postgresdb.HiddenBySilenceParams{SilenceID: int64(id), ApplicationID: application, Before: int64(before),
			Most: limit})
	return postgres.Convert(ids, func(id incidents.ID) silences.HiddenIncident { return silences.HiddenIncident{ID: id} }), err
}

// Candidates implements silences.Store.
func (s *Store) Candidates(ctx context.Context, scope silences.Scope, since time.Time, limit int) ([]silences.Candidate, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) ([]silences.Candidate, error) {
		names, err := resolve(ctx, q, scope)
		if err != nil {
			return nil, err
		}
		rows, err := q.CandidatesOfSilence(ctx, postgresdb.CandidatesOfSilenceParams{Plan: names.Plan,
			TeamID: names.TeamID, ApplicationID: names.ApplicationID,
			Since: since, Most: limit})
		return postgres.Convert(rows, func(r postgresdb.CandidatesOfSilenceRow) silences.Candidate {
			return silences.Candidate{Subject: silences.Subject{ID: r.ID, Severity: r.Severity, Context: r.Context},
				Escalating: r.Active, Recent: r.Recent}
		}), err
	})
}

// Rights implements silences.Store.
func (s *Store) Rights(ctx context.Context, person int64, teams []int64, scope silences.Scope) (silences.Rights, error) {
	r, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).RightsOfSilence,
		postgresdb.RightsOfSilenceParams{Person: person, Teams: teams,
			Application: text(scope.Application), Team: text(scope.Team), Plan: text(scope.Plan)})
	return silences.Rights(r), err
}

func text(t operation.Text) string { return postgres.Storable(string(t)) }

func found(n int64, err error, id silences.ID) error {
	if err == nil && n == 0 {
		return fault.Newf(fault.Conflict, "silence %d is over", id)
	}
	return err
}

// resolve finds what the names of a silence stand for.
func resolve(ctx context.Context, q *postgresdb.Queries, c silences.Scope) (postgresdb.NamesOfSilenceRow, error) {
	names, err := q.NamesOfSilence(ctx, postgresdb.NamesOfSilenceParams{Application: text(c.Application),
		Team: text(c.Team), Plan: text(c.Plan)})
	switch {
	case err != nil:
	case c.Application != "" && names.ApplicationID == 0:
		err = fault.Invalidf("application", "there is no application %.100q", c.Application)
	case c.Team != "" && names.TeamID == 0:
		err = fault.Invalidf("team", "there is no team %.100q", c.Team)
	case c.Plan != "" && names.Plan == "":
		err = fault.Invalidf("plan", "there is no active plan %.100q", c.Plan)
	}
	return names, err
}

// room locks the silences against other changes, makes running searches end, and returns a Conflict fault if there are
// too many for a silence with these names. id is its number if it is stored already.
func room(ctx context.Context, q *postgresdb.Queries, id silences.ID, names postgresdb.NamesOfSilenceRow) error {
	if err := q.ChangeSilences(ctx); err != nil {
		return err
	}
	n, err := q.OtherSilences(ctx, postgresdb.OtherSilencesParams{ID: int64(id), TeamID: names.TeamID,
		ApplicationID: names.ApplicationID, Plan: names.Plan})
	switch {
	case err != nil:
		return err
	case n.AllOfThem >= silences.MostKept:
		return fault.Newf(fault.Conflict, "%d silences are in force or planned, which is the limit: end some first",
			silences.MostKept)
	case n.OfTeam >= silences.MostOfOne:
		return tooMany("team")
	case n.OfApplication >= silences.MostOfOne:
		return tooMany("application")
	case n.OfPlan >= silences.MostOfOne:
		return tooMany("plan")
	}
	return nil
}

func tooMany(field string) error {
	return &fault.Error{Kind: fault.Conflict, Field: field,
		Message: fmt.Sprintf("%d silences of the %s are in force or planned, which is the limit: end some first",
			silences.MostOfOne, field)}
}

// changed records a change.
func changed(ctx context.Context, q *postgresdb.Queries, id silences.ID, action audit.Action, actor string, c silences.Content) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: fmt.Sprintf("silence %d", id),
		Detail: c.String(), Wide: c.Wide()})
}
