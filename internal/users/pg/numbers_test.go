package pg_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

func TestStoredNumbersAreRewrittenOnce(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ann, ben, eve := f.add("ann"), f.add("ben"), f.add("eve")
	require.NoError(t, f.users.SetContact(t.Context(), ann.ID, users.SMS, "+44 (0)20 7946 0958"))
	require.NoError(t, f.users.SetContact(t.Context(), ann.ID, users.Call, "+15551234567"))
	require.NoError(t, f.users.SetContact(t.Context(), ben.ID, users.SMS, "079 123 45 67"))
	require.NoError(t, f.users.SetContact(t.Context(), eve.ID, users.Call, "ask Ben"))

	changed, unreadable, err := f.contacts.RewriteNumbers(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 1, changed)
	require.Equal(t, []string{"ben", "eve"}, unreadable, "no region is configured")
	f.is("ann", users.SMS, "+442079460958")
	listed, err := f.contacts.Failing(t.Context(), "", "", 10)
	require.NoError(t, err)
	require.Len(t, listed, 2)
	require.Equal(t, "ben", listed[0].Person)
	require.Contains(t, listed[0].Failing, "set phone_region")
	next, err := f.contacts.Failing(t.Context(), "ben", users.SMS, 10)
	require.NoError(t, err)
	require.Equal(t, listed[1:], next)

	changed, unreadable, err = f.contacts.RewriteNumbers(t.Context(), "CH")
	require.NoError(t, err)
	require.Equal(t, 1, changed)
	require.Equal(t, []string{"eve"}, unreadable)
	f.is("ben", users.SMS, "+41791234567")

	changed, unreadable, err = f.contacts.RewriteNumbers(t.Context(), "CH")
	require.NoError(t, err)
	require.Zero(t, changed)
	require.Equal(t, []string{"eve"}, unreadable)
}

func TestNumbersThatLookInternational(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	ann, ben := f.add("ann"), f.add("ben")
	require.NoError(t, f.users.SetContact(t.Context(), ann.ID, users.SMS, "+4402079460958"))
	require.NoError(t, f.users.SetContact(t.Context(), ben.ID, users.SMS, "+15551234"))
	changed, unreadable, err := f.contacts.RewriteNumbers(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, 1, changed)
	require.Equal(t, []string{"ben"}, unreadable)
	f.is("ann", users.SMS, "+442079460958")
	f.fails("ben", users.SMS, "is not possible")
	require.NoError(t, f.users.SetContact(t.Context(), ben.ID, users.SMS, "+15551234567"))
	f.fails("ben", users.SMS, "")
}

// contact returns the contact of a person in a mode.
func (f *contactsFixture) contact(name string, mode users.Mode) users.Contact {
	f.Helper()
	p, err := f.people.ByName(f.Context(), name)
	require.NoError(f, err)
	found, err := f.contacts.List(f.Context(), p.ID)
	require.NoError(f, err)
	i := slices.IndexFunc(found, func(c users.Contact) bool { return c.Mode == mode })
	require.GreaterOrEqual(f, i, 0)
	return found[i]
}

// fails requires the reason that is shown for a contact; "" = none.
func (f *contactsFixture) fails(name string, mode users.Mode, want string) {
	f.Helper()
	why := f.contact(name, mode).Failing
	require.Equal(f, want == "", why == "", why)
	require.Contains(f, why, want)
}

func TestNamesOfSlackAreResolved(t *testing.T) {
	t.Parallel()
	f := newContacts(t)
	workspace := pretend.NewSlack(pretend.SlackConfig{Token: "xoxb-1", OnlyPeople: true, People: map[string]string{
		"ann@example.com": "U0000ANN", "ben2@example.com": "U0000BEN", "kim@example.com": "U0000KIM",
	}}, nil)
	require.NoError(t, workspace.Start())
	t.Cleanup(workspace.Close)
	vendor, err := slack.New(slack.Config{Token: "xoxb-1", APIURL: workspace.URL()})
	require.NoError(t, err)
	for _, c := range []struct {
		name, slack, email       string
		slackMarked, emailMarked bool
	}{
		{"ann", "@ann", "ann@example.com", true, true}, {"ben", "ben", "ben2@example.com", true, false}, {"cat",
			"@cat", "", true, false},
		{"dan", "dan", "dan@example.com", true, true}, {"eve", "#ops", "", false, false}, {"fay", "U12345678", "",
			false, false},
		{"gus", "gus@example.com", "", false, false}, {"kim", "kim", "kim@example.com", false, true},
	} {
		id := f.add(c.name).ID
		require.NoError(t, f.contacts.Set(t.Context(), id, users.Contact{Mode: users.Slack, Destination: c.slack},
			c.slackMarked, "root"))
		require.NoError(t, f.contacts.Set(t.Context(), id, users.Contact{Mode: users.Email, Destination: c.email},
			c.emailMarked, "root"))
	}
	names := pg.SlackNames{ID: vendor.Resolve, Most: 2}
	workspace.Behave(pretend.Behaviour{Do: pretend.Reject, Code: "invalid_auth", To: "lookup", Times: 1})
	_, next, err := f.contacts.ResolveSlackNames(t.Context(), names, 0)
	require.ErrorContains(t, err, "invalid_auth", "an account that fails condemns no contact")
	require.Zero(t, next)
	f.fails("ann", users.Slack, "")

	workspace.Behave(pretend.Behaviour{Do: pretend.Throttle, Times: 1, To: "lookup", RetryAfter: 1})
	began := time.Now()
	all := 0
	for next = 0; ; {
		var n int
		n, next, err = f.contacts.ResolveSlackNames(t.Context(), names, next)
		require.NoError(t, err)
		if all += n; next == 0 {
			break
		}
	}
	require.GreaterOrEqual(t, time.Since(began), time.Second, "Retry-After is respected")
	require.Equal(t, 3, all)
	for name, want := range map[string]users.Contact{
		"ann": {Destination: "U0000ANN",
			Verified: true}, "ben": {Destination: "U0000BEN"}, "kim": {Destination: "U0000KIM"},
		"gus": {Destination: "gus@example.com"}, "eve": {Destination: "#ops"}, "fay": {Destination: "U12345678"},
	} {
		want.Mode = users.Slack
		require.Equal(t, want, f.contact(name, users.Slack))
	}
	f.fails("cat", users.Slack, "no e-mail contact")
	f.fails("dan", users.Slack, "nobody in Slack")
}
