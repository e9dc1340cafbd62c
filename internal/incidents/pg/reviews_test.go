package pg_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

func (p paging) text(t testing.TB, query string) (out string) {
	t.Helper()
	require.NoError(t, p.Pool().QueryRow(t.Context(), query).Scan(&out))
	return out
}

func content(title string, tags ...string) reviews.Content {
	return reviews.Content{Title: title, Text: "Text about " + title, Tags: tags, State: reviews.Draft,
		FollowUps: []reviews.FollowUp{{Title: "ticket", URL: "https://x.example/1"}}}
}

func TestAnIncidentHasOneReview(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	id := p.open(t)
	ops := reviews.New(p.in, p.in)
	ann, one := operation.Actor{Name: "ann", Role: operation.Member}, reviews.One{Incident: id}
	_, err := ops.Get.Do(t.Context(), ann, one)
	require.True(t, fault.Is(err, fault.NotFound))
	require.ErrorContains(t, err, "has no review")
	_, err = ops.Delete.Do(t.Context(), ann, reviews.Removal{One: one})
	require.True(t, fault.Is(err, fault.NotFound))
	_, err = ops.Put.Do(t.Context(), ann, reviews.Edit{One: reviews.One{Incident: 999}, Body: content("x")})
	require.True(t, fault.Is(err, fault.NotFound))

	draft, err := ops.Draft.Do(t.Context(), ann, one)
	require.NoError(t, err)
	require.Contains(t, draft.Text, "## Timeline")
	made, err := ops.Put.Do(t.Context(), ann, reviews.Edit{One: one, Body: content("Disk", "Disk", "db", "disk")})
	require.NoError(t, err)
	require.True(t, made.Made())
	require.Equal(t, []string{"db", "Disk"}, made.Tags, "each tag once, ignoring case")

	bob := operation.Actor{Name: "bob", Role: operation.Member}
	stale := reviews.Edit{One: one, State: operation.State{IfMatch: `"old"`}, Body: content("Disk 2")}
	_, err = ops.Put.Do(t.Context(), bob, stale)
	require.ErrorIs(t, err, etag.ErrStale)
	_, err = ops.Put.Do(t.Context(), bob, reviews.Edit{One: one, State: operation.State{IfNoneMatch: "*"}, Body: content("Disk 2")})
	require.ErrorIs(t, err, etag.ErrStale)
	changed, err := ops.Put.Do(t.Context(), bob, reviews.Edit{One: one, State: operation.In(made.Tag()), Body: content("Disk 2", "disk")})
	require.NoError(t, err)
	require.False(t, changed.Made())
	require.Equal(t, "ann bob", changed.Author+" "+changed.ChangedBy)
	require.Equal(t, []string{"disk"}, changed.Tags)
	require.NotEqual(t, made.Tag(), changed.Tag())

	other := operation.Actor{Name: "application other", Role: operation.Member, Application: 9999, ApplicationName: "other"}
	for _, do := range []func() error{
		func() error { _, err := ops.Get.Do(t.Context(), other, one); return err },
		func() error { _, err := ops.Draft.Do(t.Context(), other, one); return err },
		func() error { _, err := ops.Export.Do(t.Context(), other, one); return err },
		func() error {
			_, err := ops.Put.Do(t.Context(), other, reviews.Edit{One: one, Body: content("x")})
			return err
		},
		func() error { _, err := ops.Delete.Do(t.Context(), other, reviews.Removal{One: one}); return err },
	} {
		require.ErrorIs(t, do(), operation.ErrNotReached)
	}
	seen, err := ops.List.Do(t.Context(), other, reviews.Filter{})
	require.NoError(t, err)
	require.Empty(t, seen.Items)

	_, err = ops.Delete.Do(t.Context(), bob, reviews.Removal{One: one, State: operation.In(made.Tag())})
	require.ErrorIs(t, err, etag.ErrStale)
	_, err = ops.Delete.Do(t.Context(), bob, reviews.Removal{One: one})
	require.NoError(t, err)
	_, err = ops.Get.Do(t.Context(), ann, one)
	require.True(t, fault.Is(err, fault.NotFound))
	require.Equal(t, "ann review saved, bob review saved, bob review deleted", p.text(t,
		`select string_agg(actor || ' ' || action, ', ' order by id) from audit_log where object like 'review of incident%'`))
	require.Equal(t, "0", p.text(t, `select count(*)::text from tags`))
}

func TestTwoFirstReviewsDoNotOverwriteEachOther(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	id := p.open(t)
	_, err := p.in.SaveReview(t.Context(), id, content("mine"), "ann", func(tag string) error {
		require.Empty(t, tag)
		_, err := p.in.SaveReview(t.Context(), id, content("theirs"), "bob", func(string) error { return nil })
		return err
	})
	require.ErrorIs(t, err, etag.ErrStale)
	stored, err := p.in.Review(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "theirs", stored.Title)
	refusal := errors.New("no")
	_, err = p.in.SaveReview(t.Context(), id, content("mine"), "ann", func(string) error { return refusal })
	require.ErrorIs(t, err, refusal)
}

func TestReviewsAreFoundByTagTeamAndText(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	var ids []incidents.ID
	ops := reviews.New(p.in, p.in)
	ann := operation.Actor{Name: "ann", Role: operation.Member}
	for _, name := range []string{"a", "b", "c"} {
		id := p.open(t)
		ids = append(ids, id)
		c := content("100% "+name, "tag-"+name, "all")
		if name == "b" {
			c.State = reviews.Published
		}
		_, err := ops.Put.Do(t.Context(), ann, reviews.Edit{One: reviews.One{Incident: id}, Body: c})
		require.NoError(t, err)
	}
	find := func(f reviews.Filter) (out []incidents.ID, next *string) {
		found, err := ops.List.Do(t.Context(), ann, f)
		require.NoError(t, err)
		for _, one := range found.Items {
			out = append(out, one.Incident)
			require.Equal(t, 1, one.FollowUps)
		}
		return out, found.Next
	}
	all, next := find(reviews.Filter{Paging: operation.Paging{Limit: 2}})
	require.Equal(t, []incidents.ID{ids[2], ids[1]}, all)
	rest, _ := find(reviews.Filter{Paging: operation.Paging{Limit: 2, Cursor: *next}})
	require.Equal(t, []incidents.ID{ids[0]}, rest)
	for name, f := range map[string]reviews.Filter{"tag": {Tag: "TAG-B"}, "text": {Text: "ABOUT 100% b"}, "state": {Written: reviews.Published}} {
		found, _ := find(f)
		require.Equal(t, []incidents.ID{ids[1]}, found, name)
	}
	none, _ := find(reviews.Filter{Text: "100_"})
	require.Empty(t, none, "a text is no pattern")
	none, _ = find(reviews.Filter{Team: "owners"})
	require.Empty(t, none)
	_, err := p.Pool().Exec(t.Context(), `insert into teams (name) values ('owners'); insert into plan_owners select lower(p.name), t.id from plans p, teams t
		where t.name = 'owners' and p.id = (select plan_id from incidents limit 1) on conflict do nothing`)
	require.NoError(t, err)
	found, _ := find(reviews.Filter{Team: "OWNERS"})
	require.Len(t, found, 3)
}
