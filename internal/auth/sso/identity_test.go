package sso_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func person(name string) users.User { return users.User{ID: 7, Name: name, Active: true} }

func TestDecide(t *testing.T) {
	t.Parallel()
	all := sso.Rules{Import: true, TrustEmail: true}
	ana := sso.Identity{Provider: "corp", Issuer: "https://idp", Subject: "s", Name: "ana", Email: "ana@example.com",
		EmailVerified: true}
	off, admin := person("ana"), person("ana")
	off.Active, admin.Admin = false, true
	unverified, unnamed, mixed := ana, ana, ana
	unverified.EmailVerified, unnamed.Name, mixed.Name = false, "", "аna" // a Cyrillic letter
	for name, c := range map[string]struct {
		id    sso.Identity
		facts sso.Facts
		rules sso.Rules
		want  sso.Kind
		list  bool
	}{
		"linked": {ana, sso.Facts{Linked: person("boss"), Named: person("ana")},
			sso.Rules{}, sso.Use, false},
		"linked and switched off": {ana, sso.Facts{Linked: off}, all, sso.Refuse, false},
		"new":                     {ana, sso.Facts{}, all, sso.Create, false},
		"new, without creation":   {ana, sso.Facts{}, sso.Rules{TrustEmail: true}, sso.Refuse, true},
		"the name of another":     {ana, sso.Facts{Named: person("Ana")}, all, sso.Refuse, true},
		"no name":                 {unnamed, sso.Facts{}, all, sso.Refuse, true},
		"a name of two scripts":   {mixed, sso.Facts{}, all, sso.Refuse, true},
		"e-mail": {ana, sso.Facts{Mailed: person("a"), Named: person("ana")}, all,
			sso.Link, false},
		"e-mail that is not trusted": {ana, sso.Facts{Mailed: person("ana"), Named: person("ana")},
			sso.Rules{Import: true}, sso.Refuse, true},
		"e-mail that is not verified": {unverified, sso.Facts{Mailed: person("ana"), Named: person("ana")}, all,
			sso.Refuse, true},
		"e-mail of an administrator": {ana, sso.Facts{Mailed: admin, Named: admin}, all, sso.Refuse, true},
		"e-mail of somebody linked": {ana, sso.Facts{Mailed: person("ana"), Named: person("ana"),
			MailedLinked: true}, all, sso.Refuse, true},
		"e-mail of somebody switched off": {ana, sso.Facts{Mailed: off, Named: off}, all, sso.Refuse, true},
		"linked by subject, other name, too": {unverified, sso.Facts{Linked: person("ana"), Mailed: admin}, all,
			sso.Use, false},
	} {
		got := sso.Decide(c.id, c.facts, c.rules)
		require.Equal(t, c.want, got.Kind, name)
		require.Equal(t, c.list, got.Listed, name)
		require.Equal(t, c.want == sso.Refuse, got.Reason != "", name)
	}
}

func TestRights(t *testing.T) {
	t.Parallel()
	rules := sso.Rules{Import: true, Admins: []string{"root"}, ReadOnly: []string{"guests"},
		Teams: []sso.TeamRule{{Group: "/ops/db", Team: "db"}, {Group: "root", Team: "db"},
			{Group: "root", Team: "core"}}}
	admin, reader := person("ana"), person("ana")
	admin.Admin, reader.ReadOnly = true, true
	for name, c := range map[string]struct {
		user    users.User
		granted sso.Role
		groups  []string // nil = none were sent
		want    sso.Rights
	}{
		"member": {person("ana"), sso.Member, []string{}, sso.Rights{}},
		"administrator by group": {person("ana"), sso.Member, []string{"root", "guests"},
			sso.Rights{Admin: true, Granted: sso.Admin, Teams: []string{"db", "core"}}},
		"administrator by hand": {admin, sso.Member, []string{"/ops/db"},
			sso.Rights{Admin: true, Teams: []string{"db"}}},
		"administrator by hand and group": {admin, sso.Member, []string{"root"},
			sso.Rights{Admin: true, Teams: []string{"db", "core"}}},
		"no longer in the group": {admin, sso.Admin, []string{}, sso.Rights{}},
		"still in the group": {admin, sso.Admin, []string{"root"},
			sso.Rights{Admin: true, Granted: sso.Admin, Teams: []string{"db", "core"}}},
		"no groups: narrower": {admin, sso.Admin, nil, sso.Rights{KeepTeams: true}},
		"no groups: by hand":  {admin, sso.Member, nil, sso.Rights{Admin: true, KeepTeams: true}},
		"guest": {person("ana"), sso.Member, []string{"guests"},
			sso.Rights{ReadOnly: true, Granted: sso.ReadOnly}},
		"no groups: guest": {reader, sso.ReadOnly, nil,
			sso.Rights{ReadOnly: true, Granted: sso.ReadOnly, KeepTeams: true}},
		"guest no longer": {reader, sso.ReadOnly, []string{}, sso.Rights{}},
		"guest by hand":   {reader, sso.Member, []string{}, sso.Rights{ReadOnly: true}},
		"from guest to administrator": {reader, sso.ReadOnly, []string{"root"},
			sso.Rights{Admin: true, Granted: sso.Admin, Teams: []string{"db", "core"}}},
		"groups compare exactly, not by part": {person("ana"), sso.Member, []string{"ROOT", "/ops", "roots"},
			sso.Rights{}},
	} {
		id := sso.Identity{Name: "ana", Groups: c.groups, HasGroups: c.groups != nil}
		require.Equal(t, c.want, sso.Decide(id, sso.Facts{Linked: c.user, Granted: c.granted}, rules).Rights, name)
	}
}

// racing is a store in which another log-in is faster so many times.
type racing struct {
	sso.Store
	conflicts, tries int
}

func (r *racing) Facts(context.Context, sso.Identity) (sso.Facts, error) { return sso.Facts{}, nil }

func (r *racing) Apply(context.Context, sso.Decision) (users.User, error) {
	if r.tries++; r.tries <= r.conflicts {
		return users.User{}, fault.New(fault.Conflict, "faster")
	}
	return person("ana"), nil
}

func TestAdmitTriesAgain(t *testing.T) {
	t.Parallel()
	id := sso.Identity{Provider: "corp", Name: "ana"}
	rules := map[string]sso.Rules{"corp": {Import: true}}
	u, err := sso.New(&racing{conflicts: 1}, rules, zap.NewNop()).Admit(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, "ana", u.Name)
	_, err = sso.New(&racing{conflicts: 9}, rules, zap.NewNop()).Admit(t.Context(), id)
	require.True(t, fault.Is(err, fault.Conflict))
}
