package directory

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// People lists all people of a directory. An incomplete answer is an error.
type People interface {
	People(ctx context.Context) ([]Entry, error)
}

// Lists lists all mailing lists of a directory. An incomplete answer is an error.
type Lists interface {
	Lists(ctx context.Context) ([]List, error)
}

// Store reads and changes the people and lists of Iris. Apply and ApplyList are one transaction each. An Unavailable or
// Conflict fault ends the run. Any other error means that this change cannot be stored.
type Store interface {
	Known(ctx context.Context) ([]Known, error)
	Apply(ctx context.Context, c Change) error
	KnownLists(ctx context.Context) ([]KnownList, error)
	ApplyList(ctx context.Context, c ListChange) error
}

// Config of a Syncer.
type Config struct {
	// Source is LDAP or Slack.
	Source string
	Rules  Rules
	// MaxGone is how many percent of the synchronised people, lists and members may disappear in one run. 0 = 10.
	MaxGone int
	// Presets are people who always exist.
	Presets []Entry
}

// Syncer synchronises people and lists with a directory. Only one Run may be active at a time.
type Syncer struct {
	people People
	lists  Lists // nil = lists are not synchronised
	cfg    Config
}

// NewSyncer returns a Syncer. lists may be nil.
func NewSyncer(people People, lists Lists, cfg Config) *Syncer {
	if cfg.MaxGone <= 0 {
		cfg.MaxGone = 10
	}
	return &Syncer{people: people, lists: lists, cfg: cfg}
}

// Options of one run.
type Options struct {
	DryRun bool
	// AllowGone switches MaxGone off.
	AllowGone bool
}

// Report has the changes of a run; of a dry run, the changes that a run would make.
type Report struct {
	Source   string
	DryRun   bool
	Entries  int // people in the directory
	Unsynced int // active people who never were in the directory
	Changes  []Change
	Lists    []ListChange
	Problems []Problem
	// Stopped is the reason why the directory's answer was refused and nothing was changed; "" = it was accepted.
	Stopped string
	Took    time.Duration
}

// Run queries the directory, compares, and stores the changes unless this is a dry run. An error means that the
// directory or the store failed. Changes that were stored before the error stay.
func (s *Syncer) Run(ctx context.Context, store Store, o Options) (r Report, err error) {
	began := time.Now()
	r = Report{Source: s.cfg.Source, DryRun: o.DryRun}
	defer func() { r.Took = time.Since(began) }()
	entries, err := s.people.People(ctx)
	if err != nil {
		return r, fmt.Errorf("list the people of the directory: %w", err)
	}
	var lists []List
	if s.lists != nil {
		if lists, err = s.lists.Lists(ctx); err != nil {
			return r, fmt.Errorf("list the mailing lists of the directory: %w", err)
		}
	}
	people, ofLists, err := s.compare(ctx, store, entries, lists)
	if err != nil {
		return r, err
	}
	r.Entries, r.Unsynced = len(entries), people.Unsynced
	r.Changes, r.Lists = people.Changes, ofLists.Changes
	r.Problems = append(people.Problems, ofLists.Problems...)
	if r.Stopped = s.refuse(len(entries), people, ofLists, o.AllowGone); r.Stopped != "" || o.DryRun {
		return r, nil
	}
	return r, apply(ctx, store, &r)
}

func (s *Syncer) compare(ctx context.Context, store Store, entries []Entry, lists []List) (p Plan, l ListPlan, err error) {
	known, err := store.Known(ctx)
	if err != nil {
		return p, l, fmt.Errorf("read the people of Iris: %w", err)
	}
	p = Compare(s.cfg.Source, known, entries, s.cfg.Presets, s.cfg.Rules)
	if s.lists == nil {
		return p, l, nil
	}
	here, err := store.KnownLists(ctx)
	if err != nil {
		return p, l, fmt.Errorf("read the mailing lists of Iris: %w", err)
	}
	return p, CompareLists(here, lists, p.People), nil
}

// refuse returns the reason to refuse an answer of the directory; "" = accept it. With missing permissions, a wrong
// base DN, or while a directory is being rebuilt, an answer looks as if most people had left.
func (s *Syncer) refuse(entries int, p Plan, l ListPlan, allowed bool) string {
	switch {
	case entries == 0:
		return "the directory returned no people: check the filter and the permissions of the user that searches"
	case allowed:
		return ""
	case s.tooMany(p.Gone, p.Synced):
		return fmt.Sprintf("%d of %d synchronised people are no longer in the directory", p.Gone, p.Synced)
	case s.tooMany(l.Gone, l.Synced):
		return fmt.Sprintf("%d of %d synchronised mailing lists are no longer in the directory", l.Gone, l.Synced)
	case s.tooMany(l.Lost, l.Members):
		return fmt.Sprintf("%d of %d members of mailing lists are no longer in the directory", l.Lost, l.Members)
	}
	return ""
}

// alwaysAllowed is how many may disappear whatever MaxGone is, unless nobody would be left.
const alwaysAllowed = 3

func (s *Syncer) tooMany(gone, of int) bool {
	if gone == of {
		return gone > 1
	}
	return gone > alwaysAllowed && gone*100 > of*s.cfg.MaxGone
}

// apply stores the changes of r. Afterwards r has only the changes that were stored.
func apply(ctx context.Context, store Store, r *Report) error {
	var err error
	if r.Changes, err = applyEach(ctx, r, r.Changes, store.Apply, func(c Change) string { return c.Name }); err != nil {
		r.Lists = nil
		return fmt.Errorf("store a person: %w", err)
	}
	if r.Lists, err = applyEach(ctx, r, r.Lists, store.ApplyList, func(c ListChange) string { return c.Name }); err != nil {
		return fmt.Errorf("store a mailing list: %w", err)
	}
	return nil
}

// applyEach stores changes and returns those that were stored. A change that cannot be stored becomes a problem of r.
// An error means that the run must end.
func applyEach[C any](ctx context.Context, r *Report, changes []C, apply func(context.Context, C) error, name func(C) string) (stored []C, err error) {
	for _, c := range changes {
		switch err := apply(ctx, c); {
		case err == nil:
			stored = append(stored, c)
		case ctx.Err() != nil, fault.Is(err, fault.Unavailable), fault.Is(err, fault.Conflict):
			return stored, err
		case fault.Is(err, fault.Invalid):
			r.Problems = append(r.Problems, Problem{Name: name(c), Text: fault.Public(err)})
		default:
			r.Problems = append(r.Problems, Problem{Name: name(c),
				Text: "the change could not be stored; the log has the reason", Err: err})
		}
	}
	return stored, nil
}
