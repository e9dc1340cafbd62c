package oncallapi_test

import (
	"bytes"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/notifications/pg"
)

// copied returns every text that ical_keys stores.
func (f *fixture) copied() []string {
	rows, err := f.db.Pool().Query(f.Context(),
		`select k.key, c.value, encode(k.key_sealed, 'escape'), encode(k.key_sealed, 'hex')
from ical_keys k cross join jsonb_each_text(to_jsonb(k)) c where c.value is not null`)
	require.NoError(f, err)
	defer rows.Close()
	var out []string
	for rows.Next() {
		values, err := rows.Values()
		require.NoError(f, err)
		for _, v := range values {
			if s, ok := v.(string); ok {
				out = append(out, s)
			}
		}
	}
	require.NoError(f, rows.Err())
	slices.Sort(out)
	return slices.Compact(out)
}

// Somebody with a copy of the database cannot open a feed: no stored text is a valid feed key.
func TestStoredFeedKeysOpenNoFeed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	mine := f.ok(bob, "POST", "/api/v0/ical_key/user/bob", "")
	teams := f.ok(bob, "POST", "/api/v0/ical_key/team/ops", "")
	stored := f.copied()
	require.Greater(t, len(stored), 6)
	for _, s := range stored {
		require.NotContains(t, s, mine)
		require.NotContains(t, s, teams)
		require.NotEqual(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+url.PathEscape(s), "").Code, "%q", s)
		require.NotEqual(t, 200, f.do(bob, "GET", "/api/v0/ical_key/key/"+url.PathEscape(s), "").Code, "%q", s)
		require.NotEqual(t, 200, f.do(bob, "DELETE", "/api/v0/ical_key/key/"+url.PathEscape(s), "").Code, "%q", s)
	}
	for _, key := range []string{mine, teams} {
		require.Equal(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+key, "").Code)
	}
	require.Equal(t, mine, f.ok(bob, "GET", "/api/v0/ical_key/user/bob", ""))
	require.Equal(t, teams, f.ok(bob, "GET", "/api/v0/ical_key/team/ops", ""))
	var listed []string
	for _, k := range decode[[]map[string]any](f, bob, "GET", "/api/v0/ical_key/requester/bob", "") {
		listed = append(listed, k["key"].(string))
	}
	require.ElementsMatch(t, []string{mine, teams}, listed)

	renewed := f.ok(bob, "POST", "/api/v0/ical_key/user/bob", "")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+mine, "").Code, "the old key")
	require.Equal(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+renewed, "").Code)
	f.ok(bob, "DELETE", "/api/v0/ical_key/key/"+teams, "")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+teams, "").Code)
	f.ok(bob, "DELETE", "/api/v0/ical_key/requester/bob", "")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+renewed, "").Code)
	require.Zero(t, f.count("select count(*) from ical_keys"))
}

// The previous release does not know the column of sealed keys. Its keys are sealed later.
func TestFeedKeysOfThePreviousReleaseAreSealed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const mine, teams = "0b1c7f5e-1111-4222-8333-444455556666", "ffff7f5e-1111-4222-8333-444455556666"
	f.exec("insert into ical_keys (key, requester_id, user_id) select '" + mine +
		"', id, id from users where name = 'bob'")
	f.exec("insert into ical_keys (key, requester_id, team_id) select '" + teams +
		"', u.id, t.id from users u, teams t where u.name = 'bob' and t.name = 'ops'")
	works := func() {
		require.Equal(t, mine, f.ok(bob, "GET", "/api/v0/ical_key/user/bob", ""))
		for _, key := range []string{mine, teams} {
			require.Equal(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+key, "").Code)
			require.Equal(t, 200, f.do(bob, "GET", "/api/v0/ical_key/key/"+key, "").Code)
		}
	}
	works()
	require.Contains(t, f.copied(), mine)

	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	notices := pg.NewNotices(f.db, keys)
	sealed, err := notices.SealKeys(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, sealed)
	for _, s := range f.copied() {
		require.NotContains(t, s, mine)
		require.NotContains(t, s, teams)
		require.NotEqual(t, 200, f.do(nobody, "GET", "/api/v0/ical/"+url.PathEscape(s), "").Code, "%q", s)
	}
	works()
	sealed, err = notices.SealKeys(t.Context())
	require.NoError(t, err)
	require.Zero(t, sealed)

	f.ok(bob, "DELETE", "/api/v0/ical_key/key/"+mine, "")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+mine, "").Code)

	// The previous release renews and removes keys by requester and calendar.
	f.exec("delete from ical_keys where team_id is not null")
	require.Equal(t, 404, f.do(nobody, "GET", "/api/v0/ical/"+teams, "").Code)

	// More than one batch.
	f.exec(`insert into users (name) select 'u' || i from generate_series(1, 1001) i;
insert into ical_keys (key, requester_id, user_id) select 'key-of-' || name, id, id from users where name ~ '^u[0-9]+$'`)
	sealed, err = notices.SealKeys(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1001, sealed)
	require.Zero(t, f.count("select count(*) from ical_keys where key_sealed is null or key like 'key-of-%'"))
	require.Equal(t, 200, f.do(nobody, "GET", "/api/v0/ical/key-of-u1001", "").Code)
}
