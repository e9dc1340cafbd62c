package pages

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func read[T any](t *testing.T, text string) (v T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &v))
	return v
}

func texts(all []page.Warning) []string {
	out := []string{}
	for _, w := range all {
		out = append(out, w.Text)
	}
	return out
}

func TestIncidentsOfThePersonComeAfterThoseWithoutAnOwner(t *testing.T) {
	t.Parallel()
	d := data{owned: []incidents.IncidentInList{{ID: 5, State: "acknowledged", Owner: "ann"}, {ID: 4, State: "snoozed", Owner: "ann"}},
		paged: []incidents.IncidentInList{{ID: 9, State: "exhausted"}, {ID: 8, State: "acknowledged", Owner: "bob"},
			{ID: 7, State: "merged"}, {ID: 6, State: "escalating", Step: 2}, {ID: 5, Owner: "ann"}}}
	rows, more := d.incidentRows()
	require.False(t, more)
	var ids []incidents.ID
	var states []string
	for _, r := range rows {
		ids, states = append(ids, r.ID), append(states, r.StateText)
	}
	require.Equal(t, []incidents.ID{9, 6, 5, 4}, ids)
	require.Equal(t, []string{"nobody acknowledged", "escalating, step 2", "acknowledged by you", "snoozed, yours"},
		states)
}

func TestShiftsOfThePerson(t *testing.T) {
	t.Parallel()
	teams := read[[]scheduling.Team](t, `[{"team":"db","roles":[{"role":"primary","people":[{"name":"ann","full_name":"Ann Lee"}],"next":[{"at":"2026-11-25T09:46:40Z","to":["bob","cy"]}]},{"role":"secondary","people":[]}]}]`)
	shifts := viewShifts([]personal.NextShift{{Event: calendaring.Event{Team: "db", Role: "secondary", Start: now.Add(time.Minute), End: now.Add(10 * time.Minute)}},
		{Event: calendaring.Event{Team: "db", Start: now.Add(-5 * time.Second)}}}, teams, "ann", now)
	require.Len(t, shifts, 2)
	require.True(t, shifts[0].Now)
	require.EqualValues(t, 1795600000, shifts[0].End.Unix())
	require.Equal(t, "secondary", shifts[1].Role)
	views := viewTeams(teams)
	require.Equal(t, roleView{Role: "primary", People: []string{"Ann Lee"}, Until: time.Unix(1795600000, 0).UTC(),
		Then: "bob, cy"}, views[0].Roles[0])
	require.Empty(t, views[0].Roles[1].People)
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	rules := read[[]users.NotificationRule](t, `[{"priority":"urgent","mode":"call"},{"priority":"high","mode":"sms","follow_ups":[{"mode":"call"}]},{"priority":"low","mode":"drop"}]`)
	d := data{now: now, rules: rules, contact: []users.ShownContact{{Mode: "email", Destination: "a@example.com",
		Verifiable: true}}}
	require.Equal(t, []string{
		"Pages with priority urgent or high come by call, and you have no phone number for call.",
		"Pages with priority high come by sms, and you have no phone number for sms.",
		"Your contact for email is not verified.",
	}, texts(d.warnings("ann", time.UTC)))
	d = data{contact: []users.ShownContact{{Mode: "sms", Destination: "+1"}},
		usual: []users.PriorityRow{{Priority: "urgent", Mode: "call"}, {Priority: "high", Mode: "sms"}, {Priority: "medium", Mode: "slack"}}}
	require.Equal(t, []string{"Pages with priority urgent come by call, and you have no phone number for call."},
		texts(d.warnings("ann", time.UTC)))
	d.rules = []users.NotificationRule{{Priority: "urgent"}}
	require.Len(t, d.warnings("ann", time.UTC), 1, "the person chose nothing")
	d.rules = []users.NotificationRule{{Priority: "urgent", Mode: "sms"}}
	require.Empty(t, d.warnings("ann", time.UTC))
	require.Equal(t, []string{"You have no contact: no page can reach you."},
		texts((&data{rules: rules}).warnings("ann", time.UTC)))
	require.Empty(t, (&data{missing: "your contacts"}).warnings("ann", time.UTC),
		"no warning about data that could not be read")

	d = data{now: now, contact: []users.ShownContact{{Mode: "call", Destination: "+1"}},
		onCall: read[[]scheduling.Team](t, `[{"team":"db","roles":[
		{"role":"primary","people":[],"gaps":[{"start":"2026-11-24T12:00:00Z","end":"2026-11-24T13:00:00Z"},{"start":"2026-11-25T09:46:40Z","end":"2026-11-25T12:33:20Z"}]},
		{"role":"secondary","people":[{"name":"bob","contacts":{}}],"gaps":[{"start":"2026-11-25T09:46:40Z","end":"2026-11-25T12:33:20Z"}]}]}]`)}
	require.Equal(t, []string{
		"Nobody has a shift as primary of team db now, until Tue 24 Nov 13:00, and 1 further gap in the next 7 days.",
		"Nobody has a shift as secondary of team db from Wed 25 Nov 09:46 to Wed 25 Nov 12:33.",
		"bob is secondary of team db and has no contact: no page can reach them.",
	}, texts(d.teamWarnings(time.UTC)))

	seven := incidents.ID(7)
	long, recent := now.Add(-48*time.Hour), now.Add(-time.Hour)
	d = data{now: now, senders: make([]integrations.Row, 3)}
	d.senders[0].Name, d.senders[0].Activity.LastRefusedAt, d.senders[0].Activity.LastRefusal = "prom", &recent, "no plan matches."
	d.senders[1].Activity.LastRefusedAt = &long
	require.Equal(t, []string{"Integration prom refused alerts 1 h 0 min ago: no plan matches."},
		texts(d.senderWarnings()))

	d.sent = []messages.MessageInList{{State: "failed", IncidentID: &seven, Target: "bob"}, {State: "sent"}, {State: "failed"}}
	d.vendors.Items = []system.Vendor{{Vendor: "twilio", Account: "main", Mode: "sms", Calls: 3, Failed: 2,
		Health: system.LastCallFailed}, {Vendor: "smtp", Calls: 3, Failed: 2, Health: system.SomeCallsFailed}}
	d.vendors.Pauses = []system.Pause{{Key: "mode:call", Reason: "the vendor moves."}}
	require.Equal(t, []string{"The vendor twilio/main fails: 2 of its 3 calls in the last hour by sms failed, and so did the latest one.", "mode:call is paused: the vendor moves.",
		"A page of incident 7 did not reach bob."}, texts(d.vendorWarnings()))
}

func TestFirstSteps(t *testing.T) {
	t.Parallel()
	s := (&data{}).firstSteps(`o'neil`, "https://iris.example.com", false)
	require.False(t, s.Contact || s.Plan || s.Alert)
	require.Contains(t, s.Send, "https://iris.example.com/v1/hooks/generic")
	require.Contains(t, s.Send, "Test alert of oneil", "a quote would end the text in the shell")
	require.Equal(t, "iris contact set 'oneil' sms +12025550100", s.Contacted)
	require.Equal(t, "/incidents/new", s.Open)
	require.Equal(t, "/add-integration?type=generic", s.Connect)
	d := data{contact: []users.ShownContact{{}}, plans: []catalog.PlanRow{{Version: catalog.Version{Name: "others"}},
		{Version: catalog.Version{Name: "my plan", Creator: "ann"}}}}
	s = d.firstSteps("ann", "", false)
	require.True(t, s.Contact && s.Plan && !s.Alert)
	require.Equal(t, "/incidents/new?plan=my+plan", s.Open)
	require.Equal(t, "/add-integration?plan=my+plan&type=generic", s.Connect)
	d.senders = make([]integrations.Row, 1)
	require.Empty(t, d.firstSteps("ann", "", false).Connect)
	d.reached = []incidents.IncidentInList{{}}
	require.Nil(t, d.firstSteps("ann", "", false), "all is done")
	d.reached, d.teams = nil, []string{"db"}
	require.Nil(t, d.firstSteps("ann", "", false))
	require.Nil(t, (&data{}).firstSteps("ann", "", true), "a person who may only read cannot do them")
	require.Nil(t, (&data{missing: "your teams"}).firstSteps("ann", "", false))
}

func TestPartsThatFailAreLeftOut(t *testing.T) {
	t.Parallel()
	noted := 0
	note := func(error) { noted++ }
	missing, err := together(map[string]func() error{"a": func() error { return nil },
		"b": func() error { return errors.New("status 500") }, "c": func() error { panic("a defect") }}, note)
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"b", "c"}, missing)
	require.Equal(t, 2, noted)
	_, err = together(map[string]func() error{"a": func() error { return fault.New(fault.Unavailable, "away") }}, note)
	require.True(t, fault.Is(err, fault.Unavailable), "without the database there is no page")
}
