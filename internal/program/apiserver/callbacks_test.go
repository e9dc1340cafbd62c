package apiserver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/program/config"
)

// The address of a Slack user is read from one workspace after the other, until a workspace knows the user.
func TestSlackEmail(t *testing.T) {
	t.Parallel()
	var c config.API
	back, err := newCallbacks(c)
	require.NoError(t, err)
	require.Nil(t, back.SlackPressed)
	require.Nil(t, back.SlackEmail)
	require.Nil(t, back.SlackID)
	for _, people := range []map[string]string{{"bob@example.com": "U0BOB0001"}, {"ann@example.com": "U0ANN0001"}} {
		workspace := pretend.New(pretend.Config{Slack: pretend.SlackConfig{Token: "xoxb-test", People: people,
			OnlyPeople: true}})
		require.NoError(t, workspace.Start())
		t.Cleanup(workspace.Close)
		c.Slack = append(c.Slack, config.Slack{Token: "xoxb-test", SigningSecret: "secret",
			APIURL: workspace.Slack.URL()})
	}
	back, err = newCallbacks(c)
	require.NoError(t, err)
	for id, want := range map[string]string{"U0ANN0001": "ann@example.com", "U0BOB0001": "bob@example.com"} {
		email, err := back.SlackEmail(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, email)
	}
	_, err = back.SlackEmail(t.Context(), "U0EVE0001")
	require.Error(t, err)

	for email, want := range map[string]string{"ann@example.com": "U0ANN0001", "bob@example.com": "U0BOB0001"} {
		id, err := back.SlackID(t.Context(), email)
		require.NoError(t, err)
		require.Equal(t, want, id)
	}
	_, err = back.SlackID(t.Context(), "eve@example.com")
	require.True(t, fault.Is(err, fault.NotFound), "no workspace knows eve")
	away := c
	away.Slack = append([]config.Slack{{Token: "xoxb-test", APIURL: "http://127.0.0.1:1/"}}, c.Slack...)
	back, err = newCallbacks(away)
	require.NoError(t, err)
	id, err := back.SlackID(t.Context(), "bob@example.com")
	require.NoError(t, err)
	require.Equal(t, "U0BOB0001", id)
	_, err = back.SlackID(t.Context(), "eve@example.com")
	require.True(t, fault.Is(err, fault.Unavailable), "the workspace that is away may know eve")

	c.Slack = []config.Slack{{SigningSecret: "secret"}}
	back, err = newCallbacks(c)
	require.NoError(t, err)
	require.NotNil(t, back.SlackPressed)
	require.Nil(t, back.SlackEmail, "without a token Slack cannot be asked")
	require.Nil(t, back.SlackID)
}
