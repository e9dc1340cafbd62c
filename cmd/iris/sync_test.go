package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/dev/pretend"
)

func TestSync(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	start := func(members ...pretend.SlackMember) []string {
		s := pretend.NewSlack(pretend.SlackConfig{Members: members}, nil)
		require.NoError(t, s.Start())
		t.Cleanup(s.Close)
		return []string{"IRIS_DATABASE_URL=" + url, "IRIS_SLACK_TOKEN=xoxb-1", "IRIS_SLACK_API_URL=" + s.URL(),
			"IRIS_CONFIG="}
	}
	file := written(t, "sync: {from: slack, phone_region: CH}")
	ann := pretend.SlackMember{ID: "U1", Name: "ann", RealName: "Ann Lee", Email: "ann@example.com",
		Phone: "079 123 45 67"}
	two := start(ann, pretend.SlackMember{ID: "U2", Name: "bob", Phone: "ask"})

	code, out, errs := iris(t, two, "", "sync", "--config", file, "--dry-run")
	require.Zero(t, code, errs)
	require.Contains(t, out, "add     person  ann   full name, email, sms, call, slack\n")
	require.Contains(t, out, "ignored: bob: cannot be read, the stored contacts stay: call, sms\n")
	require.Contains(t, out, "Nothing was changed: this was a dry run.")
	require.NotContains(t, out, "79")
	_, out, _ = iris(t, two, "", "user", "list")
	require.NotContains(t, out, "ann")

	code, out, errs = iris(t, two, "", "sync", "--config", file, "--json")
	require.Zero(t, code, errs)
	var report syncJSON
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Positive(t, report.Seconds)
	report.Seconds = 0
	require.Equal(t, syncJSON{Source: "slack", Entries: 2, Lists: []syncChange{},
		People:   []syncChange{{"add", "ann", "full name, email, sms, call, slack"}, {"add", "bob", "slack"}},
		Problems: []syncProblem{{"bob", "cannot be read, the stored contacts stay: call, sms"}}}, report)
	_, out, _ = iris(t, two, "", "user", "list")
	require.Contains(t, out, "ann")

	other := start(pretend.SlackMember{ID: "U3", Name: "cy"})
	code, out, _ = iris(t, other, "", "sync", "--config", file)
	require.Equal(t, 3, code)
	require.Contains(t, out, "NOTHING WAS CHANGED: 2 of 2 synchronised people are no longer in the directory. If that is right: iris sync --allow-gone")
	code, out, _ = iris(t, other, "", "sync", "--config", file, "--allow-gone")
	require.Zero(t, code)
	require.Contains(t, out, "switch off  person  ann")

	code, _, errs = iris(t, other, "", "sync")
	require.Equal(t, 1, code)
	require.Contains(t, errs, "sync.from: is missing; use ldap or slack")
	code, _, errs = iris(t, other, "", "sync", "--config", written(t, "sync: {from: slack, phone_region: XX}"))
	require.Equal(t, 1, code)
	require.Contains(t, errs, "not a known country code")
}

// check-config reports errors that otherwise occur only when the directory is read.
func TestCheckConfigChecksTheDirectorySection(t *testing.T) {
	t.Parallel()
	environ := []string{"IRIS_DATABASE_URL=postgres://h/d"}
	for content, want := range map[string]string{
		"sync: {phone_region: XX}": "phone_region: \"XX\" is not a known country code, such as US",
		"auth: {ldap: {urls: ['ldaps://h'], base_dn: 'dc=x', filter: '(uid %s)'}}":                        "the filter cannot be read",
		"auth: {ldap: {urls: ['ldaps://h'], base_dn: 'dc=x'}}\nsync: {from: ldap, filter: '(&(a=b)(c))'}": "the filter cannot be read",
	} {
		code, _, errs := iris(t, environ, "", "check-config", "--config", written(t, content))
		require.Equal(t, 1, code, content)
		require.Contains(t, errs, want, content)
	}
	code, _, errs := iris(t, environ, "", "check-config", "--config",
		written(t, "auth: {ldap: {urls: ['ldaps://h'], base_dn: 'dc=x'}}\nsync: {from: ldap}"))
	require.Zero(t, code, errs)
}
