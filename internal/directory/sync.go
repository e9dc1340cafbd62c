package directory

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
)

// People is a directory that can list everybody. Half an answer is an error, never a short list.
type People interface {
	People(ctx context.Context) ([]Entry, error)
}

// Lists is a directory that can list its mailing lists.
type Lists interface {
	Lists(ctx context.Context) ([]List, error)
}

// Store has the people and lists of Iris. Each Apply is one transaction. A fault of kind Unavailable or Conflict means that there
// is no use in going on; any other error, that this one change cannot be stored.
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
	// MaxGone is how many percent of what the directory keeps may vanish at once. 0 = 10.
	MaxGone int
	// Presets are people who are always there.
	Presets []Entry
}

// Syncer brings people and lists in step with a directory, one run at a time.
type Syncer struct {
	people People
	lists  Lists // nil = lists are left alone
	cfg    Config
}

// NewSyncer returns a Syncer that asks people and, unless nil, lists.
func NewSyncer(people People, lists Lists, cfg Config) *Syncer {
	if cfg.MaxGone <= 0 {
		cfg.MaxGone = 10
	}
	return &Syncer{people: people, lists: lists, cfg: cfg}
}

// Options of one run.
type Options struct {
	DryRun bool
	// AllowGone believes the directory however many people it has no more.
	AllowGone bool
}

// Report says what a run changed, or would have.
type Report struct {
	Source    string
	DryRun    bool
	Entries   int // people that the directory has
	Strangers int // active people that it never had, left alone
	Changes   []Change
	Lists     []ListChange
	Problems  []Problem
	// Stopped says why the directory was not believed and nothing was changed; "" = it was.
	Stopped string
	Took    time.Duration
}

// Run asks the directory, compares and, unless this is a dry run, stores. An error means that the directory or the store
// failed; what was stored before stays, and the next run goes on from there.
func (s *Syncer) Run(ctx context.Context, store Store, o Options) (r Report, err error) {
	began := time.Now()
	r = Report{Source: s.cfg.Source, DryRun: o.DryRun}
	defer func() { r.Took = time.Since(began) }()
	entries, err := s.people.People(ctx)
	if err != nil {
		return r, fmt.Errorf("ask the directory for people: %w", err)
	}
	var lists []List
	if s.lists != nil {
		if lists, err = s.lists.Lists(ctx); err != nil {
			return r, fmt.Errorf("ask the directory for lists: %w", err)
		}
	}
	people, ofLists, err := s.compare(ctx, store, entries, lists)
	if err != nil {
		return r, err
	}
	r.Entries, r.Strangers = len(entries), people.Strangers
	r.Changes, r.Lists = people.Changes, ofLists.Changes
	r.Problems = append(people.Problems, ofLists.Problems...)
	if r.Stopped = s.odd(len(entries), people, ofLists, o.AllowGone); r.Stopped != "" || o.DryRun {
		return r, nil
	}
	return r, s.apply(ctx, store, &r)
}

func (s *Syncer) compare(ctx context.Context, store Store, entries []Entry, lists []List) (p Plan, l ListPlan, err error) {
	known, err := store.Known(ctx)
	if err != nil {
		return p, l, fmt.Errorf("read who is here: %w", err)
	}
	p = Compare(s.cfg.Source, known, entries, s.cfg.Presets, s.cfg.Rules)
	if s.lists == nil {
		return p, l, nil
	}
	here, err := store.KnownLists(ctx)
	if err != nil {
		return p, l, fmt.Errorf("read which lists are here: %w", err)
	}
	return p, CompareLists(here, lists, p.People), nil
}

// odd says why an answer of the directory is not to be believed, "" = it is. Broken rights, a wrong base or a directory that
// is being rebuilt look like everybody having left.
func (s *Syncer) odd(entries int, p Plan, l ListPlan, allowed bool) string {
	switch {
	case entries == 0:
		return "the directory has nobody: look at its filter and at the rights of its user"
	case allowed:
		return ""
	case s.tooMany(p.Gone, p.Kept):
		return fmt.Sprintf("%d of %d people are gone from the directory at once", p.Gone, p.Kept)
	case s.tooMany(l.Gone, l.Kept):
		return fmt.Sprintf("%d of %d mailing lists are gone from the directory at once", l.Gone, l.Kept)
	case s.tooMany(l.Lost, l.Members):
		return fmt.Sprintf("%d of %d members of mailing lists are gone from the directory at once", l.Lost, l.Members)
	}
	return ""
}

// smallNumber may always go, however few there are: but never all of them.
const smallNumber = 3

func (s *Syncer) tooMany(gone, of int) bool {
	if gone == of {
		return gone > 1
	}
	return gone > smallNumber && gone*100 > of*s.cfg.MaxGone
}

// apply stores the changes of r and leaves in it those that were stored.
func (s *Syncer) apply(ctx context.Context, store Store, r *Report) error {
	changes, lists := r.Changes, r.Lists
	r.Changes, r.Lists = nil, nil
	for _, c := range changes {
		ok, err := s.stored(ctx, c.Name, store.Apply(ctx, c), r)
		if err != nil {
			return fmt.Errorf("store a person: %w", err)
		}
		if ok {
			r.Changes = append(r.Changes, c)
		}
	}
	for _, c := range lists {
		ok, err := s.stored(ctx, c.Name, store.ApplyList(ctx, c), r)
		if err != nil {
			return fmt.Errorf("store a mailing list: %w", err)
		}
		if ok {
			r.Lists = append(r.Lists, c)
		}
	}
	return nil
}

// stored sorts what came of storing one change: it was stored, it alone could not be (a problem), or there is no use in going on.
func (s *Syncer) stored(ctx context.Context, name string, err error, r *Report) (bool, error) {
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil, fault.Is(err, fault.Unavailable), fault.Is(err, fault.Conflict):
		return false, err
	}
	p := Problem{Name: name, Text: "it could not be stored, the log says why", Err: err}
	if fault.Is(err, fault.Invalid) {
		p = Problem{Name: name, Text: fault.Public(err)}
	}
	r.Problems = append(r.Problems, p)
	return false, nil
}
