package auth

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

type fakeApplications map[string]Application

func (f fakeApplications) ByName(_ context.Context, name string) (Application, error) {
	if name == "broken" {
		return Application{}, fault.New(fault.Unavailable, "database away")
	}
	app, ok := f[strings.ToLower(name)]
	if !ok {
		return Application{}, fault.New(fault.NotFound, "no such application")
	}
	return app, nil
}

var testApps = fakeApplications{
	"demo":    {ID: 1, Name: "demo", Keys: []string{"primary", "secondary"}},
	"one":     {ID: 2, Name: "one", Keys: []string{"", "only"}},
	"none":    {ID: 3, Name: "none"},
	"trusted": {ID: 4, Name: "trusted", Keys: []string{"k"}, AllowAuthenticatingUsers: true},
}

// signed returns the header for any time window.
func signed(app, key string, window int64, path string, r SignedRequest) string {
	return "hmac " + app + ":" + sign(key, window, path, r)
}

func TestAuthenticate(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_004, 0)
	five, thirty := now.Unix()/5, now.Unix()/30
	r := SignedRequest{Method: "POST", Path: "/v0/incidents", RawQuery: "a=1", Body: []byte(`{"plan":"x"}`)}
	get := SignedRequest{Method: "GET", Path: "/v0/plans/a b", WirePath: "/v0/plans/a%20b"}
	user := r
	user.Username = "ann"
	other := r
	other.Body = []byte(`{"plan":"y"}`)

	for name, c := range map[string]struct {
		header string
		r      SignedRequest
		app    string
		err    error
	}{
		"primary key":              {signed("demo", "primary", five, r.Path, r), r, "demo", nil},
		"secondary key":            {signed("demo", "secondary", five, r.Path, r), r, "demo", nil},
		"previous 5 s":             {signed("demo", "primary", five-1, r.Path, r), r, "demo", nil},
		"this 30 s":                {signed("demo", "primary", thirty, r.Path, r), r, "demo", nil},
		"previous 30 s":            {signed("demo", "primary", thirty-1, r.Path, r), r, "demo", nil},
		"older 5 s":                {signed("demo", "primary", five-2, r.Path, r), r, "", ErrDigest},
		"future 5 s":               {signed("demo", "primary", five+1, r.Path, r), r, "", ErrDigest},
		"future 30 s":              {signed("demo", "primary", thirty+1, r.Path, r), r, "", ErrDigest},
		"older 30 s":               {signed("demo", "primary", thirty-2, r.Path, r), r, "", ErrDigest},
		"other key":                {signed("demo", "geheim", five, r.Path, r), r, "", ErrDigest},
		"other body":               {signed("demo", "primary", five, r.Path, other), r, "", ErrDigest},
		"decoded path":             {signed("demo", "primary", five, get.Path, get), get, "demo", nil},
		"path on the wire":         {signed("demo", "primary", five, get.WirePath, get), get, "demo", nil},
		"name in another case":     {signed("DEMO", "primary", five, r.Path, r), r, "demo", nil},
		"absent primary":           {signed("one", "only", five, r.Path, r), r, "one", nil},
		"empty key is no key":      {signed("one", "", five, r.Path, r), r, "", ErrDigest},
		"no keys at all":           {signed("none", "", five, r.Path, r), r, "", ErrDigest},
		"the text None is no key":  {signed("none", "None", five, r.Path, r), r, "", ErrDigest},
		"user by trusted app":      {signed("trusted", "k", five, r.Path, user), user, "trusted", nil},
		"user by other app":        {signed("demo", "primary", five, r.Path, user), user, "", ErrNoUserPower},
		"user not signed":          {signed("trusted", "k", five, r.Path, r), user, "", ErrDigest},
		"signed user, header lost": {signed("trusted", "k", five, r.Path, user), r, "", ErrDigest},
		"no header":                {"", r, "", operation.ErrUnknown},
		"another scheme":           {"Bearer x", r, "", operation.ErrUnknown},
		"no colon":                 {"hmac demo", r, "", ErrNoDigest},
		"unknown application":      {"hmac nobody:x", r, "", ErrDigest},
		"empty digest":             {"hmac demo:", r, "", ErrDigest},
		"digest without its filler": {strings.TrimRight(signed("demo", "primary", five, r.Path, r), "="), r, "",
			ErrDigest},
	} {
		c.r.Authorization = c.header
		app, err := Authenticate(t.Context(), testApps, c.r, now)
		if c.err != nil {
			require.ErrorIs(t, err, c.err, name)
			require.True(t, fault.Is(err, fault.Unauthenticated), name)
		} else {
			require.NoError(t, err, name)
		}
		require.Equal(t, c.app, app.Name, name)
	}

	r.Authorization = "hmac broken:x"
	_, err := Authenticate(t.Context(), testApps, r, now)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.False(t, fault.Is(err, fault.Unauthenticated))
}

// The digest was computed by another implementation (Python's hmac module).
func TestSignKnownAnswer(t *testing.T) {
	t.Parallel()
	r := SignedRequest{
		Method: "POST", Path: "/v0/incidents", RawQuery: "x=a%20b", Body: []byte(`{"plan":"é"}`), Username: "ann",
	}
	require.Equal(t, "hmac demo:7aGIhxtJ9adf68itIdrW0k_tWr1Zz0XyHwnpwSxIQhvnU5J4G85SuL9IV4H-OCCNgU1xCUouQBl59tnFVcI0wg==", Sign("demo", "demo-key", r, time.Unix(1_700_000_000, 0)))
}

func TestAuthenticateKey(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"primary", "secondary"} {
		app, err := AuthenticateKey(t.Context(), testApps, "demo", key, Openings{})
		require.NoError(t, err)
		require.EqualValues(t, 1, app.ID)
	}
	for _, c := range []struct {
		app, key string
		err      error
	}{
		{"nobody", "x", ErrWebhookKey}, {"nobody", "", ErrWebhookKey}, {"demo", "x", ErrWebhookKey}, {"demo", "",
			ErrWebhookKey},
		{"one", "", ErrWebhookKey}, {"none", "None", ErrWebhookKey}, {"none", "", ErrWebhookKey},
	} {
		_, err := AuthenticateKey(t.Context(), testApps, c.app, c.key, Openings{})
		require.ErrorIs(t, err, c.err, c)
	}
}

// For an unknown application as many signatures are computed as for a known one, so that the time does not reveal which
// exist.
func TestRefusalsOfUnknownApplicationsDoTheSameWork(t *testing.T) {
	t.Parallel()
	unknown, err := Lookup(t.Context(), testApps, "nobody")
	require.NoError(t, err)
	for _, name := range []string{"demo", "one", "none"} {
		known, err := Lookup(t.Context(), testApps, name)
		require.NoError(t, err)
		require.Len(t, unknown.candidateKeys(), len(known.candidateKeys()), name)
	}
	require.False(t, unknown.HasKey(""))
	_, err = Lookup(t.Context(), testApps, "broken")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
}

func FuzzParseAuthorization(f *testing.F) {
	for _, s := range []string{"", "hmac ", "hmac a:b", "hmac a:b:c", "hmac :x", "Hmac a:b", "hmac\x00a:b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		app, digest, err := ParseAuthorization(header)
		if err != nil {
			require.True(t, errors.Is(err, operation.ErrUnknown) || errors.Is(err, ErrNoDigest))
			return
		}
		require.Equal(t, header, "hmac "+app+":"+digest)
		require.NotContains(t, app, ":")
		require.NotEmpty(t, app)
		require.False(t, testApps["demo"].Signed(SignedRequest{Method: "GET", Path: "/"}, digest, time.Unix(1, 0)))
	})
}

func TestWithAuthenticationSwitchedOff(t *testing.T) {
	t.Parallel()
	app, err := AuthenticateKey(t.Context(), testApps, "demo", "any", Openings{NoCredentials: true})
	require.NoError(t, err)
	require.Equal(t, "demo", app.Name)
	_, err = AuthenticateKey(t.Context(), testApps, "nope", "any", Openings{NoCredentials: true})
	require.ErrorIs(t, err, ErrNoApplication)
	for _, c := range []struct {
		authorization, username, app string
		err                          error
	}{
		{"", "", "", nil},
		{"hmac demo:whatever", "", "demo", nil},
		{"hmac demo", "", "demo", nil},
		{"hmac demo:x", "ann", "demo", nil},
		{"hmac nope:x", "", "", ErrNoApplication},
		{"hmac ", "", "", nil},
		{"", "ann", "", ErrNoApplication}, // no application for web sessions here
	} {
		app, err := Unverified(t.Context(), testApps, SignedRequest{Authorization: c.authorization,
			Username: c.username})
		require.ErrorIs(t, err, c.err, "%+v", c)
		require.Equal(t, c.app, app.Name, "%+v", c)
	}
	none, off := Actor{}, Openings{NoCredentials: true}
	require.NoError(t, none.MayRead(off))
	require.NoError(t, none.MayCall(off))
	require.NoError(t, none.MayTry(off))
	require.ErrorIs(t, none.MayCall(Openings{AnonymousReads: true}), operation.ErrUnknown)
	require.ErrorIs(t, none.MayTry(Openings{AnonymousReads: true}), operation.ErrUnknown)
	require.ErrorIs(t, Actor{Username: "x", ReadOnly: true}.MayTry(off), operation.ErrReadOnly)
	require.False(t, none.MayActAs(users.User{ID: 1, Name: "ann"}, off))
}
