package apiserver

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/program/servertest"
)

// With authentication switched off, a server accepts only connections from its own machine, and accepts every user
// there.
func TestAuthenticationIsSwitchedOffOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.URL(t)
	off := config.Compatibility{DisableAuth: true}
	for _, c := range []config.API{
		{Common: servertest.Common(databaseURL), HTTP: config.HTTP{Addr: ":0"}, Compatibility: off},
		{Common: servertest.Common(databaseURL), HTTP: config.HTTP{Addr: "0.0.0.0:0"}, Compatibility: off},
	} {
		_, err := New(c, server.Deps{Log: servertest.Log(t)})
		require.ErrorContains(t, err, "other machines can reach")
	}
	open := servertest.Common(databaseURL)
	open.Admin.Addr = ":0"
	_, err := New(config.API{Common: open, HTTP: config.HTTP{Addr: "127.0.0.1:0"}, Compatibility: off},
		server.Deps{Log: servertest.Log(t)})
	require.ErrorContains(t, err, "other machines can reach")

	db := pgtest.Open(t, databaseURL, postgres.Config{})
	_, err = db.Pool().Exec(t.Context(), "insert into users (name) values ('foo')")
	require.NoError(t, err)
	a, err := New(config.API{Common: servertest.Common(databaseURL), HTTP: config.HTTP{Addr: "127.0.0.1:0"},
		Compatibility: off}, server.Deps{Log: servertest.Log(t)})
	require.NoError(t, err)
	base := "http://" + a.Addr()
	servertest.Background(t, a.Run)
	servertest.Eventually(t, base+"/healthcheck", 200, "GOOD") // it answers when the parts are ready
	for form, status := range map[string]int{"foo": 200, "nobody": 401} {
		resp, err := http.PostForm(base+"/login", url.Values{"username": {form}, "password": {"any"}})
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, status, resp.StatusCode)
	}
	for key, status := range map[string]int{"/v0/webhooks/alertmanager?application=iris&key=any": 400, "/v0/webhooks/alertmanager?application=none&key=any": 401} {
		resp, err := http.Post(base+key, "application/json", http.NoBody)
		require.NoError(t, err)
		resp.Body.Close()
		require.Equal(t, status, resp.StatusCode)
	}
}
