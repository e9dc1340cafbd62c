package catalog_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/hours"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

var (
	ann    = users.User{ID: 1, Name: "ann", Active: true}
	bob    = users.User{ID: 2, Name: "bob", Active: true}
	byAnn  = caller(auth.Actor{UserID: ann.ID, Username: ann.Name})
	byBob  = caller(auth.Actor{UserID: bob.ID, Username: bob.Name})
	byRoot = caller(auth.Actor{UserID: 9, Username: "root", Admin: true})
)

func caller(a auth.Actor) operation.Actor { return a.Caller(auth.Openings{}) }

type people map[string]users.User

func (p people) ByName(_ context.Context, name string) (users.User, error) {
	if u, ok := p[name]; ok {
		return u, nil
	}
	return users.User{}, fault.New(fault.NotFound, "no such user")
}

// authors knows ann and bob, who belong to the same team if together.
func authors(together bool) catalog.Authors {
	return catalog.Authors{People: people{"ann": ann, "bob": bob},
		Teammates: func(context.Context, users.ID, users.ID) (bool, error) { return together, nil }}
}

// planStore has the active plan of ann that is called known, the targets db (team), list (mailing list) and cy (user),
// and the templates page and blank.
type planStore struct {
	catalog.PlanStore
	created *escalation.PlanContent
}

func (s *planStore) ByName(_ context.Context, name string) (escalation.PlanSteps, error) {
	if name != "known" {
		return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
	}
	return escalation.PlanSteps{Plan: escalation.Plan{Name: "known", Creator: "ann", CreatorID: ann.ID}}, nil
}

func (s *planStore) Reach(context.Context, []string, []string) (escalation.Reach, error) {
	return escalation.Reach{
		Roles: map[string]string{"team": "team", "user": "user", "mailing-list": "mailing-list"},
		Targets: map[string][]escalation.ReachTarget{
			"db":   {{Kind: "team", TargetID: 3, Name: "db", Active: true, People: 2, Reachable: 1, Zone: "Europe/Berlin"}},
			"cy":   {{Kind: "user", TargetID: 4, Name: "cy", Active: true, People: 1}},
			"old":  {{Kind: "team", TargetID: 5, Name: "old"}},
			"none": {{Kind: "team", TargetID: 6, Name: "none", Active: true}},
			"list": {{Kind: "mailing-list", TargetID: 7, Name: "list", Active: true, People: 1, Size: 50}},
			"mute": {{Kind: "team", TargetID: 8, Name: "mute", Active: true, People: 1}},
		},
		Templates: map[string]escalation.ReachTemplate{"page": {Applications: 1}, "blank": {}},
	}, nil
}

func (s *planStore) Create(_ context.Context, d escalation.PlanContent) (escalation.PlanID, error) {
	s.created = &d
	return 11, nil
}

func syntax(source string) error {
	if strings.Contains(source, "{{ broken") {
		return errors.New("line 1: unexpected end")
	}
	return nil
}

func page(role, name string, change ...func(*escalation.Notification)) escalation.Notification {
	n := escalation.Notification{Priority: users.High, Template: "page",
		Target: &escalation.Target{Role: role, Name: name}}
	for _, c := range change {
		c(&n)
	}
	return n
}

func step(all ...escalation.Notification) escalation.Step {
	return escalation.Step{Notifications: all}
}

func save(t *testing.T, actor operation.Actor, creator users.User, name string, tracking *catalog.Tracking, steps ...escalation.Step) (*escalation.PlanContent, []string, error) {
	t.Helper()
	store := &planStore{}
	plans := catalog.NewPlans(catalog.PlanDeps{Store: store, Authors: authors(false), Syntax: syntax,
		MaxLength: 24 * time.Hour, ListLimit: 40})
	id, warnings, err := plans.Save(t.Context(), actor, creator, escalation.PlanContent{Name: name, Steps: steps},
		tracking)
	if err != nil {
		require.Nil(t, store.created)
		return nil, nil, err
	}
	require.EqualValues(t, 11, id)
	return store.created, warnings, nil
}

func TestPlansAreStoredWithTheIDsOfTheirTargets(t *testing.T) {
	t.Parallel()
	saved, warnings, err := save(t, byAnn, ann, "new", nil, step(page("TEAM", "db")), step(page("user", "cy")))
	require.NoError(t, err)
	require.Equal(t, ann.ID, saved.CreatorID)
	require.Equal(t, escalation.Target{Role: "team", Name: "db", TargetID: 3}, *saved.Steps[0].Notifications[0].Target)
	require.Equal(t, []string{"step 2: the user cy has no contact in any mode"}, warnings)
}

// The zone of a condition is that of its team. One that is given beside the team must be the same.
func TestAConditionHasTheZoneOfItsTeam(t *testing.T) {
	t.Parallel()
	for zone, refusal := range map[string]string{"": "", "Europe/Berlin": "",
		"Asia/Tokyo": "the condition of step 1: the zone of the team db is Europe/Berlin: give either team or zone"} {
		limited := step(page("team", "db"))
		limited.When = &hours.Condition{Team: "db", Zone: zone, Windows: []hours.Window{{From: "08:00", To: "18:00"}}}
		saved, _, err := save(t, byAnn, ann, "new", nil, limited)
		if refusal != "" {
			require.ErrorContains(t, err, refusal)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "Europe/Berlin", saved.Steps[0].When.Zone)
		require.EqualValues(t, 3, saved.Steps[0].When.TeamID)
	}
}

func TestPlansThatReachNobodyGetWarnings(t *testing.T) {
	t.Parallel()
	blank := func(n *escalation.Notification) { n.Template = "blank" }
	_, warnings, err := save(t, byAnn, users.User{ID: 1, Name: "ann"}, "new", nil,
		step(page("team", "old"), page("team", "none"), page("mailing-list", "list"), page("team", "mute"),
			page("team", "db", blank)))
	require.NoError(t, err)
	require.Equal(t, []string{
		"step 1: the team old is not active", "step 1: the team none has no active members",
		"step 1: the mailing list list is too large: it has 50 members, and lists of 40 or more are not paged",
		"step 1: nobody in the team mute has a contact in any mode", "step 1: the template blank has no text for any application",
		"the creator ann is not active, so nobody is the last resort",
	}, warnings)
	_, warnings, err = save(t, byAnn, ann, "new", nil)
	require.NoError(t, err)
	require.Equal(t, []string{"the plan has no steps: incidents with it are refused"}, warnings)
}

func TestRefusedPlans(t *testing.T) {
	t.Parallel()
	optional := func(n *escalation.Notification) { n.Optional = true }
	long := func(n *escalation.Notification) { n.Wait, n.Repeat = time.Hour, 24 }
	second := func(n *escalation.Notification) { n.Target, n.DynamicIndex = nil, new(int); *n.DynamicIndex = 1 }
	for want, n := range map[string]escalation.Notification{
		"steps[1][0].priority: Priority not found for step 2": page("team", "db",
			func(n *escalation.Notification) { n.Priority = "asap" }),
		"steps[1][0].target.role: Role not found for step 2":                            page("boss", "db"),
		"steps[1][0].target.name: Target x not found for step 2":                        page("team", "x"),
		"steps[1][0].target.role: Role team is not appropriate for target cy in step 2": page("team", "cy"),
		"steps[1][0].template: Invalid data for step 2": page("team", "db",
			func(n *escalation.Notification) { n.Template = "x" }),
		"steps[1]: You must have at least one non-optional notification per step. Step 2 has none.": page("team", "db",
			optional),
		"steps: Plan length exceeds the 24 hour maximum": page("team", "db",
			long),
		"steps: Dynamic target numbers must span 0..n without gaps": page("team", "db",
			second),
	} {
		_, _, err := save(t, byAnn, ann, "new", nil, step(page("team", "db")), step(n))
		var f *fault.Error
		require.ErrorAs(t, err, &f, want)
		require.Equal(t, fault.Invalid, f.Kind)
		require.Equal(t, want, f.Field+": "+f.Detail)
	}
}

func TestNamesOfPlans(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		" db ":                   "",
		"  ":                     "Invalid plan: Empty plan name",
		"42":                     "Invalid plan: Plan name cannot be a number",
		strings.Repeat("x", 256): "Invalid plan: Plan name cannot be longer than 255 characters",
		strings.Repeat("é", 255): "",
	} {
		got, err := catalog.PlanName(name)
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(name), got)
	}
}

func TestWhoMayReplaceAVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		actor    operation.Actor
		together bool
		allowed  bool
	}{
		"the creator":          {byAnn, false, true},
		"an administrator":     {byRoot, false, true},
		"a teammate":           {byBob, true, true},
		"somebody else":        {byBob, false, false},
		"a read-only teammate": {caller(auth.Actor{UserID: bob.ID, Username: "bob", ReadOnly: true}), true, false},
		"an application":       {caller(auth.Actor{ApplicationID: 7, Application: "shop"}), true, false},
	} {
		plans := catalog.NewPlans(catalog.PlanDeps{Store: &planStore{}, Authors: authors(tc.together), Syntax: syntax})
		_, _, err := plans.Save(t.Context(), tc.actor, ann, escalation.PlanContent{Name: "known"}, nil)
		_, errTemplate := templates(tc.together).Save(t.Context(), tc.actor, messages.NewTemplate{Name: "known"})
		if tc.allowed {
			require.NoError(t, err, name)
			require.NoError(t, errTemplate, name)
			continue
		}
		require.EqualError(t, err, "Only ann, their teams or an admin may replace the plan known", name)
		require.EqualError(t, errTemplate, "Only ann, their teams or an admin may replace the template known", name)
		require.True(t, fault.Is(err, fault.Forbidden))
	}
}

func TestCreators(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		actor   operation.Actor
		creator string
		want    string
	}{
		"oneself":                    {byAnn, "ann", ""},
		"another person":             {byAnn, "bob", operation.ErrNotThisUser.Error()},
		"another, by an admin":       {byRoot, "bob", ""},
		"nobody":                     {byRoot, "cy", "Creator cy not found"},
		"nobody, by somebody":        {byAnn, "cy", operation.ErrNotThisUser.Error()},
		"anybody, by an application": {caller(auth.Actor{ApplicationID: 7, ActsForUsers: true}), "bob", ""},
	} {
		u, err := authors(false).Creator(t.Context(), tc.actor, tc.creator)
		if tc.want != "" {
			require.EqualError(t, err, tc.want, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, tc.creator, u.Name)
	}
}

type templateStore struct{ catalog.TemplateStore }

func (templateStore) ByName(_ context.Context, name string) (messages.TemplateDetails, error) {
	if name != "known" {
		return messages.TemplateDetails{}, fault.New(fault.NotFound, "no such template")
	}
	return messages.TemplateDetails{TemplateVersion: messages.TemplateVersion{Name: "known", Creator: "ann",
		CreatorID: ann.ID}}, nil
}

func (templateStore) Create(_ context.Context, d messages.NewTemplate) (messages.TemplateID, error) {
	if d.Name == "nowhere" {
		return 0, fault.Invalidf("content", "there is no application nowhere")
	}
	return 12, nil
}

func templates(together bool) *catalog.Templates {
	return catalog.NewTemplates(catalog.TemplateDeps{Store: templateStore{}, Authors: authors(together),
		Syntax: syntax})
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	text := func(subject, html string) []messages.TemplateText {
		return []messages.TemplateText{{TemplateContent: messages.TemplateContent{Body: "ok"}},
			{TemplateContent: messages.TemplateContent{Subject: subject, EmailHTML: html}}}
	}
	id, err := templates(false).Save(t.Context(), byAnn, messages.NewTemplate{Name: "new", Texts: text("{{ x }}", "")})
	require.NoError(t, err)
	require.EqualValues(t, 12, id)
	for want, d := range map[string]messages.NewTemplate{
		"content[1].subject: Invalid jinja template: line 1: unexpected end": {Name: "new",
			Texts: text("{{ broken", "")},
		"content[1].email_html: Invalid jinja template: line 1: unexpected end": {Name: "new",
			Texts: text("", "{{ broken")},
		"content: Invalid template: there is no application nowhere": {Name: "nowhere"},
	} {
		_, err := templates(false).Save(t.Context(), byAnn, d)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, want, f.Field+": "+f.Error())
	}
}

func TestTracking(t *testing.T) {
	t.Parallel()
	mail := `{"shop":{"email_subject":"s","email_text":"t","email_html":null,"more":1}}`
	got, err := catalog.Tracking{Mode: "email", Destination: "ops@example.com",
		Templates: json.RawMessage(mail)}.Check(syntax)
	require.NoError(t, err)
	require.Equal(t, users.Email, got.Mode)
	require.JSONEq(t, `{"shop":{"email_subject":"s","email_text":"t"}}`, string(got.Template),
		"other members are not kept")
	require.True(t, got.Covers("SHOP"))
	for want, tracking := range map[string]catalog.Tracking{
		"tracking: Incomplete tracking setting": {Mode: "email",
			Destination: "ops@example.com"},
		"tracking.templates: Template must be a dictionary": {Mode: "email",
			Destination: "a@b", Templates: json.RawMessage(`[]`)},
		"tracking.mode: Unknown tracking type: fax": {Mode: "fax",
			Destination: "a@b", Templates: json.RawMessage(mail)},
		"tracking.mode: Unknown tracking type: drop": {Mode: "drop",
			Destination: "a@b", Templates: json.RawMessage(mail)},
		"tracking.destination: Invalid email address": {Mode: "email",
			Destination: "ops", Templates: json.RawMessage(mail)},
		"tracking.destination: tracking_key must be one line of at most 1000 bytes": {Mode: "email",
			Destination: "a@b\n", Templates: json.RawMessage(mail)},
		"tracking.templates: No key for shop template": {Mode: "sms",
			Destination: "1", Templates: json.RawMessage(`{"shop":{}}`)},
		"tracking.templates: Missing keys for shop template: {'body'}": {Mode: "sms",
			Destination: "1", Templates: json.RawMessage(`{"shop":{"x":1}}`)},
		"tracking.templates: body for shop template must be a string": {Mode: "sms",
			Destination: "1", Templates: json.RawMessage(`{"shop":{"body":1}}`)},
		"tracking.templates: NUL characters cannot be stored": {Mode: "sms",
			Destination: "1", Templates: json.RawMessage(`{"shop":{"body":"\u0000"}}`)},
		"tracking.templates: Invalid jinja syntax in body: line 1: unexpected end": {Mode: "email",
			Destination: "a@b", Templates: json.RawMessage(`{"shop":{"email_subject":"s","email_text":"{{ broken"}}`)},
		"tracking.templates: Missing keys for shop template: {'email_subject', 'email_text'}": {Mode: "email",
			Destination: "a@b", Templates: json.RawMessage(`{"shop":{"email_html":"h"}}`)},
	} {
		_, err := tracking.Check(syntax)
		var f *fault.Error
		require.ErrorAs(t, err, &f, want)
		require.Equal(t, want, f.Field+": "+f.Detail)
	}
	_, warnings, err := save(t, byAnn, ann, "new", &catalog.Tracking{Mode: "call", Destination: "1",
		Templates: json.RawMessage(`{"shop":{"body":"b"}}`)},
		step(page("team", "db")))
	require.NoError(t, err)
	require.Equal(t, []string{"a tracking notification is never a call, so none is sent"}, warnings)
}

func TestDestinations(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"ann@example.com": true, "#db alerts": true, "": false, "  ": false, "a\nb": false, "a\x00": false, "\xff": false,
		strings.Repeat("x", catalog.MaxDestination): true, strings.Repeat("x", catalog.MaxDestination+1): false,
	} {
		require.Equal(t, want, catalog.Destination(s), "%q", s)
	}
}
