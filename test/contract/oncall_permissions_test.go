package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The callers of the table, in its order: an unauthenticated caller; an application without allow_oncall; one with it;
// a read-only person; the administrator of another team; a member of team ops; pat, a member, whose objects the rows
// change; the administrator of ops; an administrator of Iris.
var whoAsks = []caller{anonymous, demo, scheduler, viewer, {name: "a stranger", session: "kim"}, bob,
	{name: "the person", session: "pat"}, owner, admin}

// permission has the status that each caller gets on a route. {id} in the path and $id in the body are the number of
// the object that given makes. $n is a unique number; $day1 and $day2 are one and two days from now,
// $date1 and $date2 the same in RFC 3339. A body that begins
// with ? is a query.
type permission struct {
	method, path string // as in the server's OpenAPI document
	want         string // by caller
	body         string
	given        func(*server) m
}

// usual are the default values of path parameters.
var usual = m{"team": "ops", "roster": "r", "user": "pat", "role": "primary", "service": "shop", "other": "core"}

const everyEvent = `"start": $day1, "end": $day2, "team": "ops", "user": "pat", "role": "shadow"`

// permissions are the permissions of the on-call API (docs/reference/oncall-v0.md 2). Reads need authentication
// (docs/compatibility.md).
var permissions = []permission{
	//                                                   nobody plain app reader stranger member person team-admin god
	{get, "/api/v0/teams", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams", "401 403 201 403 201 201 201 201 201",
		`{"name": "t$n", "scheduling_timezone": "UTC", "admin": "pat"}`, nil},
	{get, "/api/v0/teams/{team}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/api/v0/teams/{team}", "401 403 200 403 403 403 403 200 200", `{"email": "$n@example.com"}`, nil},
	{del, "/api/v0/teams/{team}", "401 403 200 403 403 403 403 200 200", "", anotherOps},
	{get, "/api/v0/teams/{team}/changes", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/team_users", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/users", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/users", "401 403 201 403 403 403 403 201 201", `{"name": "$id"}`, aPerson},
	{del, "/api/v0/teams/{team}/users/{user}", "401 403 200 403 403 403 403 200 200", "", nil},
	{get, "/api/v0/teams/{team}/admins", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/admins", "401 403 201 403 403 403 403 201 201", `{"name": "$id"}`, aPerson},
	{del, "/api/v0/teams/{team}/admins/{user}", "401 403 200 403 403 403 403 200 200", "", anAdmin},
	{get, "/api/v0/teams/{team}/rosters", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/rosters", "401 403 201 403 403 403 403 201 201", `{"name": "r$n"}`, nil},
	{get, "/api/v0/teams/{team}/rosters/{roster}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/api/v0/teams/{team}/rosters/{roster}", "401 403 200 403 403 403 403 200 200",
		`{"roster_order": ["pat", "bob", "ann"]}`, inRoster},
	{del, "/api/v0/teams/{team}/rosters/{roster}", "401 403 200 403 403 403 403 200 200", "", anotherRoster},
	{get, "/api/v0/teams/{team}/rosters/{roster}/users", "401 403 200 200 200 200 200 200 200", "", inRoster},
	{post, "/api/v0/teams/{team}/rosters/{roster}/users", "401 403 201 403 403 403 403 201 201", `{"name": "pat"}`,
		nil},
	{put, "/api/v0/teams/{team}/rosters/{roster}/users/{user}", "401 403 200 403 403 403 403 200 200",
		`{"in_rotation": true}`, inRoster},
	{del, "/api/v0/teams/{team}/rosters/{roster}/users/{user}", "401 403 200 403 403 403 403 200 200", "", inRoster},
	{get, "/api/v0/teams/{team}/rosters/{roster}/{role}/suggest", "401 403 200 200 200 200 200 200 200",
		"?start=$day1&end=$day2", inRoster},
	{get, "/api/v0/teams/{team}/rosters/{roster}/schedules", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/rosters/{roster}/schedules", "401 403 201 403 403 403 403 201 201", weeklySchedule,
		nil},
	{get, "/api/v0/schedules/{id}", "401 403 200 200 200 200 200 200 200", "", aSchedule},
	{put, "/api/v0/schedules/{id}", "401 403 200 403 403 403 403 200 200", `{"auto_populate_threshold": 7}`, aSchedule},
	{del, "/api/v0/schedules/{id}", "401 403 200 403 403 403 403 200 200", "", aSchedule},
	{post, "/api/v0/schedules/{id}/populate", "401 403 200 403 403 403 403 200 200", `{"start": $day1}`, aSchedule},
	{get, "/api/v0/schedules/{id}/preview", "401 403 200 200 200 200 200 200 200",
		"?start=$day1&start__lt=$day2&end__ge=$day1&team__eq=ops", aSchedule},
	{get, "/api/v0/events", "401 403 200 200 200 200 200 200 200", "?team=ops", nil},
	{post, "/api/v0/events", "401 403 201 403 403 201 201 201 201", `{` + everyEvent + `}`, nil},
	{get, "/api/v0/events/{id}", "401 403 200 200 200 200 200 200 200", "", aShift},
	{put, "/api/v0/events/{id}", "401 403 200 403 403 200 200 200 200", `{"note": "$n"}`, aShift},
	{put, "/api/v0/events/{id}", "401 403 200 403 403 403 403 200 200", `{"user": "bob"}`,
		aPastShift}, // only administrators may change the person of a past shift
	{put, "/api/v0/events/{id}", "401 403 200 403 403 200 200 200 200", `{"end": $day2}`,
		aPastShift}, // members may change its end
	{del, "/api/v0/events/{id}", "401 403 200 403 403 200 200 200 200", "", aShift},
	{post, "/api/v0/events/link", "401 403 201 403 403 201 201 201 201", `[{` + everyEvent + `}]`, nil},
	{put, "/api/v0/events/link/{link}", "401 403 204 403 403 204 204 204 204", `{"note": "$n"}`, aLink},
	{del, "/api/v0/events/link/{link}", "401 403 200 403 403 200 200 200 200", "", aLink},
	{post, "/api/v0/events/swap", "401 403 200 403 403 200 200 200 200", `{"events": [{"id": $id}, {"id": $other}]}`,
		aShift},
	{post, "/api/v0/events/override", "401 403 200 403 403 200 200 200 200",
		`{"start": $day1, "end": $day2, "event_ids": [$id], "user": "bob"}`, aShift},
	{get, "/api/v0/events/bonus", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/users", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/users", "401 403 201 403 403 403 403 403 201", `{"name": "u$n"}`, nil},
	{get, "/api/v0/users/{user}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/api/v0/users/{user}", "401 403 204 403 403 403 204 403 204", `{"full_name": "$n"}`,
		nil}, // 403 for the team administrator, because compatibility.team_admins_edit_members is off
	{get, "/api/v0/users/{user}/teams", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/users/{user}/upcoming", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/users/{user}/pinned_teams", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/users/{user}/pinned_teams", "401 403 201 403 403 403 201 403 201", `{"team": "ops"}`, nil},
	{del, "/api/v0/users/{user}/pinned_teams/{team}", "401 403 200 403 403 403 200 403 200", "", aPin},
	{get, "/api/v0/users/{user}/notifications", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/users/{user}/notifications", "401 403 201 403 403 403 201 403 201",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "oncall_reminder", "time_before": 60}`, nil},
	{put, "/api/v0/notifications/{id}", "401 403 200 403 403 403 200 403 200", `{"time_before": 120}`, aNotice},
	{put, "/api/v0/notifications/{id}", "401 403 200 403 403 403 200 403 200", `{"roles": ["shadow"]}`,
		aNotice}, // Oncall did not check permissions here
	{del, "/api/v0/notifications/{id}", "401 403 200 403 403 403 200 403 200", "", aNotice},
	{get, "/api/v0/roles", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/roles", "401 403 201 403 403 403 403 403 201", `{"name": "role$n"}`, nil},
	{del, "/api/v0/roles/{role}", "401 403 200 403 403 403 403 403 200", "", anotherRole},
	{get, "/api/v0/services", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/services", "401 403 201 403 403 403 403 403 201", `{"name": "s$n"}`, nil},
	{get, "/api/v0/services/{service}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/api/v0/services/{service}", "401 403 200 403 403 403 403 403 200", `{"name": "shop$n"}`, anotherService},
	{del, "/api/v0/services/{service}", "401 403 200 403 403 403 403 403 200", "", anotherService},
	{get, "/api/v0/services/{service}/teams", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/services/{service}/oncall", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/services/{service}/oncall/{role}", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/team_services", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/services", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/services", "401 403 201 403 403 403 403 201 201", `{"name": "shop"}`, noShop},
	{del, "/api/v0/teams/{team}/services/{service}", "401 403 200 403 403 403 403 200 200", "", nil},
	{get, "/api/v0/teams/{team}/oncall", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/oncall/{role}", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/summary", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/subscriptions", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/api/v0/teams/{team}/subscriptions", "401 403 201 403 403 403 403 201 201",
		`{"subscription": "core", "role": "primary"}`, nil},
	{del, "/api/v0/teams/{team}/subscriptions/{other}/{role}", "401 403 200 403 403 403 403 200 200", "",
		aSubscription},
	{post, "/api/v0/teams/{team}/iris_escalate", "401 403 200 403 200 200 200 200 200",
		`{"description": "help", "plan": "urgent"}`, nil},
	{get, "/api/v0/iris_settings", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/modes", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/timezones", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/notification_types", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/search", "401 403 200 200 200 200 200 200 200", "?keyword=o", nil},
	{get, "/api/v0/audit", "401 403 200 200 200 200 200 200 200", "", nil},
	// A key belongs to the person who made it.
	{get, "/api/v0/ical_key/user/{user}", "401 403 403 403 403 403 200 403 403", "", aKey},
	{post, "/api/v0/ical_key/user/{user}", "401 403 403 403 403 403 201 403 403", "", nil},
	{del, "/api/v0/ical_key/user/{user}", "401 403 403 403 403 403 200 403 403", "", aKey},
	{post, "/api/v0/ical_key/team/{team}", "401 403 403 201 201 201 201 201 201", "", nil},
	{get, "/api/v0/ical_key/team/{team}", "401 403 403 200 200 200 200 200 200", "", teamKeys},
	{del, "/api/v0/ical_key/team/{team}", "401 403 403 200 200 200 200 200 200", "", teamKeys},
	{get, "/api/v0/ical_key/key/{key}", "401 403 403 403 403 403 200 403 200", "", aKey},
	{del, "/api/v0/ical_key/key/{key}", "401 403 403 403 403 403 200 403 200", "", aKey},
	{get, "/api/v0/ical_key/requester/{user}", "401 403 403 403 403 403 200 403 200", "", aKey},
	{del, "/api/v0/ical_key/requester/{user}", "401 403 403 403 403 403 200 403 200", "", aKey},
	{get, "/api/v0/ical/{key}", "200 200 200 200 200 200 200 200 200", "", aKey},
	{get, "/api/v0/users/{user}/ical", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/api/v0/teams/{team}/ical", "401 403 200 200 200 200 200 200 200", "", nil},
	// Routes that Oncall did not have.
	{get, "/v1/users/{user}/contacts", "401 403 200 403 403 403 200 403 200", "", nil},
	{get, "/v1/users/{user}/visible-contacts", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/users/{user}/contacts/{mode}", "401 403 204 403 403 403 204 403 204", `{"destination": "+15550001112"}`,
		newNumber},
	{del, "/v1/users/{user}/contacts/{mode}", "401 403 204 403 403 403 204 403 204", "", newNumber},
	{post, "/v1/users/{user}/contacts/{mode}/test", "401 403 202 403 403 403 202 403 202", "", newNumber},
	{post, "/v1/users/{user}/contacts/{mode}/code", "401 403 202 403 403 403 202 403 202", "", newNumber},
	{post, "/v1/users/{user}/contacts/{mode}/verify", "401 403 400 403 403 403 400 403 400", `{"code": "00000000"}`,
		newNumber}, // a wrong code
	{get, "/v1/events", "401 403 200 200 200 200 200 200 200", "?team=ops", nil},
	{get, "/v1/search", "401 403 200 200 200 200 200 200 200", "?q=o", nil},
	{get, "/v1/on-call-roles", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/on-call-roles", "401 403 204 403 403 403 403 403 204", `{"name": "role$n"}`, nil},
	{del, "/v1/on-call-roles/{role}", "401 403 204 403 403 403 403 403 204", "", anotherRole},
	{get, "/v1/users/{user}/shifts", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/v1/users/{user}/reminders", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/users/{user}/reminders", "401 403 201 403 403 403 201 403 201",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "oncall_reminder", "before_seconds": 60}`, nil},
	{put, "/v1/reminders/{id}", "401 403 204 403 403 403 204 403 204", `{"before_seconds": 120}`, aNotice},
	{del, "/v1/reminders/{id}", "401 403 204 403 403 403 204 403 204", "", aNotice},
	{get, "/v1/users/{user}/pinned-teams", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/users/{user}/pinned-teams/{team}", "401 403 204 403 403 403 204 403 204", "", nil},
	{del, "/v1/users/{user}/pinned-teams/{team}", "401 403 204 403 403 403 204 403 204", "", aPin},
	// A feed belongs to the person who made it.
	{get, "/v1/users/{user}/calendar-feed", "401 403 403 403 403 403 200 403 403", "", aKey},
	{post, "/v1/users/{user}/calendar-feed", "401 403 403 403 403 403 201 403 403", "", nil},
	{del, "/v1/users/{user}/calendar-feed", "401 403 403 403 403 403 204 403 403", "", aKey},
	{get, "/v1/teams/{team}/calendar-feed", "401 403 403 200 200 200 200 200 200", "", teamKeys},
	{post, "/v1/teams/{team}/calendar-feed", "401 403 403 201 201 201 201 201 201", "", nil},
	{del, "/v1/teams/{team}/calendar-feed", "401 403 403 204 204 204 204 204 204", "", teamKeys},
	{get, "/v1/calendar-feeds/{key}", "401 403 403 403 403 403 200 403 200", "", aKey},
	{del, "/v1/calendar-feeds/{key}", "401 403 403 403 403 403 204 403 204", "", aKey},
	{get, "/v1/users/{user}/calendar-feeds", "401 403 403 403 403 403 200 403 200", "", aKey},
	{del, "/v1/users/{user}/calendar-feeds", "401 403 403 403 403 403 204 403 204", "", aKey},
	{post, "/v1/teams", "401 403 201 403 400 400 201 400 400", `{"name": "t$n", "time_zone": "UTC", "admin": "pat"}`,
		nil}, // everybody but pat may not name pat
	{post, "/v1/teams", "401 403 400 403 201 201 201 201 201", `{"name": "t$n", "time_zone": "UTC"}`,
		nil}, // the application must name an administrator
	{put, "/v1/teams/{team}", "401 403 200 403 403 403 403 200 200", `{"email": "$n@example.com"}`, nil},
	{put, "/v1/teams/{team}/members/{user}", "401 403 204 403 403 403 403 204 204", "", noMember},
	{del, "/v1/teams/{team}/members/{user}", "401 403 204 403 403 403 403 204 204", "", nil},
	{put, "/v1/teams/{team}/admins/{user}", "401 403 204 403 403 403 403 204 204", "", noMember},
	{del, "/v1/teams/{team}/admins/{user}", "401 403 204 403 403 403 403 204 204", "", anAdmin},
	{get, "/v1/teams/{team}/rosters", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/teams/{team}/rosters", "401 403 201 403 403 403 403 201 201",
		`{"name": "r$n", "members": [{"user": "pat"}]}`, nil},
	{get, "/v1/teams/{team}/rosters/{roster}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/teams/{team}/rosters/{roster}", "401 403 200 403 403 403 403 200 200",
		`{"name": "r", "members": [{"user": "pat"}, {"user": "bob", "in_rotation": false}, {"user": "ann"}]}`, nil},
	{del, "/v1/teams/{team}/rosters/{roster}", "401 403 204 403 403 403 403 204 204", "", anotherRoster},
	{put, "/v1/teams/{team}/rosters/{roster}/members/{user}", "401 403 204 403 403 403 403 204 204",
		`{"in_rotation": true}`, nil},
	{del, "/v1/teams/{team}/rosters/{roster}/members/{user}", "401 403 204 403 403 403 403 204 204", "", inRoster},
	{get, "/v1/services", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/services", "401 403 201 403 403 403 403 403 201", `{"name": "s$n"}`, nil},
	{get, "/v1/services/{service}", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/services/{service}", "401 403 200 403 403 403 403 403 200", `{"name": "shop$n"}`, anotherService},
	{del, "/v1/services/{service}", "401 403 204 403 403 403 403 403 204", "", anotherService},
	{get, "/v1/teams/{team}/services", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/teams/{team}/services/{service}", "401 403 204 403 403 403 403 204 204", "", noShop},
	{del, "/v1/teams/{team}/services/{service}", "401 403 204 403 403 403 403 204 204", "", nil},
	{get, "/v1/teams/{team}/subscriptions", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/teams/{team}/subscriptions/{other}/{role}", "401 403 204 403 403 403 403 204 204", "", nil},
	{del, "/v1/teams/{team}/subscriptions/{other}/{role}", "401 403 204 403 403 403 403 204 204", "", aSubscription},
	{get, "/v1/teams/{team}/rotations", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/teams/{team}/rotations", "401 403 201 403 403 403 403 201 201", dailyRotation + "}", inRoster},
	{post, "/v1/teams/{team}/rotations/preview", "401 403 200 403 403 200 200 200 200", dailyDraft, inRoster},
	{post, "/v1/teams/{team}/schedules/preview", "401 403 200 403 403 200 200 200 200", dailyDraft, inRoster},
	{get, "/v1/rotations/{id}", "401 403 200 200 200 200 200 200 200", "", aRotation},
	{put, "/v1/rotations/{id}", "401 403 200 403 403 403 403 200 200", dailyRotation + "}", aRotation},
	{del, "/v1/rotations/{id}", "401 403 200 403 403 403 403 200 200", "", aRotation},
	{get, "/v1/teams/{team}/gaps", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/v1/teams/{team}/coverage", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/teams/{team}/coverage/{role}", "401 403 200 403 403 403 403 200 200", `{"cover": "never"}`, nil},
	{get, "/v1/teams/{team}/fairness", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/v1/teams/{team}/unavailability", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/teams/{team}/unavailability", "401 403 201 403 403 403 201 201 201",
		`{"user": "pat", "start": "$date1", "end": "$date2"}`, nil},
	{del, "/v1/unavailability/{id}", "401 403 204 403 403 403 204 403 204", "", anAbsence},
	{get, "/v1/teams/{team}/conflicts", "401 403 200 200 200 200 200 200 200", "", nil},
	{get, "/v1/teams/{team}/calendar-subscriptions", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/teams/{team}/calendar-subscriptions", "401 403 201 403 403 403 403 201 201",
		`{"url": "https://calendar.test/a.ics", "kind": "shifts", "role": "primary"}`, noCalendars},
	{get, "/v1/users/{user}/calendar-subscriptions", "401 403 200 403 403 403 200 403 200", "", nil},
	{post, "/v1/users/{user}/calendar-subscriptions", "401 403 201 403 403 403 201 403 201",
		`{"url": "https://calendar.test/a.ics"}`, noCalendars},
	{put, "/v1/calendar-subscriptions/{id}", "401 403 200 403 403 403 403 200 200", `{"name": "n"}`, aTeamsCalendar},
	{put, "/v1/calendar-subscriptions/{id}", "401 403 200 403 403 403 200 403 200", `{"name": "n"}`, aPersonsCalendar},
	{del, "/v1/calendar-subscriptions/{id}", "401 403 204 403 403 403 403 204 204", "", aTeamsCalendar},
	{del, "/v1/calendar-subscriptions/{id}", "401 403 204 403 403 403 204 403 204", "", aPersonsCalendar},
	{post, "/v1/calendar-subscriptions/{id}/refresh", "401 403 202 403 403 403 403 202 202", "", aTeamsCalendar},
	{post, "/v1/teams/{team}/imports", "401 403 200 403 403 403 403 200 200", "?role=shadow&roster=r " + aFeast, nil},
	{get, "/v1/holiday-countries", "401 403 200 200 200 200 200 200 200", "", nil},
	{put, "/v1/teams/{team}/holidays", "401 403 204 403 403 403 403 204 204", aFeast, nil},
	{get, "/v1/teams/{team}/holidays", "401 403 200 200 200 200 200 200 200", "", feasts},
	{del, "/v1/teams/{team}/holidays", "401 403 204 403 403 403 403 204 204", "", feasts},
	// A swap needs the consent of the other person. Only pat can give pat's shift away.
	{get, "/v1/teams/{team}/swap-requests", "401 403 200 200 200 200 200 200 200", "", nil},
	{post, "/v1/teams/{team}/swap-requests", "401 403 201 403 403 400 201 400 400",
		`{"event_id": $id, "to": "bob", "user": "pat"}`, aShift},
	{post, "/v1/swap-requests/{id}/accept", "401 403 403 403 403 200 403 403 403", "", aWish},
	{post, "/v1/swap-requests/{id}/decline", "401 403 403 403 403 200 403 403 403", "", aWish},
	{post, "/v1/swap-requests/{id}/withdraw", "401 403 403 403 403 403 200 200 200", "", aWish},
	{post, "/v1/teams/{team}/take", "401 403 201 403 403 201 201 201 400",
		`{"role": "manager", "user": "pat", "until": "$date1"}`, nil}, // the administrator of Iris is not a member
	{post, "/v1/events/swap", "401 403 204 403 403 204 204 204 204", `{"events": [{"id": $id}, {"id": $id}]}`, aShift},
	{post, "/v1/events/preview", "401 403 200 403 403 200 200 200 200", `{"action": "delete", "id": $id}`, aShift},
	{post, "/v1/events/edit", "401 403 200 403 403 200 200 200 200", `{"action": "delete", "id": $id}`, aShift},
	// This is the last row, because a deleted person is logged out.
	{del, "/api/v0/users/{user}", "401 403 200 403 403 403 200 403 200", "", patBack},
}

const (
	weeklySchedule = `{"role": "shadow", "advanced_mode": 0, "events": [{"start": 32400, "duration": 604800}]}`
	dailyRotation  = `{"name": "daily", "role": "shadow", "roster": "r",
		"layers": [{"start": "2027-03-01T09:00", "every": 1, "unit": "days", "members": [{"user": "ann"}]}]`
	dailyDraft = dailyRotation + `, "start": "$date1", "end": "$date2"}`
	aFeast     = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20370101T000000Z\r\nDTEND:20370102T000000Z\r\nSUMMARY:ann\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)

// made returns a given that inserts one object. statement must return its id; paths and bodies use it under name.
func made(name, statement string) func(*server) m {
	return func(s *server) m {
		var v any
		require.NoError(s, s.db.QueryRow(s.Context(), statement).Scan(&v), statement)
		return m{name: v}
	}
}

func done(statement string) func(*server) m {
	return func(s *server) m {
		s.exec(statement)
		return nil
	}
}

// shift inserts a shift of pat for ops.
func shift(start, end, link, back string) string {
	return "insert into shifts (team_id, role_id, user_id, starts_at, ends_at, link_id) select t.id, r.id, u.id, now() + interval '" + start + "', now() + interval '" + end +
		"', " + link + " from teams t, oncall_roles r, users u where t.name = 'ops' and r.name = 'primary' and u.name = 'pat' returning " + back
}

const ofPat = " from users u, teams t where u.name = 'pat' and t.name = 'ops'"

var (
	aPerson    = made("id", "insert into users (name) values ('p' || nextval('n')) returning name")
	anotherOps = made("team", `with t as (insert into teams (name) values ('t' || nextval('n')) returning id, name),
		p as (insert into team_members (team_id, user_id, position, admin, member) select t.id, x.user_id, x.position, x.admin, x.member
			from t, team_members x join teams o on o.id = x.team_id and o.name = 'ops')
		select name from t`)
	anAdmin = made("user", `with u as (insert into users (name) values ('p' || nextval('n')) returning id, name), m as (insert into team_members (team_id, user_id, position, admin)
		select t.id, u.id, 9, true from u, teams t where t.name = 'ops') select name from u`)
	// noMember is a person who is in no team.
	noMember      = made("user", "insert into users (name) values ('p' || nextval('n')) returning name")
	anotherRoster = made("roster", "insert into rosters (team_id, name) select id, 'r' || nextval('n') from teams where name = 'ops' returning name")
	inRoster      = done("insert into roster_members (roster_id, user_id, priority) select r.id, u.id, 9 from rosters r, users u where r.name = 'r' and u.name = 'pat'")
	aShift        = func(s *server) m {
		other := made("other", shift("3 days", "4 days", "null", "id"))(s)
		return changed(other, made("id", shift("1 day", "2 days", "null", "id"))(s))
	}
	aPastShift = made("id", shift("-3 days", "1 day", "null", "id"))
	aLink      = made("link", shift("1 day", "2 days", "md5(nextval('n')::text)", "link_id"))
	aPin       = done("insert into pinned_teams (user_id, team_id) select u.id, t.id" + ofPat)
	aNotice    = made("id", `with s as (insert into notice_settings (user_id, team_id, mode, type, time_before) select u.id, t.id, 'email', 'oncall_reminder', 60`+ofPat+` returning id)
		insert into notice_setting_roles select s.id, r.id from s, oncall_roles r where r.name = 'primary' returning setting_id`)
	patBack = func(s *server) m {
		s.sessions["pat"], _, s.tokens["pat"] = s.logIn("pat")
		return nil
	}
	// newNumber gives pat a number that is not verified.
	newNumber = func(s *server) m {
		s.exec("delete from contact_codes")
		s.exec("insert into user_contacts (user_id, mode, destination) select id, 'sms', '+15550001111' from users where name = 'pat' on conflict (user_id, mode) do update set destination = excluded.destination")
		return m{"mode": "sms"}
	}
	anotherRole      = made("role", "insert into oncall_roles (name) values ('role' || nextval('n')) returning name")
	anotherService   = made("service", "insert into services (name) values ('s' || nextval('n')) returning name")
	noShop           = done("delete from team_services")
	aSubscription    = done("insert into team_subscriptions select t.id, c.id, r.id from teams t, teams c, oncall_roles r where t.name = 'ops' and c.name = 'core' and r.name = 'primary'")
	aKey             = made("key", "insert into ical_keys (key, requester_id, user_id) select gen_random_uuid()::text, u.id, u.id"+ofPat+" returning key")
	teamKeys         = done("insert into ical_keys (key, requester_id, team_id) select gen_random_uuid()::text, u.id, t.id from users u, teams t where t.name = 'ops'")
	anAbsence        = made("id", "insert into unavailabilities (user_id, starts_at, ends_at) select u.id, now() + interval '1 day', now() + interval '2 days'"+ofPat+" returning id")
	noCalendars      = done("delete from calendar_subscriptions")
	aTeamsCalendar   = made("id", "insert into calendar_subscriptions (kind, team_id, role_id, name, url_sealed, host, created_by) select 'shifts', t.id, r.id, 'n', '', 'h', 'x' from teams t, oncall_roles r where t.name = 'ops' and r.name = 'primary' returning id")
	aPersonsCalendar = made("id", "insert into calendar_subscriptions (kind, user_id, name, url_sealed, host, created_by) select 'unavailability', u.id, 'n', '', 'h', 'x'"+ofPat+" returning id")
	feasts           = func(s *server) m {
		s.do(scheduler, put, "/v1/teams/ops/holidays", aFeast).empty(204)
		return nil
	}
	aSchedule = func(s *server) m {
		return decode[m](s.do(scheduler, post, "/api/v0/teams/ops/rosters/r/schedules", weeklySchedule).is(201))
	}
	aRotation = func(s *server) m {
		return decode[m](s.do(scheduler, post, "/v1/teams/ops/rotations", dailyRotation+"}").is(201))
	}
	aWish = func(s *server) m {
		ids := aShift(s)
		return decode[m](s.do(scheduler, post, "/v1/teams/ops/swap-requests",
			m{"event_id": ids["id"], "to": "bob", "user": "pat"}).is(201))
	}
)

// before runs before each request. It restores the data that the previous request may have changed.
const before = `
	update users set active = true where name = 'pat' and not active;
	delete from pinned_teams; delete from team_subscriptions; delete from ical_keys; delete from swap_requests; delete from shifts where ends_at > now();
	delete from schedules; delete from notice_settings;
	insert into rosters (team_id, name) select id, 'r' from teams where name = 'ops' on conflict do nothing;
	delete from roster_members where user_id = (select id from users where name = 'pat');
	insert into team_members (team_id, user_id, position, admin, member) select t.id, u.id, u.id, u.name = 'ann', true from users u, teams t
		where t.name = 'ops' and u.name in ('ann', 'bob', 'pat') on conflict (team_id, user_id) do update set admin = excluded.admin, member = true;
	insert into services (name) select 'shop' where not exists (select from services where name = 'shop');
	insert into team_services select t.id, s.id from teams t, services s where t.name = 'ops' and s.name = 'shop' on conflict do nothing;
`

// everything are the tables that a refused request must not change.
const everything = `select md5(string_agg(row, ';' order by row)) from (
	select t::text from teams t union all select t::text from team_members t union all select t::text from rosters t union all select t::text from roster_members t
	union all select t::text from schedules t union all select t::text from shifts t union all select t::text from users t union all select t::text from user_contacts t
	union all select t::text from oncall_roles t union all select t::text from services t union all select t::text from team_services t
	union all select t::text from notice_settings t union all select t::text from notice_setting_roles t union all select t::text from pinned_teams t
	union all select t::text from team_subscriptions t union all select t::text from ical_keys t union all select t::text from swap_requests t
	union all select t::text from unavailabilities t union all select t::text from calendar_subscriptions t union all select t::text from holidays t union all select t::text from coverage_wishes t
	union all select t::text from oncall_audit t union all select t::text from notices t union all select t::text from incidents t) x (row)`

// filled replaces the placeholders of a request: numbers, days and objects.
func filled(s *server, text string, things m) string {
	all := changed(m{"n": s.number("select nextval('n')"), "day1": time.Now().Unix() + day, "day2": time.Now().Unix() +
		2*day, "date1": rfc3339(time.Now().Unix() + day), "date2": rfc3339(time.Now().Unix() + 2*day)}, things)
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(all))) { // longer names first, because a name may begin with another one
		value := all[name]
		if f, ok := value.(float64); ok {
			value = int64(f)
		}
		pairs = append(pairs, "{"+name+"}", fmt.Sprint(value), "$"+name, fmt.Sprint(value))
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Sends every request of the on-call API as every caller.
func TestOncallPermissions(t *testing.T) {
	t.Parallel()
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode([]m{}) }))
	t.Cleanup(list.Close)
	s := newCalendar(t, configured(t, "oncall: {bonus_url: \""+list.URL+
		"\", escalate_application: demo, urgent_plan: pager}\n"))
	s.exec("create sequence n start 100")
	for _, name := range []string{"kim", "pat"} {
		s.join(name)
	}
	s.do(caller{session: "kim"}, post, "/api/v0/teams", m{"name": "core", "scheduling_timezone": "UTC"}).empty(201)
	s.exec(before)
	s.exec(shift("-9 days", "-8 days", "null", "id")) // a person who was on call is switched off, not deleted
	s.do(owner, post, "/api/v0/teams/ops/rosters/r/users", m{"name": "ann"}).is(201)
	s.do(owner, post, "/api/v0/teams/ops/rosters/r/users", m{"name": "bob"}).is(201)
	var wrong []string
	for _, p := range permissions {
		wants := strings.Fields(p.want)
		require.Len(t, wants, len(whoAsks), p.path)
		for i, who := range whoAsks {
			if a := s.asks(p, who); strconv.Itoa(a.status) != wants[i] {
				wrong = append(wrong, fmt.Sprintf("%s: %d instead of %s: %s", a.what, a.status, wants[i], a.body))
			}
		}
	}
	require.Empty(t, wrong, strings.Join(wrong, "\n"))
}

func (s *server) asks(p permission, who caller) answer {
	s.Helper()
	if p.method != get || p.given != nil {
		s.exec(before)
	}
	things := maps.Clone(usual)
	if p.given != nil {
		maps.Copy(things, p.given(s))
	}
	path, text := filled(s, p.path, things), filled(s, p.body, things)
	if rest, query := strings.CutPrefix(text, "?"); query {
		rest, text, _ = strings.Cut(rest, " ")
		path += "?" + rest
	}
	var body any
	if text != "" {
		body = text
	}
	var was string
	if p.method != get {
		was = s.text(everything)
	}
	a := s.do(who, p.method, path, body)
	if p.method != get && (a.status >= 400 || strings.HasSuffix(p.path, "/preview")) {
		require.Equal(s, was, s.text(everything), "%s changed something", a.what)
	}
	if a.status == 401 || a.status == 403 {
		said := decode[m](a)
		require.NotEmpty(s, said["title"], a.what)
	}
	return a
}

// Fails for a route of the on-call API without a row in the table, and for a row without a route.
func TestEveryOncallRouteHasAPermission(t *testing.T) {
	t.Parallel()
	s := newCalendar(t, everythingServed(t))
	known := map[string]bool{}
	for _, p := range permissions {
		known[p.method+" "+p.path] = true
	}
	served := map[string]bool{}
	for _, o := range s.api.operations {
		if o.ofOncall() {
			served[o.method+" "+o.path] = true
		}
	}
	var missing, gone []string
	for route := range served {
		if !known[route] {
			missing = append(missing, route)
		}
	}
	for route := range known {
		if !served[route] {
			gone = append(gone, route)
		}
	}
	require.Empty(t, missing, "add a row for each to permissions in oncall_permissions_test.go; or, if its callers are not those of the calendar, "+
		"a row to rights() and the path to resources in permissions_test.go")
	require.Empty(t, gone, "remove these rows of permissions: no server has the route, or resources in permissions_test.go has the path")
}
