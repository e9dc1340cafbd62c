package slack_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

func TestPeople(t *testing.T) {
	t.Parallel()
	workspace := pretend.NewSlack(pretend.SlackConfig{Token: "xoxb-1", PageSize: 2, Members: []pretend.SlackMember{
		{ID: "USLACKBOT", Name: "slackbot"},
		{ID: "U1", Name: "ann", RealName: "Ann Lee", Email: "ann@example.com", Phone: "+1 555 123 4567",
			Image: "https://x/ann.png"},
		{ID: "U2", Name: "left", Deleted: true}, {ID: "U3", Name: "robot", Bot: true}, {ID: "U4", Name: "bob"},
	}}, nil)
	require.NoError(t, workspace.Start())
	t.Cleanup(workspace.Close)
	v, err := slack.New(slack.Config{Token: "xoxb-1", APIURL: workspace.URL()})
	require.NoError(t, err)

	want := []directory.Entry{
		{Ref: "U1", Stable: "U1", Name: "ann", FullName: "Ann Lee", Email: "ann@example.com", Phone: "+1 555 123 4567",
			SlackName: "ann", PhotoURL: "https://x/ann.png"},
		{Ref: "U4", Stable: "U4", Name: "bob", SlackName: "bob"},
	}
	got, err := v.People(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got, "of three pages")

	workspace.Behave(pretend.Behaviour{Do: pretend.Throttle, Times: 1, To: "lookup", RetryAfter: 1})
	got, err = v.People(t.Context())
	require.NoError(t, err)
	require.Equal(t, want, got, "asked slower")

	workspace.Behave(pretend.Behaviour{Do: pretend.Throttle, To: "lookup", RetryAfter: 60})
	ctx, cancel := contextOf(t, 50*time.Millisecond)
	defer cancel()
	_, err = v.People(ctx)
	require.True(t, fault.Is(err, fault.Unavailable), "%v", err)
	for _, b := range []pretend.Behaviour{{Do: pretend.Reject, Code: "missing_scope"}, {Do: pretend.Garbage}, {Do: pretend.Fail}} {
		b.To = "lookup"
		workspace.Behave(b)
		_, err = v.People(t.Context())
		require.True(t, fault.Is(err, fault.Unavailable), "%v: %v", b, err)
		require.NotContains(t, err.Error(), "xoxb-1")
	}
}
