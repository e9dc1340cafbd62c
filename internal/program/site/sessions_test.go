package site

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// fakeSessions are the sessions of everybody. ended has what was ended.
type fakeSessions struct {
	list  []auth.Session
	ended []any
}

func (f *fakeSessions) OfUser(context.Context, users.ID, string) ([]auth.Session, error) {
	return f.list, nil
}

func (f *fakeSessions) End(_ context.Context, id int64, user users.ID, actor string) error {
	if id == 0 {
		return fault.New(fault.NotFound, "there is no such session")
	}
	f.ended = append(f.ended, []any{id, user, actor})
	return nil
}

func (f *fakeSessions) EndOthers(_ context.Context, u users.User, _, actor string) error {
	f.ended = append(f.ended, []any{"others", u.ID, actor})
	return nil
}

func TestPageOfSessions(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	w.sessions.list = []auth.Session{
		{ID: 7, How: "password", Address: "192.0.2.1", Device: "<b>Firefox</b> on Linux", CreatedAt: time.Now(),
			LastUsedAt: time.Now()},
		{ID: 8, Current: true, CreatedAt: time.Now(), LastUsedAt: time.Now()},
	}
	status, body := b.get("/sessions")
	require.Equal(t, 200, status)
	require.Contains(t, body, "&lt;b&gt;Firefox&lt;/b&gt; on Linux")
	require.Contains(t, body, "192.0.2.1")
	require.Contains(t, body, `action="/sessions/7/end"`)
	require.NotContains(t, body, `action="/sessions/8/end"`, "the session of this browser ends with the log-out")
	status, _ = b.get("/sessions?user=bob")
	require.Equal(t, 403, status)
	status, _ = b.post("/sessions/7/end", url.Values{})
	require.Equal(t, 200, status, "after the redirect to the list")
	status, _ = b.post("/sessions/end-others", url.Values{})
	require.Equal(t, 200, status, "after the redirect to the list")
	require.Len(t, w.sessions.ended, 2)
	status, _ = b.post("/sessions/x/end", url.Values{})
	require.Equal(t, 404, status)
}
