// Package silences stores silences, and hides and releases incidents for them. Intake, the processors, /v1 and the pages use it.
package silences

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/audit"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/auditlog"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/users"
)

// Silences stores silences. Every change has an entry in the audit log, in the same transaction. It is safe for concurrent use.
type Silences struct{ db *postgres.DB }

// New returns the adapter over d.
func New(d *postgres.DB) *Silences { return &Silences{db: d} }

// mostKept is how many silences can be in force or planned, and mostOfOne how many of them with the same team, application or plan.
const (
	mostKept  = 10_000
	mostOfOne = 500
)

// List implements silences.Lister.
func (s *Silences) List(ctx context.Context) (silences.List, error) {
	version, err := postgres.Read(ctx, s.db, (*db.Queries).SilenceVersion) // before the silences, which may be newer
	if err != nil {
		return silences.List{}, err
	}
	kept, err := s.read(ctx, db.SilencesParams{Kept: true, Before: math.MaxInt64, Most: mostKept})
	return silences.List{Version: version, Silences: kept}, err
}

// Page returns at most so many silences, newest first, that are older than one. kept leaves out those that are over.
func (s *Silences) Page(ctx context.Context, before silences.ID, kept bool, most int) ([]silences.Silence, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	return s.read(ctx, db.SilencesParams{Counted: true, Kept: kept, Before: int64(before), Most: int32(most)})
}

// ByID returns a silence. An unknown number is a NotFound fault.
func (s *Silences) ByID(ctx context.Context, id silences.ID) (silences.Silence, error) {
	found, err := s.read(ctx, db.SilencesParams{Counted: true, ID: int64(id), Before: math.MaxInt64, Most: 1})
	if err == nil && (len(found) == 0 || id == 0) {
		err = fault.Newf(fault.NotFound, "there is no silence %d", id)
	}
	if err != nil {
		return silences.Silence{}, err
	}
	return found[0], nil
}

func (s *Silences) read(ctx context.Context, p db.SilencesParams) ([]silences.Silence, error) {
	rows, err := postgres.Query(ctx, s.db, (*db.Queries).Silences, p)
	return postgres.Convert(rows, func(r db.SilencesRow) silences.Silence {
		return silences.Silence{
			Content: silences.Content{Match: r.Match, Application: r.Application, Plan: r.Plan, Team: r.Team, From: r.StartsAt, To: r.EndsAt,
				Recurrence: r.Recurrence, Zone: r.Zone, Comment: r.Comment},
			ID: silences.ID(r.ID), Author: r.Author, CreatedAt: r.CreatedAt, EndedAt: postgres.Deref(r.EndedAt), Hidden: int(r.Hidden), Applied: postgres.Deref(r.AppliedFrom),
			ApplicationID: r.ApplicationID, PlanIDs: r.PlanIds,
		}
	}), err
}

// Create stores a silence. A name of its content that does not exist is an Invalid fault. If so many silences are kept that another one
// would not be read, it is a Conflict fault.
func (s *Silences) Create(ctx context.Context, c silences.Content, author string) (silences.ID, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) (silences.ID, error) {
		names, err := resolve(ctx, q, c)
		if err != nil {
			return 0, err
		}
		if err := room(ctx, q, 0, names); err != nil {
			return 0, err
		}
		id, err := q.AddSilence(ctx, db.AddSilenceParams{Match: postgres.Storable(c.Match), ApplicationID: names.ApplicationID, Plan: names.Plan,
			TeamID: names.TeamID, StartsAt: c.From, EndsAt: c.To, Recurrence: c.Recurrence, Zone: c.Zone, Comment: postgres.Storable(c.Comment),
			Author: postgres.Storable(author)})
		if err != nil {
			return 0, err
		}
		return silences.ID(id), changed(ctx, q, silences.ID(id), audit.SilenceCreated, author, c)
	})
}

// Replace stores the content of a silence that is not over. The incidents that it hides are searched again.
func (s *Silences) Replace(ctx context.Context, id silences.ID, c silences.Content, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		names, err := resolve(ctx, q, c)
		if err != nil {
			return err
		}
		if err := room(ctx, q, id, names); err != nil {
			return err
		}
		n, err := q.ReplaceSilence(ctx, db.ReplaceSilenceParams{ID: int64(id), Match: postgres.Storable(c.Match), ApplicationID: names.ApplicationID,
			Plan: names.Plan, TeamID: names.TeamID, StartsAt: c.From, EndsAt: c.To, Recurrence: c.Recurrence, Zone: c.Zone,
			Comment: postgres.Storable(c.Comment)})
		if err := found(n, err, id); err != nil {
			return err
		}
		if _, err := q.ReleaseOfSilence(ctx, db.ReleaseOfSilenceParams{ID: int64(id)}); err != nil {
			return err
		}
		return changed(ctx, q, id, audit.SilenceChanged, actor, c)
	})
}

// End ends a silence now. Its incidents escalate within two minutes, unless another silence matches.
func (s *Silences) End(ctx context.Context, before silences.Silence, actor string) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if err := q.ChangeSilences(ctx); err != nil {
			return err
		}
		n, err := q.EndSilence(ctx, int64(before.ID))
		if err := found(n, err, before.ID); err != nil {
			return err
		}
		if _, err := q.ReleaseOfSilence(ctx, db.ReleaseOfSilenceParams{ID: int64(before.ID), SpreadSeconds: 120}); err != nil {
			return err
		}
		return changed(ctx, q, before.ID, audit.SilenceEnded, actor, before.Content)
	})
}

// Incidents returns at most so many incidents that a silence hides, newest first, that are older than one.
// application is their application; 0 = all.
func (s *Silences) Incidents(ctx context.Context, id silences.ID, application int64, before incidents.ID, most int) ([]incidents.ID, error) {
	if before == 0 {
		before = math.MaxInt64
	}
	ids, err := postgres.Query(ctx, s.db, (*db.Queries).HiddenBySilence, db.HiddenBySilenceParams{SilenceID: int64(id), ApplicationID: application, Before: int64(before), Most: int32(most)})
	return postgres.Convert(ids, func(n int64) incidents.ID { return incidents.ID(n) }), err
}

// Candidates implements silences.Reader.
func (s *Silences) Candidates(ctx context.Context, c silences.Content, since time.Time, most int) ([]silences.Candidate, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]silences.Candidate, error) {
		names, err := resolve(ctx, q, c)
		if err != nil {
			return nil, err
		}
		rows, err := q.CandidatesOfSilence(ctx, db.CandidatesOfSilenceParams{Plan: names.Plan, TeamID: names.TeamID, ApplicationID: names.ApplicationID,
			Since: since, Most: int32(most)})
		return postgres.Convert(rows, func(r db.CandidatesOfSilenceRow) silences.Candidate {
			return silences.Candidate{Subject: silences.Subject{ID: incidents.ID(r.ID), Severity: r.Severity, Context: r.Context}, Escalating: r.Active, Recent: r.Recent}
		}), err
	})
}

// Rights implements silences.Editor.
func (s *Silences) Rights(ctx context.Context, person users.ID, teams []int64, c silences.Content) (auth.SilenceRights, error) {
	r, err := postgres.Query(ctx, s.db, (*db.Queries).RightsOfSilence, db.RightsOfSilenceParams{Person: int64(person), Teams: teams,
		Application: postgres.Storable(c.Application), Team: postgres.Storable(c.Team), Plan: postgres.Storable(c.Plan)})
	return auth.SilenceRights{OwnsApplication: r.OwnsApplication, InTeam: r.InTeam, OwnsPlan: r.OwnsPlan}, err
}

func found(n int64, err error, id silences.ID) error {
	if err == nil && n == 0 {
		return fault.Newf(fault.Conflict, "silence %d is over", id)
	}
	return err
}

// resolve finds what the names of a silence stand for.
func resolve(ctx context.Context, q *db.Queries, c silences.Content) (db.NamesOfSilenceRow, error) {
	names, err := q.NamesOfSilence(ctx, db.NamesOfSilenceParams{Application: postgres.Storable(c.Application), Team: postgres.Storable(c.Team),
		Plan: postgres.Storable(c.Plan)})
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

// room locks the silences against other changes, makes running searches end, and returns a Conflict fault if there are too many for a silence with these names. id is its number
// if it is stored already.
func room(ctx context.Context, q *db.Queries, id silences.ID, names db.NamesOfSilenceRow) error {
	if err := q.ChangeSilences(ctx); err != nil {
		return err
	}
	n, err := q.OtherSilences(ctx, db.OtherSilencesParams{ID: int64(id), TeamID: names.TeamID, ApplicationID: names.ApplicationID, Plan: names.Plan})
	switch {
	case err != nil:
		return err
	case n.AllOfThem >= mostKept:
		return fault.Newf(fault.Conflict, "%d silences are in force or planned, which is the limit: end some first", mostKept)
	case n.OfTeam >= mostOfOne:
		return tooMany("team")
	case n.OfApplication >= mostOfOne:
		return tooMany("application")
	case n.OfPlan >= mostOfOne:
		return tooMany("plan")
	}
	return nil
}

func tooMany(field string) error {
	return &fault.Error{Kind: fault.Conflict, Field: field, Message: fmt.Sprintf("%d silences of the %s are in force or planned, which is the limit: end some first",
		mostOfOne, field)}
}

// changed records a change.
func changed(ctx context.Context, q *db.Queries, id silences.ID, action audit.Action, actor string, c silences.Content) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: fmt.Sprintf("silence %d", id),
		Detail: c.String(), Wide: c.Wide()})
}
