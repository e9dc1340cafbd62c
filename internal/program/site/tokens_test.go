package site

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// noTokens has no tokens and stores none.
type noTokens struct{}

func (noTokens) Page(context.Context, users.ID, tokens.ID, int) ([]tokens.Token, error) {
	return nil, nil
}

func (noTokens) Create(_ context.Context, _ users.User, c tokens.Content, _ []byte) (tokens.Token, error) {
	return tokens.Token{Name: c.Name, ExpiresAt: time.Now().Add(c.Life)}, nil
}

func (noTokens) Revoke(context.Context, tokens.ID, users.ID, string) error { return nil }

func (noTokens) Services(context.Context, bool, []int64, tokens.ID, int) ([]tokens.Service, error) {
	return nil, nil
}

func (noTokens) Service(context.Context, tokens.ID) (tokens.Service, error) {
	return tokens.Service{}, fault.New(fault.NotFound, "there is no such token")
}

func (noTokens) CreateService(_ context.Context, s tokens.Service, _ time.Duration, _ []byte) (tokens.Service, error) {
	return s, nil
}

func (noTokens) RevokeService(context.Context, tokens.ID, string) error { return nil }

func (noTokens) ByName(context.Context, string) (users.OwningTeam, error) {
	return users.OwningTeam{}, nil
}

func (noTokens) MembershipsOf(context.Context, users.ID) ([]users.Membership, error) {
	return nil, nil
}

func (noTokens) Add(context.Context, []byte, tokens.Grant) error { return nil }

// After a log-in the browser comes back to the page with all parameters.
func TestTheLogInLeadsBackToTheCommandLine(t *testing.T) {
	t.Parallel()
	_, b := setup(t)
	path := "/login/command-line?" + url.Values{"port": {"49152"}, "state": {"a&b=c"},
		"challenge": {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"},
		"name":      {"laptop"}, "scopes": {"read"}}.Encode()
	status, body := b.get(path)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, `name="password"`)
	status, body = b.post("/login/?"+b.at.RawQuery, right)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "<bdi>laptop</bdi>")
	require.Contains(t, body, `name="state" value="a&amp;b=c"`)
	require.Contains(t, body, "1 h 0 min", "the installation allows an hour")

	allowed := b.at.Query()
	allowed.Set("answer", "allow")
	for _, path := range []string{"/login/command-line", "/tokens", "/tokens/1/revoke"} {
		status, _ = b.post(path, allowed, "Sec-Fetch-Site", "cross-site")
		require.Equal(t, http.StatusForbidden, status, "a page of another site may not post to %s", path)
	}
}
