package directory

import (
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// company is a directory and a store, in memory.
type company struct {
	entries []Entry
	lists   []List
	known   []Known
	here    []KnownList
	failure error // error of reading people
	refuse  map[string]error
	stored  []string
}

func (c *company) People(context.Context) ([]Entry, error)          { return c.entries, c.failure }
func (c *company) Lists(context.Context) ([]List, error)            { return c.lists, nil }
func (c *company) Known(context.Context) ([]Known, error)           { return c.known, nil }
func (c *company) KnownLists(context.Context) ([]KnownList, error)  { return c.here, nil }
func (c *company) Apply(_ context.Context, ch Change) error         { return c.store(ch.Kind, ch.Name) }
func (c *company) ApplyList(_ context.Context, ch ListChange) error { return c.store(ch.Kind, ch.Name) }

func (c *company) store(kind Kind, name string) error {
	if err := c.refuse[name]; err != nil {
		return err
	}
	c.stored = append(c.stored, string(kind)+" "+name)
	return nil
}

func (c *company) run(t *testing.T, o Options) Report {
	t.Helper()
	c.stored = nil
	r, err := NewSyncer(c, c, Config{Source: LDAP, Rules: swiss}).Run(t.Context(), c, o)
	require.NoError(t, err)
	return r
}

func TestRun(t *testing.T) {
	t.Parallel()
	entries, known := many(40, "u")
	c := &company{entries: append(entries, Entry{Name: "new", Email: "new@example.com"}), known: known,
		lists:  []List{{Name: "ops", Members: []string{"u1"}}},
		refuse: map[string]error{"u1": fault.Invalidf("name", "taken")}}
	r := c.run(t, Options{DryRun: true})
	require.Empty(t, c.stored)
	require.Len(t, r.Changes, 41)
	r = c.run(t, Options{})
	require.Len(t, c.stored, 41, "40 people and a list")
	require.Len(t, r.Changes, 40)
	require.Len(t, r.Lists, 1)
	require.Equal(t, []Problem{{Name: "u1", Text: "taken"}}, r.Problems,
		"one that cannot be stored keeps nobody else from it")
	require.Equal(t, 41, r.Entries)
	require.Empty(t, r.Stopped)
	c.refuse = map[string]error{"u2": io.EOF}
	r = c.run(t, Options{})
	require.Equal(t, []Problem{{Name: "u2", Text: "the change could not be stored; the log has the reason",
		Err: io.EOF}}, r.Problems)
	require.Len(t, r.Changes, 40)

	c.refuse = map[string]error{"u1": fault.New(fault.Conflict, "the bucket is another's")}
	c.stored = nil
	_, err := NewSyncer(c, nil, Config{Source: LDAP, Rules: swiss}).Run(t.Context(), c, Options{})
	require.True(t, fault.Is(err, fault.Conflict))
	require.Less(t, len(c.stored), 5, "whoever lost the bucket stops")
	c.failure = io.ErrUnexpectedEOF
	_, err = NewSyncer(c, nil, Config{Source: LDAP, Rules: swiss}).Run(t.Context(), c, Options{})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestAnswersThatRemoveTooManyPeopleAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		people, gone int
		stops        bool
	}{
		"nobody is left":           {40, 40, true},
		"a tenth":                  {40, 4, false},
		"more than a tenth":        {40, 5, true},
		"a small number of few":    {4, 3, false},
		"all of few":               {3, 3, true},
		"the only one, and others": {1, 1, false},
	} {
		entries, known := many(tc.people, "u")
		others, _ := many(1, "other")
		c := &company{entries: append(entries[tc.gone:], others...), known: known}
		r := c.run(t, Options{})
		require.Equal(t, tc.stops, r.Stopped != "", "%s: %s", name, r.Stopped)
		require.Equal(t, tc.stops, len(c.stored) == 0, name)
		r = c.run(t, Options{AllowGone: true})
		require.Empty(t, r.Stopped, name)
		require.Len(t, c.stored, tc.people+1, name)
	}
	_, known := many(2, "u")
	c := &company{known: known}
	r := c.run(t, Options{AllowGone: true})
	require.Contains(t, r.Stopped, "no people", "an empty answer is always refused")
	require.Empty(t, c.stored)
}

func TestAnswersThatRemoveTooManyListsAreRefused(t *testing.T) {
	t.Parallel()
	entries, known := many(10, "u")
	var names []string
	for _, k := range known {
		names = append(names, k.Name)
	}
	c := &company{entries: entries, known: known, lists: []List{{Name: "a"}, {Name: "b"}},
		here: []KnownList{{ID: 1, Name: "a", Active: true, Synced: true, Members: names},
			{ID: 2, Name: "b", Active: true, Synced: true, Members: names[:2]}}}
	r := c.run(t, Options{})
	require.Contains(t, r.Stopped, "12 of 12 members")
	c.lists = nil
	r = c.run(t, Options{})
	require.Contains(t, r.Stopped, "2 of 2 synchronised mailing lists")
	require.Empty(t, c.stored)
}
