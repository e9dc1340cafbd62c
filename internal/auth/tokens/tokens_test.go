package tokens_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// documented is the expression of docs/tokens.md.
var documented = regexp.MustCompile(`^iris_[ps]_[0-9A-Za-z]{43}[0-9a-f]{8}$`)

func TestMakeAndHash(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../../docs/tokens.md")
	require.NoError(t, err)
	require.Contains(t, string(docs), strings.NewReplacer("^", `\b`, "$", `\b`).Replace(documented.String()))
	secret := tokens.Make(tokens.Personal)
	for _, kind := range []tokens.Kind{tokens.Personal, tokens.ForService} {
		made := tokens.Make(kind)
		require.Regexp(t, documented, made)
		require.NotEqual(t, secret, made)
		of, hash, err := tokens.Hash(made)
		require.NoError(t, err)
		require.Equal(t, kind, of)
		require.Len(t, hash, 32)
	}
	for name, bad := range map[string]string{
		"empty": "", "cut": secret[:57], "longer": secret + "0", "other kind": strings.Replace(secret, "_p_", "_s_", 1),
		"changed": "iris_p_" + strings.ToUpper(secret[7:50]) + "00000000", "another format": strings.Repeat("x", 58),
	} {
		_, _, err := tokens.Hash(bad)
		require.ErrorIs(t, err, tokens.ErrInvalid, name)
	}
}

func TestNeeded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, path string
		want         tokens.Scope
	}{
		{http.MethodGet, "/v1/incidents", tokens.Read},
		{http.MethodHead, "/api/v0/teams/x", tokens.Read},
		{http.MethodPost, "/v1/incidents/1/resolve", tokens.Incidents},
		{http.MethodPost, "/v0/incidents/", tokens.Incidents},
		{http.MethodDelete, "/v1/silences/1", tokens.Incidents},
		{http.MethodPost, "/api/v0/events", tokens.Oncall},
		{http.MethodPost, "/api/v0/teams/x/users", tokens.Oncall},
		{http.MethodPost, "/api/v0/teams/x/admins", tokens.Admin},
		{http.MethodDelete, "/api/v0/teams/x/admins/ann/", tokens.Admin},
		{http.MethodPut, "/v1/teams/x/admins/ann", tokens.Admin},
		{http.MethodDelete, "/v1/teams/x/admins/ann/", tokens.Admin},
		{http.MethodPost, "/api/v0/teams/admins/users", tokens.Oncall},
		{http.MethodPut, "/v1/teams/admins/members/ann", tokens.Oncall},
		{http.MethodPut, "/v1/plans/x", tokens.Config},
		{http.MethodPost, "/v1/plansandmore", tokens.Admin},
		{http.MethodPost, "/v1/tokens", tokens.Admin},
		{http.MethodDelete, "/v1/tokens/7", tokens.Admin},
		{http.MethodDelete, "/v1/tokens/current", tokens.Read},
		{http.MethodPut, "/v1/users/ann/contacts", tokens.Admin},
		{http.MethodPost, "/api/v0/ical_key/user/ann", tokens.Admin},
		{http.MethodGet, "/api/v0/ical_key/user/ann", tokens.Admin},
		{http.MethodGet, "/v0/applications/demo/key", tokens.Admin},
		{http.MethodHead, "/v0/applications/demo/secondary/", tokens.Admin},
		{http.MethodPost, "/v0/applications/demo/rekey", tokens.Admin},
		{http.MethodGet, "/v1/applications/demo/key", tokens.Admin},
		{http.MethodPost, "/v1/applications/demo/secondary-key", tokens.Admin},
		{http.MethodPost, "/v1/applications/demo/key/rotate", tokens.Admin},
		{http.MethodGet, "/v1/integrations/x/payloads", tokens.Admin},
		{http.MethodGet, "/v1/users/x/calendar-feed", tokens.Admin},
		{http.MethodGet, "/v1/users/x/calendar-feeds/", tokens.Admin},
		{http.MethodPost, "/v1/teams/x/calendar-feed", tokens.Admin},
		{http.MethodGet, "/v1/calendar-feeds/x", tokens.Admin},
		{http.MethodGet, "/v1/users/corp/ann/calendar-feed", tokens.Admin}, // a name with a slash
		{http.MethodGet, "/v1/teams/calendar-feed/rotations", tokens.Read},
		{"BREW", "/v1/unknown", tokens.Admin},
	} {
		require.Equal(t, c.want, tokens.Needed(c.method, c.path), "%s %s", c.method, c.path)
	}
}

func TestScopes(t *testing.T) {
	t.Parallel()
	scopes, err := tokens.ParseScopes([]string{"oncall", "read", "oncall"})
	require.NoError(t, err)
	require.Equal(t, tokens.Scopes{tokens.Oncall, tokens.Read}, scopes)
	require.False(t, scopes.OnlyRead())
	require.True(t, tokens.Scopes{tokens.Read}.OnlyRead())
	require.True(t, tokens.Scopes{tokens.Config}.Has(tokens.Read))
	require.True(t, tokens.Scopes{tokens.Admin}.Has(tokens.Config))
	require.False(t, tokens.Scopes{}.Has(tokens.Read))
	require.NoError(t, scopes.Allow(http.MethodPost, "/api/v0/events"))
	require.ErrorContains(t, scopes.Allow(http.MethodPost, "/v1/plans"), "lacks the scope config")
	_, err = tokens.ParseScopes([]string{"root"})
	require.True(t, fault.Is(err, fault.Invalid))
}

func TestContent(t *testing.T) {
	t.Parallel()
	good := tokens.Content{Name: "laptop", Scopes: tokens.Scopes{tokens.Read}, Life: time.Hour}
	require.NoError(t, good.Check(tokens.MaxLife))
	for field, change := range map[string]func(*tokens.Content){
		"name":               func(c *tokens.Content) { c.Name = " " },
		"scopes":             func(c *tokens.Content) { c.Scopes = nil },
		"expires_in_seconds": func(c *tokens.Content) { c.Life = tokens.MaxLife + 1 },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.Check(tokens.MaxLife), field)
	}
	require.ErrorContains(t, good.Check(time.Minute), "between 1 and 60")
	require.Equal(t, 90*24*time.Hour, tokens.UsualLife(tokens.MaxLife))
	require.Equal(t, time.Minute, tokens.UsualLife(time.Minute))
}
