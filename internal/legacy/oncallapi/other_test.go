package oncallapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/oncallapi"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/planning"
)

func TestNoticeSettings(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/users/bob/notifications"
	const bad = "invalid notification setting"
	full := func(more string) string { return `{"team":"ops","roles":["primary"],"mode":"email",` + more + `}` }
	f.want(200, `[]`, bob, "GET", at, "")
	f.want(403, says("Unauthorized", `Action not allowed for "eve"`), eve, "POST", at,
		full(`"type":"oncall_reminder","time_before":60`))
	for body, answer := range map[string]string{
		`{}`:                                says(bad, "missing required parameters: team, roles, mode, type"),
		full(`"type":"x","time_before":60`): says(bad, "notification type x does not exist"),
		full(`"type":"oncall_reminder","time_before":60,"only_if_involved":true`): says(bad,
			"settings must define exactly one of {'time_before', 'only_if_involved'}"),
		full(`"type":"oncall_reminder"`): says(bad,
			"settings must define exactly one of {'time_before', 'only_if_involved'}"),
		full(`"type":"oncall_reminder","only_if_involved":true`): says(bad,
			"reminder setting must define time_before"),
		full(`"type":"event_created","time_before":60`): says(bad,
			"notification setting must define only_if_involved"),
		`{"team":"ops","roles":["x"],"mode":"email","type":"event_created","only_if_involved":true}`: says("invalid request", "unable to create notification: invalid roles"),
		`{"team":"ops","roles":["primary"],"mode":"pigeon","type":"event_created","only_if_involved":true}`: says(bad,
			"mode pigeon does not exist"),
	} {
		f.want(400, answer, bob, "POST", at, body)
	}
	f.want(422, says("IntegrityError", `team "none" not found`), bob, "POST", at,
		`{"team":"none","roles":["primary"],"mode":"email","type":"event_created","only_if_involved":true}`)
	id := decode[struct{ ID int64 }](f, bob, "POST", at, full(`"type":"oncall_reminder","time_before":3600`)).ID
	one := fmt.Sprintf("/api/v0/notifications/%d", id)
	f.want(200, fmt.Sprintf(`[{"id":%d,"mode":"email","only_if_involved":null,"roles":["primary"],"team":"ops","time_before":3600,"type":"oncall_reminder"}]`, id), bob, "GET", at, "")
	f.want(403, says("Unauthorized", `Action not allowed for "eve"`), eve, "PUT", one, `{"roles":["manager"]}`)
	f.want(400, says("invalid setting update", "reminder setting must define only time_before"), bob, "PUT", one,
		`{"only_if_involved":true}`)
	f.want(200, "", bob, "PUT", one, `{"roles":["manager"],"time_before":60,"mode":"sms"}`)
	f.want(400, says("invalid setting update",
		"settings must define exactly one of {'time_before', 'only_if_involved'}"), bob, "PUT", one,
		`{"type":"event_edited"}`)
	f.want(400, says("invalid setting update", "notification setting must define only only_if_involved"), bob, "PUT",
		one, `{"type":"event_edited","time_before":1}`)
	f.want(200, "", bob, "PUT", one, `{"type":"event_edited","only_if_involved":false}`)
	f.want(200, fmt.Sprintf(`[{"id":%d,"mode":"sms","only_if_involved":0,"roles":["manager"],"team":"ops","time_before":null,"type":"event_edited"}]`, id), bob, "GET", at, "")
	f.want(403, says("Unauthorized", `Action not allowed for "eve"`), eve, "DELETE", one, "")
	f.want(403, says("Unauthorized", `Action not allowed for "ann"`), ann, "DELETE", one, "")
	f.want(200, "", bob, "DELETE", one, "")
	f.want(404, says("404 Not Found", ""), bob, "DELETE", one, "")
	require.Len(t, decode[[]any](f, bob, "GET", "/api/v0/notification_types", ""), 7)
}

func TestFeedKeys(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const mine, teams = "/api/v0/ical_key/user/bob", "/api/v0/ical_key/team/ops"
	f.want(404, says("404 Not Found", ""), bob, "GET", mine, "")
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not allowed to update ical_key of "bob"`), eve,
		"POST", mine, "")
	f.want(403, says("Unauthorized", "Action not allowed for applications: it needs a user"), program, "GET", mine, "")
	first := f.ok(bob, "POST", mine, "")
	require.Len(t, first, 36)
	second := f.ok(bob, "POST", mine, "")
	require.NotEqual(t, first, second)
	f.want(200, second, bob, "GET", mine, "")
	f.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/ical_key/key/"+first, "")
	key := f.ok(eve, "POST", teams, "") // any user, any team
	f.want(400, says("Invalid team name", `Team "none" does not exist or is inactive`), eve, "POST",
		"/api/v0/ical_key/team/none", "")
	f.ok(ann, "PUT", "/api/v0/teams/ops", `{"name":"renamed"}`) // keys stay valid when the team is renamed
	about := decode[[]map[string]any](f, eve, "GET", "/api/v0/ical_key/key/"+key, "")
	require.Equal(t, "eve renamed team", fmt.Sprint(about[0]["requester"], " ", about[0]["name"], " ",
		about[0]["type"]))
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin of ical_key`), bob, "GET",
		"/api/v0/ical_key/key/"+key, "")
	require.Len(t, decode[[]any](f, root, "GET", "/api/v0/ical_key/requester/eve", ""), 1)
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not allowed to view ical_key of "eve"`), bob, "GET",
		"/api/v0/ical_key/requester/eve", "")
	f.want(404, says("404 Not Found", ""), ann, "GET", "/api/v0/ical_key/requester/ann", "")
	f.want(200, "", eve, "DELETE", "/api/v0/ical_key/key/"+key, "")
	f.want(404, says("404 Not Found", ""), eve, "DELETE", "/api/v0/ical_key/key/"+key, "")
	f.want(200, "", bob, "DELETE", mine, "")
	f.want(404, says("404 Not Found", ""), bob, "GET", mine, "")
	f.ok(bob, "POST", mine, "")
	f.want(200, "", bob, "DELETE", "/api/v0/ical_key/requester/bob", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/ical_key/requester/bob", "")
}

func TestAudit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(ann, "PUT", "/api/v0/teams/ops", `{"email":"x@example.com"}`)
	f.ok(program, "POST", "/api/v0/teams/ops/rosters", `{"name":"new"}`)
	type row struct {
		Owner, Team, Action, Context string
		Timestamp                    int64
	}
	all := decode[[]row](f, bob, "GET", "/api/v0/audit?team=ops", "")
	require.Len(t, all, 2)
	require.Equal(t, "ann ops team_edited", all[0].Owner+" "+all[0].Team+" "+all[0].Action)
	require.JSONEq(t, `{"request_body":{"email":"x@example.com"}}`, all[0].Context)
	require.Equal(t, "calendar", all[1].Owner)
	require.Len(t, decode[[]row](f, bob, "GET", "/api/v0/audit?action=team_edited&action=roster_created", ""), 2)
	require.Len(t, decode[[]row](f, bob, "GET", "/api/v0/audit?owner=ann", ""), 1)
	require.Empty(t, decode[[]row](f, bob, "GET", fmt.Sprintf("/api/v0/audit?start=%d", f.hour(2)), ""))
	require.Empty(t, decode[[]row](f, bob, "GET", "/api/v0/audit?end=1000", ""))
	require.Len(t, decode[[]map[string]any](f, bob, "GET", "/api/v0/teams/ops/changes", ""), 2)
	f.want(401, says("Unauthorized", "User must be logged in"), nobody, "GET", "/api/v0/audit", "")
}

func TestEscalate(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *deps) {
		d.CheckPlans, d.Escalate.Config.Escalate, d.Escalate.Config.PublicURL = true, "calendar", "https://iris.example.com"
		d.Escalate.Config.Urgent = oncallapi.Plan{Name: "urgent", Targets: []oncallapi.RoleTarget{{Role: "team"}}}
	})
	f.exec(`insert into templates (name, creator_id) select 'words', id from users where name = 'ann'`)
	f.exec(`insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset)
		select p, u.id, 900, 10, 300, 300 from users u, unnest(array['urgent', 'own']) p where u.name = 'ann'`)
	f.exec(`insert into plan_active select name, id from plans`)
	f.exec(`insert into plan_notifications (plan_id, step, position, priority, template, wait_seconds, repeat, dynamic_index)
		select id, 1, 0, 'high', 'words', 60, 0, 0 from plans where name = 'urgent'`)
	f.exec(`insert into plan_notifications (plan_id, step, position, priority, template, wait_seconds, repeat, role, target_id)
		select p.id, 1, 0, 'high', 'words', 60, 0, 'user', u.target_id from plans p, users u where p.name = 'own' and u.name = 'ann'`)
	const at, failed = "/api/v0/teams/ops/iris_escalate", "Iris escalation failed"
	f.want(400, says(failed, "Escalation cannot have an empty description"), eve, "POST", at, `{}`)
	f.want(400, says(failed, "Invalid escalation plan"), eve, "POST", at, `{"description":"x","plan":"nonsense"}`)
	f.want(400, says(failed, "Invalid escalation plan"), eve, "POST", at, `{"description":"x","plan":"medium"}`)
	f.want(400, says(failed, "No escalation plan specified and team has no custom escalation plan defined"), eve,
		"POST", at, `{"description":"x"}`)
	f.want(401, says("Unauthorized", "User must be logged in"), nobody, "POST", at,
		`{"description":"x","plan":"urgent"}`)
	f.want(400, says("invalid iris escalation plan", "no iris plan named ghost exists"), ann, "PUT",
		"/api/v0/teams/ops", `{"iris_plan":"ghost"}`)
	id := f.ok(eve, "POST", at, `{"description":"x","plan":"urgent"}`)
	require.Equal(t, 1, f.count(`select count(*) from incidents where id = $1::bigint and due_at is not null`, id))
	f.ok(ann, "PUT", "/api/v0/teams/ops", `{"iris_plan":"own"}`)
	own := f.ok(program, "POST", at, `{"description":"y","plan":"custom","more":[1]}`)
	require.NotEqual(t, id, own)
	require.False(t, f.woken.Empty())
	settings := decode[map[string]any](f, bob, "GET", "/api/v0/iris_settings", "")
	require.Equal(t, true, settings["activated"])
	require.Contains(t, settings, "urgent_plan")
	require.NotContains(t, settings, "medium_plan")
}

func TestDebugModeAndAnonymousReads(t *testing.T) {
	t.Parallel()
	debug := newFixture(t, func(d *deps) { d.Authenticator.DebugAuth = true })
	debug.exec(`insert into users (name) values ('test_user')`)
	debug.want(201, "", nobody, "POST", "/api/v0/teams", `{"name":"new","scheduling_timezone":"UTC"}`)
	debug.want(200, `["test_user"]`, nobody, "GET", "/api/v0/teams/new/admins", "")
	debug.want(200, "", nobody, "DELETE", "/api/v0/teams/ops", "")
	debug.want(201, "", caller{session: "bob", csrf: "-"}, "POST", "/api/v0/users", `{"name":"made"}`)
	debug.want(401, says("Authentication failure", "Wrong digest"), caller{app: "calendar", key: "x"}, "GET",
		"/api/v0/teams", "")

	open := newFixture(t, func(d *deps) { d.Requests.Openings.AnonymousReads = true })
	open.want(200, `["ops","empty"]`, nobody, "GET", "/api/v0/teams", "")
	open.want(401, says("Unauthorized", "User must be logged in"), nobody, "POST", "/api/v0/teams", `{}`)
	open.want(401, says("Unauthorized", "User must be logged in"), nobody, "GET", "/api/v0/ical_key/team/ops", "")
}

func TestSwapRequests(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/swap-requests"
	a, b := f.event("ann", "primary", 5, 2), f.event("bob", "primary", 9, 2)
	body := fmt.Sprintf(`{"event_id":%d,"other_event_id":%d,"note":"please"}`, b, a)
	require.Equal(t, 403, f.do(eve, "POST", at, body).Code)
	require.Equal(t, 400, f.do(bob, "POST", at, `{"event_id":99999}`).Code)
	require.Equal(t, 400, f.do(cat(), "POST", at, body).Code, "not hers to give")
	id := decode[struct{ ID int64 }](f, bob, "POST", at, body).ID
	one := fmt.Sprintf("/v1/swap-requests/%d/", id)
	type request = calendaring.SwapRequest
	got := itemsOf[request](f, ann, "GET", at, "")
	require.Len(t, got, 1)
	require.Equal(t, got, itemsOf[request](f, viewer, "GET", at, ""), "read-only people read")
	require.Equal(t, "open bob ann please", fmt.Sprint(got[0].State, " ", got[0].Requester, " ", got[0].Other, " ", got[0].Note))
	require.EqualValues(t, b, got[0].Event.ID)
	require.EqualValues(t, a, got[0].OtherEvent.ID)
	require.Equal(t, 403, f.do(bob, "POST", one+"accept", "{}").Code)
	require.Equal(t, 403, f.do(cat(), "POST", one+"decline", "{}").Code)
	require.Equal(t, 403, f.do(program, "POST", one+"accept", "{}").Code)
	require.Equal(t, "ann", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", a), "").User,
		"nothing changes without consent")
	require.EqualValues(t, "accepted", decode[request](f, ann, "POST", one+"accept", "{}").State)
	require.Equal(t, "bob", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", a), "").User)
	require.Equal(t, "ann", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", b), "").User)
	require.Equal(t, 409, f.do(ann, "POST", one+"decline", "{}").Code)
	require.Equal(t, 404, f.do(ann, "POST", "/v1/swap-requests/99999/accept", "{}").Code)

	next := func() string {
		t.Helper()
		made := decode[struct{ ID int64 }](f, bob, "POST", at, fmt.Sprintf(`{"event_id":%d,"to":"cat"}`, a))
		return fmt.Sprintf("/v1/swap-requests/%d/", made.ID)
	}
	require.EqualValues(t, "declined", decode[request](f, cat(), "POST", next()+"decline", "{}").State)
	require.EqualValues(t, "withdrawn", decode[request](f, bob, "POST", next()+"withdraw", "{}").State)
	stale := next()
	f.ok(bob, "DELETE", fmt.Sprintf("/api/v0/events/%d", a), "")
	require.Equal(t, 409, f.do(cat(), "POST", stale+"accept", "{}").Code)
	require.EqualValues(t, "expired", itemsOf[request](f, ann, "GET", at, "")[0].State)
}

// cat returns the credentials of a member of ops.
func cat() caller { return caller{session: "cat"} }

func TestUnavailabilityHolidaysGapsAndFairness(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const absent = "/v1/teams/ops/unavailability"
	body := fmt.Sprintf(`{"start":%q,"end":%q,"rule":"FREQ=WEEKLY;BYDAY=TU","note":"choir"`, f.at(1), f.at(3))
	require.Equal(t, 400, f.do(bob, "POST", absent, body+`,"timezone":"Mars/Olympus"}`).Code)
	require.Equal(t, 400, f.do(bob, "POST", absent, strings.Replace(body, "WEEKLY", "NEVERLY", 1)+`}`).Code)
	require.Equal(t, 403, f.do(bob, "POST", absent, body+`,"user":"cat"}`).Code)
	id := decode[struct{ ID int64 }](f, ann, "POST", absent, body+`,"user":"bob"}`).ID
	got := itemsOf[map[string]any](f, cat(), "GET", absent, "")
	require.Len(t, got, 1)
	require.Equal(t, "bob choir America/New_York", fmt.Sprint(got[0]["user"], " ", got[0]["note"], " ",
		got[0]["timezone"]))
	require.Equal(t, 403, f.do(cat(), "DELETE", fmt.Sprintf("/v1/unavailability/%d", id), "").Code)
	require.Equal(t, 204, f.do(bob, "DELETE", fmt.Sprintf("/v1/unavailability/%d", id), "").Code)
	require.Equal(t, 404, f.do(bob, "DELETE", fmt.Sprintf("/v1/unavailability/%d", id), "").Code)

	const days = "/v1/teams/ops/holidays"
	calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261227\r\nSUMMARY:Christmas\r\nEND:VEVENT\r\n" +
		"BEGIN:VEVENT\r\nUID:2\r\nDTSTART;VALUE=DATE:20200101\r\nRRULE:FREQ=YEARLY\r\nSUMMARY:New Year\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	require.Empty(t, decode[struct{ Holidays []any }](f, bob, "GET", days, "").Holidays)
	require.Equal(t, 403, f.do(bob, "PUT", days, calendar).Code)
	require.Equal(t, 400, f.do(ann, "PUT", days, "hello").Code)
	require.Equal(t, 204, f.do(ann, "PUT", days, calendar, "Content-Type", "text/calendar").Code)
	holidays := decode[struct {
		Holidays []struct{ Date, Name string }
	}](f, bob, "GET", days, "").Holidays
	found := map[string]string{}
	for _, h := range holidays {
		found[h.Date] = h.Name
	}
	for date, name := range map[string]string{"2026-12-24": "Christmas", "2026-12-26": "Christmas", "2026-12-27": "", "2027-01-01": "New Year", "2040-01-01": "New Year"} {
		require.Equal(t, name, found[date], date)
	}
	require.Equal(t, 204, f.do(ann, "DELETE", days, "").Code)
	require.Equal(t, 404, f.do(ann, "DELETE", days, "").Code)

	f.event("bob", "primary", 2, 2)
	f.event("ann", "primary", 6, 1)
	gaps := itemsOf[planning.Gap](f, bob, "GET", "/v1/teams/ops/gaps?role=primary&"+f.between(1, 8), "")
	require.Len(t, gaps, 3)
	require.Equal(t, []int64{f.hour(4), f.hour(6)}, []int64{gaps[1].Start.Unix(), gaps[1].End.Unix()})
	require.Equal(t, 400, f.do(bob, "GET", "/v1/teams/ops/gaps?"+f.between(5, 4), "").Code)
	shares := itemsOf[map[string]any](f, bob, "GET", "/v1/teams/ops/fairness?"+f.between(1, 8)+"&role=", "")
	require.Len(t, shares, 2)
	require.Equal(t, "ann 1", fmt.Sprint(shares[0]["user"], " ", shares[0]["hours"]))
	require.Equal(t, "bob 2", fmt.Sprint(shares[1]["user"], " ", shares[1]["hours"]))
}

// Otherwise an administrator of any team could remove people from another team's calendar by making them unavailable.
func TestUnavailabilityOfATeamCountsInThatTeam(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(eve, "POST", "/api/v0/teams", `{"name":"trap","scheduling_timezone":"UTC"}`)
	f.ok(eve, "POST", "/api/v0/teams/trap/users", `{"name":"bob"}`)
	body := fmt.Sprintf(`{"user":"bob","start":%q,"end":%q}`, f.at(1), f.at(3))
	trap := decode[struct{ ID int64 }](f, eve, "POST", "/v1/teams/trap/unavailability", body).ID
	ops := decode[struct{ ID int64 }](f, ann, "POST", "/v1/teams/ops/unavailability", body).ID
	own := decode[struct{ ID int64 }](f, bob, "POST", "/v1/teams/ops/unavailability", body).ID

	seen := func(as caller, team string) (out []string) {
		for _, a := range itemsOf[map[string]any](f, as, "GET", "/v1/teams/"+team+"/unavailability", "") {
			out = append(out, fmt.Sprint(a["id"], " ", a["scope"], " ", a["set_by"]))
		}
		return out
	}
	require.Equal(t, []string{fmt.Sprint(ops, " team ann"), fmt.Sprint(own, " person bob")}, seen(ann, "ops"))
	require.Equal(t, []string{fmt.Sprint(trap, " team eve"), fmt.Sprint(own, " person bob")}, seen(eve, "trap"))
	require.Len(t, seen(bob, "ops"), 3, "a person sees all of their own")

	for id, status := range map[int64]int{ops: 403, own: 403} {
		require.Equal(t, status, f.do(eve, "DELETE", fmt.Sprintf("/v1/unavailability/%d", id), "").Code)
	}
	require.Equal(t, 403, f.do(ann, "DELETE", fmt.Sprintf("/v1/unavailability/%d", own), "").Code)
	require.Equal(t, 204, f.do(bob, "DELETE", fmt.Sprintf("/v1/unavailability/%d", trap), "").Code)
	require.Equal(t, 204, f.do(ann, "DELETE", fmt.Sprintf("/v1/unavailability/%d", ops), "").Code)
}

func TestUnavailabilityOverAShiftIsFlagged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	shift := f.event("bob", "primary", 2, 4)
	f.event("bob", "vacation", 2, 4)
	f.event("bob", "primary", 20, 4)
	f.event("ann", "primary", 2, 4)
	type answer struct {
		ID        int64
		Conflicts []struct {
			EventID int64 `json:"event_id"`
			User    string
			SetBy   string `json:"set_by"`
		}
	}
	made := decode[answer](f, bob, "POST", "/v1/teams/ops/unavailability",
		fmt.Sprintf(`{"start":%q,"end":%q}`, f.at(3), f.at(4)))
	require.Len(t, made.Conflicts, 1)
	require.Equal(t, shift, made.Conflicts[0].EventID)
	at := "/v1/teams/ops/conflicts"
	var listed struct{ Items json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(f.ok(ann, "GET", at, "")), &listed))
	require.NoError(t, json.Unmarshal(listed.Items, &made.Conflicts))
	require.Len(t, made.Conflicts, 1)
	require.Equal(t, "bob bob", made.Conflicts[0].User+" "+made.Conflicts[0].SetBy)
	f.ok(bob, "DELETE", fmt.Sprintf("/v1/unavailability/%d", made.ID), "")
	require.JSONEq(t, `{"items":[],"next":null}`, f.ok(ann, "GET", at, ""))
}

func TestBonus(t *testing.T) {
	t.Parallel()
	plain := newFixture(t)
	plain.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/events/bonus", "")
	list, failing := `[{"name":"ops","primary_paid":1,"secondary_paid":0}]`, false
	f := newFixture(t, func(d *deps) {
		d.Events.Paid = func(context.Context) (json.RawMessage, error) {
			if failing {
				return nil, errors.New("away")
			}
			return json.RawMessage(list), nil
		}
	})
	f.event("ann", "primary", 2, 2)
	f.event("bob", "secondary", 2, 2)
	f.event("bob", "manager", 2, 2)
	got := decode[map[string][]wireEvent](f, bob, "GET", "/api/v0/events/bonus", "")
	require.Len(t, got, 1)
	require.Len(t, got["ann"], 1)
	failing = true
	require.Equal(t, 503, f.do(bob, "GET", "/api/v0/events/bonus", "").Code)
}

// A rotation of office hours has gaps only in those hours, unless the team has a coverage rule. Times that are not
// populated yet are gaps of another kind.
func TestCoverageRulesDecideGaps(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	start := time.Now().UTC().AddDate(0, 0, -3).Format("2006-01-02") + "T00:00"
	rotation := `{"role":"primary","roster":"ops-roster","auto_populate_threshold":7,"layers":[{"start":"` + start + `","every":1,"unit":"days",
		"restrict":[{"days":[],"from":"09:00","to":"17:00"}],"members":[{"user":"ann"},{"user":"bob"}]}]}`
	id := decode[struct{ ID int64 }](f, ann, "POST", "/v1/teams/ops/rotations", rotation).ID
	f.want(200, "", ann, "POST", fmt.Sprintf("/api/v0/schedules/%d/populate", id),
		fmt.Sprintf(`{"start":%d}`, f.hour(0)))
	gaps := func() map[string]int {
		out := map[string]int{}
		for _, g := range itemsOf[planning.Gap](f, bob, "GET", "/v1/teams/ops/gaps?"+f.between(1, 20*24), "") {
			out[g.Role+" "+string(g.Kind)]++
			require.LessOrEqual(t, g.End.Sub(g.Start), 20*24*time.Hour)
		}
		return out
	}
	found := gaps()
	require.NotContains(t, found, "primary nobody", "nights are not wanted")
	require.Contains(t, found, "primary not-populated")

	const at = "/v1/teams/ops/coverage"
	refused := func(as caller, status int, field, path, body string) {
		t.Helper()
		rec := f.do(as, "PUT", path, body)
		require.Equal(t, status, rec.Code, rec.Body)
		require.Equal(t, field, decodeField(t, rec.Body.Bytes()), rec.Body)
	}
	require.Equal(t, []any{map[string]any{"role": "primary", "cover": "schedules", "hours": []any{}}},
		itemsOf[any](f, bob, "GET", at, ""))
	refused(bob, 403, "", at+"/primary", `{"cover":"always"}`)
	refused(ann, 400, "cover", at+"/primary", `{}`)
	refused(ann, 400, "cover", at+"/primary", `{"cover":"x"}`)
	refused(ann, 400, "hours", at+"/primary", `{"cover":"hours"}`)
	refused(ann, 400, "hours", at+"/primary",
		`{"cover":"hours","hours":[{"days":["xxx"],"from":"09:00","to":"17:00"}]}`)
	refused(ann, 400, "role", at+"/vacation", `{"cover":"always"}`)
	require.Equal(t, 404, f.do(ann, "PUT", at+"/none", `{"cover":"always"}`).Code)
	f.ok(ann, "PUT", at+"/primary", `{"cover":"always"}`)
	require.Contains(t, gaps(), "primary nobody", "now nights are")
	f.ok(ann, "PUT", at+"/primary", `{"cover":"hours","hours":[{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"09:00","to":"12:00"}]}`)
	require.NotContains(t, gaps(), "primary nobody")
	require.Equal(t, []any{map[string]any{"role": "primary", "cover": "hours", "hours": []any{
		map[string]any{"days": []any{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, "from": "09:00",
			"to": "12:00"}}}}, itemsOf[any](f, bob, "GET", at, ""))
	f.ok(ann, "PUT", at+"/primary", `{"cover":"never"}`)
	require.Empty(t, gaps())
	f.ok(ann, "PUT", at+"/primary", `{"cover":"schedules"}`)
	require.Contains(t, gaps(), "primary not-populated")
	require.Equal(t, 4, f.count(`select count(*) from oncall_audit where action = 'coverage_edited'`))
}

func decodeField(t *testing.T, raw []byte) string {
	t.Helper()
	var p struct{ Field string }
	require.NoError(t, json.Unmarshal(raw, &p))
	return p.Field
}

func TestRecurringAndInvalidHolidays(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/holidays"
	calendar := func(events ...string) string {
		return "BEGIN:VCALENDAR\r\n" + strings.ReplaceAll("BEGIN:VEVENT\n"+
			strings.Join(events, "\nEND:VEVENT\nBEGIN:VEVENT\n")+"\nEND:VEVENT\n", "\n", "\r\n") + "END:VCALENDAR\r\n"
	}
	for why, body := range map[string]string{
		`Boxing, day: DTSTART: "soon" is not a time`:                                     calendar("UID:b\nSUMMARY:Boxing\\, day\nDTSTART:soon"),
		`a: DTSTART: it is missing`:                                                      calendar("UID:a"),
		`DTEND: "x" is not a time`:                                                       calendar("UID:a\nDTSTART:20261225\nDTEND:x"),
		`a: the rule may recur at most daily`:                                            calendar("UID:a\nDTSTART:20261225\nRRULE:FREQ=SECONDLY"),
		`EXDATE: "y" is not a time`:                                                      calendar("UID:a\nDTSTART:20261225\nEXDATE:20261225,y"),
		`the calendar has more than 5000 occurrences`:                                    calendar("UID:a\nDTSTART:20261225\nRRULE:FREQ=DAILY"),
		`line 1 of the iCalendar cannot be read: "hello" is no property like NAME:value`: "hello",
		`send the text of an .ics file, from BEGIN:VCALENDAR to END:VCALENDAR`:           "BEGIN:VCALENDAR\r\n",
		`line 3 of the iCalendar cannot be read: parsing property UID`:                   "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID;X=\"\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
	} {
		rec := f.do(ann, "PUT", at, body)
		require.Equal(t, 400, rec.Code, rec.Body)
		var p struct{ Field, Detail string }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &p))
		require.Equal(t, "body", p.Field)
		require.Contains(t, p.Detail, why)
	}
	f.want(204, "", ann, "PUT", at, calendar(
		"UID:a\nSUMMARY:Late\\, very\nDTSTART:20261225T100000\nDTEND:20261225T120000\nnot folded", "UID:b\nDTSTART:20270101\nSTATUS:CANCELLED",
		"UID:c\nSUMMARY:Mondays\nDTSTART;VALUE=DATE:20270104\nRRULE:FREQ=WEEKLY;COUNT=3\nEXDATE;VALUE=DATE:20270111\nRDATE;VALUE=DATE:20270202"))
	found := decode[struct {
		Holidays []struct{ Date, Name string }
		LeftOut  []string `json:"left_out"`
	}](f, bob, "GET", at, "")
	require.Equal(t, []string{`line 7: "not folded" is no property like NAME:value`}, found.LeftOut)
	var got []string
	for _, h := range found.Holidays {
		got = append(got, h.Date+" "+h.Name)
	}
	require.Equal(t, []string{"2026-12-25 Late, very", "2027-01-04 Mondays", "2027-01-18 Mondays",
		"2027-02-02 Mondays"}, got)
}
