package site

import (
	"context"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
)

// place is a page of the console, or an action that begins on a page.
type place struct {
	kind             calendaring.ResultKind
	name, text, path string // text has further words by which it is found
	needs            operation.Role
}

// places returns the pages and actions. "/people/me" in a path stands for the page of the reader.
func places() []place {
	page, action := calendaring.KindPage, calendaring.KindAction
	return []place{
		{action, "New incident", "open an incident, page somebody", "/incidents/new", operation.Member},
		{action, "New silence", "maintenance window, mute", "/silences/new", operation.Member},
		{action, "Override a shift", "take a shift, swap, replace somebody", "/me", operation.Member},
		{action, "New plan", "escalation policy", "/plans/new", operation.Member},
		{action, "New integration", "alert source, webhook", "/integrations", operation.Member},
		{page, "Home", "start", "/", operation.Reader},
		{page, "Incidents", "alerts", "/incidents", operation.Reader},
		{page, "My incidents", "acknowledged by me", "/incidents?show=mine", operation.Reader},
		{page, "On call", "teams, calendars, schedules", "/teams", operation.Reader},
		{page, "My shifts", "my calendar, when am I on call", "/me", operation.Reader},
		{page, "Plans", "escalation policies", "/plans", operation.Reader},
		{page, "Templates", "texts of messages", "/templates", operation.Reader},
		{page, "Integrations", "alert sources, webhooks", "/integrations", operation.Reader},
		{page, "Heartbeats", "dead man's switch", "/heartbeats", operation.Reader},
		{page, "Silences", "maintenance windows", "/silences", operation.Reader},
		{page, "Applications", "keys, quotas", "/applications", operation.Reader},
		{page, "People", "users", "/people", operation.Reader},
		{page, "Teams and reachability", "who can be reached", "/reachability", operation.Reader},
		{page, "Messages", "what was sent", "/messages", operation.Reader},
		{page, "Statistics", "reports, charts", "/statistics", operation.Reader},
		{page, "System", "queues, limits, vendors, members", "/system", operation.Reader},
		{page, "Audit log", "who changed what", "/audit-log", operation.Admin},
		{page, "Contacts and modes", "my phone number, notification rules", "/people/me", operation.Reader},
		{page, "Preferences", "my time zone", "/people/me/preferences", operation.Reader},
		{page, "Tokens", "API keys", "/tokens", operation.Reader},
		{page, "Sessions", "where I am logged in", "/sessions", operation.Reader},
		{page, "Log-in", "second factor, password", "/account/second-factor", operation.Reader},
	}
}

// Places are the pages and actions of the console, for the search. People find those that they may use.
func Places(kind calendaring.ResultKind) calendaring.Source {
	return calendaring.Source{Kind: kind, Find: func(_ context.Context, by operation.Actor, f calendaring.SearchFilter, limit int) (out []calendaring.Result, _ error) {
		text := strings.ToLower(f.Text)
		for _, p := range places() {
			found := strings.Contains(strings.ToLower(p.name+" "+p.text), text)
			allowed := by.Require(p.needs) == nil || by.ReadOnlyAdmin && kind == calendaring.KindPage
			if p.kind != kind || by.Person == 0 || !allowed || !found || len(out) == limit {
				continue
			}
			path := p.path
			if rest, mine := strings.CutPrefix(path, "/people/me"); mine {
				path = operation.Path("/people/{name}", by.Name) + rest
			}
			out = append(out, calendaring.Result{Kind: kind, Name: p.name, Text: p.text, Path: path})
		}
		return out, nil
	}}
}
