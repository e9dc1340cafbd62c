package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// refusal is a request of the on-call API that is refused, and its error. "" = the error has no description.
type refusal struct {
	as                 caller
	method, path, body string
	status             int
	title, description string
}

const (
	integrity = "IntegrityError"
	gone      = "404 Not Found"
	forbidden = "Unauthorized"

	badTeam     = "invalid team name"
	badPayload  = "invalid payload"
	badSchedule = "invalid schedule"
	badEvent    = "Invalid event"
	badUpdate   = "Invalid event update"
	badSwap     = "Invalid event swap request"
	badOverride = "Invalid override request"
	badNotice   = "invalid notification setting"
	badFilling  = "Invalid populate/preview request"
)

// refusals are the documented errors, in the order of the document. $name is an object that the test makes. $day1 and
// $day2 are one and two days from now.
var refusals = []refusal{
	// 1 Conventions
	{scheduler, get, "/api/v0/nowhere", "", 404, gone, ""},
	{scheduler, "PATCH", "/api/v0/teams", "", 405, "405 Method Not Allowed", ""},
	{scheduler, get, "/api/v0/search", "", 400, "Missing parameter", `The "keyword" parameter is required.`},
	{scheduler, get, "/api/v0/teams?get_id=maybe", "", 400, "Invalid parameter",
		`The "get_id" parameter is invalid. The value of the parameter must be "true" or "false".`},
	{scheduler, get, "/api/v0/users/ann/upcoming?limit=some", "", 400, "Invalid parameter",
		`The "limit" parameter is invalid. The value must be an integer.`},
	{scheduler, get, "/api/v0/events?colour=red", "", 400, "Bad constraint param", ""},
	{scheduler, get, "/api/v0/events?start__contains=1", "", 400, "Bad constraint param", ""},
	{scheduler, get, "/api/v0/events?user__ne=ann", "", 400, "Bad constraint param", ""},
	// 4.1 Teams
	{bob, post, "/api/v0/teams", `{"scheduling_timezone": "UTC"}`, 400, "400 Bad Request",
		"name attribute missing from request"},
	{bob, post, "/api/v0/teams", `{"name": "x"}`, 400, "400 Bad Request",
		"scheduling_timezone attribute missing from request"},
	{bob, post, "/api/v0/teams", `{"name": "a./b", "scheduling_timezone": "UTC"}`, 400, badTeam,
		`team name contains invalid character "./"`},
	{bob, post, "/api/v0/teams", `{"name": "a%2Fb", "scheduling_timezone": "UTC"}`, 400, badTeam,
		`team name contains invalid character "/"`},
	{bob, post, "/api/v0/teams", `{"name": "x", "scheduling_timezone": "UTC", "slack_channel": "x"}`, 400,
		"invalid slack channel", "slack channel name needs to start with #"},
	{bob, post, "/api/v0/teams", `{"name": "x", "scheduling_timezone": "UTC", "slack_channel_notifications": "x"}`,
		400, "invalid slack notifications channel",
		"slack channel notifications name needs to start with #"},
	{bob, post, "/api/v0/teams", `{"name": "x", "scheduling_timezone": "UTC", "iris_plan": "none"}`, 400,
		"invalid iris escalation plan", "no iris plan named none exists"},
	{scheduler, post, "/api/v0/teams", `{"name": "x", "scheduling_timezone": "UTC"}`, 400, "invalid admin",
		"API requests must specify a team admin username in the admin field"},
	{scheduler, post, "/api/v0/teams", `{"name": "x", "scheduling_timezone": "UTC", "admin": "zoe"}`, 400,
		"invalid admin", "admin username zoe was not found in db"},
	{bob, post, "/api/v0/teams", `{"name": " ops ", "scheduling_timezone": "UTC"}`, 422, integrity,
		`team name "ops" already exists`},
	{scheduler, get, "/api/v0/teams/none", "", 404, gone, ""},
	{scheduler, get, "/api/v0/teams/ops?active=0", "", 404, gone, ""},
	{bob, put, "/api/v0/teams/ops", `{"email": "x"}`, 403, forbidden,
		`Action not allowed: "bob" is not an admin for "ops"`},
	{owner, put, "/api/v0/teams/ops", `{"name": "a&b"}`, 400, badTeam, `team name contains invalid character "&"`},
	{owner, put, "/api/v0/teams/ops", `{"name": ""}`, 400, badTeam, "empty team name"},
	{owner, put, "/api/v0/teams/ops", `{"iris_enabled": 1}`, 400, badPayload, "iris_enabled must be boolean"},
	{owner, put, "/api/v0/teams/ops", `{"api_managed_roster": "no"}`, 400, badPayload,
		"api_managed_roster must be boolean"},
	{owner, put, "/api/v0/teams/ops", `{"scheduling_timezone": "Asia/Kolkata"}`, 400, badPayload,
		"requested scheduling_timezone is not supported. Supported timezones: ['UTC', 'Europe/Zurich']"},
	{owner, put, "/api/v0/teams/ops", `{"iris_plan": "none"}`, 400, "invalid iris escalation plan",
		"no iris plan named none exists"},
	{owner, put, "/api/v0/teams/ops", `{"name": "core"}`, 422, integrity, "A team named 'core' already exists"},
	{scheduler, put, "/api/v0/teams/none", `{"email": "x"}`, 404, gone, ""},
	{scheduler, del, "/api/v0/teams/none", "", 404, gone, ""},
	{scheduler, get, "/api/v0/teams/none/summary", "", 404, gone, ""},
	// 4.2 Members and administrators
	{owner, post, "/api/v0/teams/ops/users", `{}`, 422, integrity, "name missing for user"},
	{owner, post, "/api/v0/teams/ops/users", `{"name": "zoe"}`, 422, integrity, "user zoe not found"},
	{scheduler, post, "/api/v0/teams/none/users", `{"name": "ann"}`, 422, integrity, "team none not found"},
	{owner, post, "/api/v0/teams/ops/users", `{"name": "bob"}`, 422, integrity,
		`user name "bob" is already in team ops`},
	{owner, del, "/api/v0/teams/ops/users/root", "", 404, gone, ""},
	{owner, del, "/api/v0/teams/ops/users/zoe", "", 404, gone, ""},
	{owner, post, "/api/v0/teams/ops/admins", `{}`, 400, "name attribute missing from request",
		"name attribute missing from request"},
	{owner, post, "/api/v0/teams/ops/admins", `{"name": "zoe"}`, 422, integrity, "invalid team or user"},
	{scheduler, post, "/api/v0/teams/none/admins", `{"name": "ann"}`, 422, integrity, "invalid team or user"},
	{owner, post, "/api/v0/teams/ops/admins", `{"name": "ann"}`, 422, integrity,
		`user name "ann" is already an admin of team ops`},
	{owner, del, "/api/v0/teams/ops/admins/bob", "", 404, gone, ""},
	// 4.3 Rosters
	{scheduler, get, "/api/v0/teams/none/rosters", "", 422, integrity, `team "none" not found`},
	{owner, post, "/api/v0/teams/ops/rosters", `{}`, 400, "name attribute missing from request",
		"name attribute missing from request"},
	{owner, post, "/api/v0/teams/ops/rosters", `{"name": "a.b"}`, 400, "invalid roster name",
		`roster name contains invalid character "."`},
	{owner, post, "/api/v0/teams/ops/rosters", `{"name": "r"}`, 422, integrity,
		`roster name "r" already exists for team ops`},
	{scheduler, post, "/api/v0/teams/none/rosters", `{"name": "r"}`, 422, integrity,
		`roster name "r" already exists for team none`},
	{scheduler, get, "/api/v0/teams/ops/rosters/none", "", 404, gone, ""},
	{scheduler, get, "/api/v0/teams/none/rosters/r", "", 404, gone, ""},
	{owner, put, "/api/v0/teams/ops/rosters/r", `{}`, 400, "invalid roster update", "missing roster name or order"},
	{owner, put, "/api/v0/teams/ops/rosters/r", `{"roster_order": ["ann", "root"]}`, 400, "Invalid roster order",
		"All users in provided order must be part of the roster"},
	{owner, put, "/api/v0/teams/ops/rosters/r", `{"roster_order": ["ann"]}`, 400, "Invalid roster order",
		"Roster order must include all roster members"},
	{owner, put, "/api/v0/teams/ops/rosters/r", `{"name": "a,b"}`, 400, "invalid roster name",
		`roster name contains invalid character ","`},
	{owner, put, "/api/v0/teams/ops/rosters/r", `{"name": "s"}`, 422, integrity,
		"roster 's' already existed for team 'ops'"},
	{owner, put, "/api/v0/teams/ops/rosters/none", `{"name": "t"}`, 404, gone, ""},
	{owner, del, "/api/v0/teams/ops/rosters/none", "", 404, gone, ""},
	{owner, post, "/api/v0/teams/ops/rosters/r/users", `{}`, 400, "incomplete data", `missing field "name"`},
	{owner, post, "/api/v0/teams/ops/rosters/r/users", `{"name": "zoe"}`, 422, integrity, "invalid team or user"},
	{owner, post, "/api/v0/teams/ops/rosters/r/users", `{"name": "ann"}`, 422, integrity,
		`user "ann" is already in the roster`},
	{owner, post, "/api/v0/teams/ops/rosters/none/users", `{"name": "ann"}`, 422, integrity, `roster "none" not found`},
	{owner, put, "/api/v0/teams/ops/rosters/r/users/ann", `{}`, 400, "incomplete data", `missing field "in_rotation"`},
	{owner, del, "/api/v0/teams/ops/rosters/none/users/ann", "", 404, gone, ""},
	{scheduler, get, "/api/v0/teams/ops/rosters/r/boss/suggest?start=1&end=2", "", 400, "Invalid role",
		`role "boss" not found`},
	{scheduler, get, "/api/v0/teams/ops/rosters/none/primary/suggest?start=1&end=2", "", 400, "Invalid roster",
		`roster "none" not found in team "ops"`},
	{scheduler, get, "/api/v0/teams/none/rosters/r/primary/suggest?start=1&end=2", "", 400, "Invalid roster",
		`roster "r" not found in team "none"`},
	{scheduler, get, "/api/v0/teams/ops/rosters/r/primary/suggest?end=2", "", 400, "Missing parameter",
		`The "start" parameter is required.`},
	{scheduler, get, "/api/v0/teams/ops/rosters/r/primary/suggest?start=2", "", 400, "Missing parameter",
		`The "end" parameter is required.`},
	{scheduler, get, "/api/v0/teams/ops/rosters/r/primary/suggest?start=x&end=2", "", 400, "Invalid parameter",
		`The "start" parameter is invalid. The value must be an integer.`},
	// 4.4 Schedules
	{scheduler, get, "/api/v0/teams/ops/rosters/r/schedules?fields=colour", "", 400, "Bad fields",
		"One or more invalid fields"},
	{scheduler, get, "/api/v0/schedules/$schedule?fields=id,role", "", 400, "Bad fields", "One or more invalid fields"},
	{scheduler, get, "/api/v0/schedules/999", "", 404, gone, ""},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules", `{}`, 400, badSchedule,
		"missing required parameters: events, role, advanced_mode"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 1, "events": [{"start": 0}]}`, 400, badSchedule,
		"schedule event requires both start and duration fields"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 1, "events": [{"start": null, "duration": 1}]}`, 400, badSchedule,
		"schedule event start cannot be null"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 1, "events": [{"start": 0, "duration": null}]}`, 400, badSchedule,
		"schedule event duration must be positive"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 1, "events": [{"start": 0, "duration": 0}]}`, 400, badSchedule,
		"schedule event duration must be positive"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 0, "events": [{"start": 0, "duration": 86400}]}`, 400, badSchedule,
		"invalid advanced mode setting"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "boss", "advanced_mode": 0, "events": [{"start": 0, "duration": 604800}]}`, 422, integrity, "role not found"},
	{owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 0, "events": [{"start": 0, "duration": 604800}], "scheduler": {"name": "magic"}}`,
		422, integrity, "scheduler not found"},
	{owner, post, "/api/v0/teams/ops/rosters/none/schedules",
		`{"role": "primary", "advanced_mode": 0, "events": [{"start": 0, "duration": 604800}]}`, 422, integrity,
		`roster "none" not found`},
	{scheduler, post, "/api/v0/teams/none/rosters/r/schedules",
		`{"role": "primary", "advanced_mode": 0, "events": [{"start": 0, "duration": 604800}]}`, 422, integrity,
		`team "none" not found`},
	{owner, put, "/api/v0/schedules/$schedule", `{"roster": "r"}`, 400, "Invalid edit",
		"team must be specified with roster"},
	{owner, put, "/api/v0/schedules/$schedule", `{"events": [{"start": 0, "duration": 86400}]}`, 400, "Invalid edit",
		"schedule cannot be represented in simple mode"},
	{owner, put, "/api/v0/schedules/$advanced", `{"advanced_mode": 0}`, 400, "Invalid edit",
		"schedule cannot be represented in simple mode"},
	{owner, put, "/api/v0/schedules/$schedule", `{"role": "boss"}`, 422, integrity, "role not found"},
	{owner, put, "/api/v0/schedules/$schedule", `{"scheduler": {"name": "magic"}}`, 422, integrity,
		"scheduler not found"},
	{scheduler, put, "/api/v0/schedules/$schedule", `{"team": "none", "roster": "r"}`, 422, integrity,
		`team "none" not found`},
	{scheduler, put, "/api/v0/schedules/$schedule", `{"team": "core", "roster": "none"}`, 422, integrity,
		`roster "none" not found`},
	{owner, put, "/api/v0/schedules/999", `{}`, 404, gone, ""},
	{owner, del, "/api/v0/schedules/999", "", 404, gone, ""},
	{owner, post, "/api/v0/schedules/999/populate", `{"start": $day1}`, 404, gone, ""},
	{owner, post, "/api/v0/schedules/$schedule/populate", `{"start": 86400}`, 400, badFilling,
		"cannot populate/preview starting in the past"},
	{scheduler, get, "/api/v0/schedules/$schedule/preview?start=86400&start__lt=$day2&end__ge=$day1&team__eq=ops", "",
		400, badFilling,
		"cannot populate/preview starting in the past"},
	{scheduler, get, "/api/v0/schedules/$schedule/preview?start__lt=2&end__ge=1&team__eq=ops", "", 400,
		"Missing parameter", `The "start" parameter is required.`},
	{scheduler, get, "/api/v0/schedules/$schedule/preview?start=1&end__ge=1&team__eq=ops", "", 400,
		"Missing parameter", `The "start__lt" parameter is required.`},
	{scheduler, get, "/api/v0/schedules/$schedule/preview?start=1&start__lt=2&team__eq=ops", "", 400,
		"Missing parameter", `The "end__ge" parameter is required.`},
	{scheduler, get, "/api/v0/schedules/$schedule/preview?start=1&start__lt=2&end__ge=1", "", 400, "Missing parameter",
		`The "team__eq" parameter is required.`},
	// 4.5 and 6.1-6.3 Events
	{scheduler, get, "/api/v0/events/999", "", 404, gone, ""},
	{scheduler, get, "/api/v0/events/soon", "", 404, gone, ""},
	{scheduler, get, "/api/v0/events/$event?fields=colour", "", 400, "Bad fields", "One or more invalid fields"},
	{bob, post, "/api/v0/events", `{"start": 86400, "end": 3, "user": "zoe", "team": "core", "role": "boss"}`, 400,
		badEvent, "Creating events in the past not allowed"},
	{bob, post, "/api/v0/events", `{"start": $day1, "end": $day1, "user": "zoe", "team": "core", "role": "boss"}`, 400,
		badEvent, "Event must start before it ends"},
	{bob, post, "/api/v0/events", `{"start": $day1, "end": $day2, "user": "zoe", "team": "core", "role": "boss"}`, 403,
		forbidden,
		`Action not allowed: "bob" is not part of "core"`},
	{bob, post, "/api/v0/events", `{"start": $day1, "end": $day2, "user": "root", "team": "ops", "role": "boss"}`, 400,
		badEvent, "User must be part of the team"},
	{bob, post, "/api/v0/events", `{"start": $day1, "end": $day2, "user": "bob", "team": "ops", "role": "boss"}`, 422,
		integrity, `role "boss" not found`},
	{scheduler, post, "/api/v0/events", `{"start": $day1, "end": $day2, "user": "bob", "team": "none", "role": "primary"}`, 400, "Invalid event", "User must be part of the team"},
	{bob, put, "/api/v0/events/$event", `{"team": "core"}`, 400, badUpdate, "Invalid column"},
	{bob, put, "/api/v0/events/$event", `{"start": $day2, "end": $day1}`, 400, badUpdate,
		"Event must start before it ends"},
	{bob, put, "/api/v0/events/999", `{"note": "x"}`, 404, gone, ""},
	{bob, put, "/api/v0/events/$past", `{"user": "bob"}`, 403, forbidden,
		`Action not allowed: "bob" is not an admin for "ops"`},
	{bob, put, "/api/v0/events/$past", `{"role": "shadow"}`, 403, forbidden,
		`Action not allowed: "bob" is not an admin for "ops"`},
	{bob, put, "/api/v0/events/$event", `{"start": 86400}`, 403, forbidden,
		`Action not allowed: "bob" is not an admin for "ops"`},
	{bob, put, "/api/v0/events/$other", `{"note": "x"}`, 403, forbidden,
		`Action not allowed: "bob" is not part of "core"`},
	{bob, put, "/api/v0/events/$event", `{"user": "root"}`, 400, badUpdate, "Event user must be part of the team"},
	{bob, put, "/api/v0/events/$event", `{"user": "zoe"}`, 400, badUpdate, "Event user must be part of the team"},
	{bob, put, "/api/v0/events/$event", `{"role": "boss"}`, 422, integrity, `role "boss" not found`},
	{bob, del, "/api/v0/events/$other", "", 403, forbidden, `Action not allowed: "bob" is not part of "core"`},
	{admin, del, "/api/v0/events/$past", "", 400, badUpdate, "Deleting events in the past not allowed"},
	{bob, del, "/api/v0/events/999", "", 404, gone, ""},
	// 6.4 Linked events
	{bob, post, "/api/v0/events/link", `{}`, 400, "Invalid argument", "events argument needs to be a list"},
	{bob, post, "/api/v0/events/link", `[]`, 400, "Invalid argument", "events list cannot be empty"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "bob", "role": "primary"}]`, 400,
		"Invalid argument", "event missing team attribute"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "bob", "role": "primary", "team": "none"}]`, 400, badEvent, "Invalid team name: none"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "bob", "role": "primary", "team": "ops"}, {"start": $day1, "end": $day2, "user": "bob", "role": "primary"}]`,
		400, badEvent, "Missing team for event"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "bob", "role": "primary", "team": "ops"}, {"start": $day1, "end": $day2, "user": "bob", "role": "primary", "team": "core"}]`,
		400, badEvent, "Events can only be submitted to one team"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "root", "role": "primary", "team": "ops"}]`, 400, badEvent, "User root must be part of the team ops"},
	{bob, post, "/api/v0/events/link", `[{"start": 86400, "end": $day2, "user": "bob", "role": "primary", "team": "ops"}]`, 400, badEvent, "Creating events in the past not allowed"},
	{bob, post, "/api/v0/events/link", `[{"start": $day2, "end": $day1, "user": "bob", "role": "primary", "team": "ops"}]`, 400, badEvent, "Event must start before it ends"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "bob", "role": "boss", "team": "ops"}]`, 422, integrity, "role not found"},
	{bob, post, "/api/v0/events/link", `[{"start": $day1, "end": $day2, "user": "root", "role": "primary", "team": "core"}]`, 403, forbidden,
		`Action not allowed: "bob" is not part of "core"`},
	{bob, put, "/api/v0/events/link/$link", `{"start": $day1}`, 400, badUpdate, "Invalid column"},
	{bob, put, "/api/v0/events/link/$link", `{}`, 400, badUpdate, "Nothing to change: give user, role or note"},
	{bob, put, "/api/v0/events/link/$link", `{"user": "root"}`, 400, badUpdate, "Event user must be part of the team"},
	{admin, put, "/api/v0/events/link/$pastlink", `{"note": "x"}`, 400, badUpdate,
		"Editing events in the past not allowed"},
	{bob, put, "/api/v0/events/link/none", `{"note": "x"}`, 404, gone, ""},
	{admin, del, "/api/v0/events/link/$pastlink", "", 400, badUpdate, "Deleting events in the past not allowed"},
	{bob, del, "/api/v0/events/link/none", "", 404, gone, ""},
	// 6.5 Swap
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}]}`, 400, badSwap, "Must provide 2 events"},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": $event}, {"id": $event}]}`, 400, badSwap,
		"Must provide 2 events"},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": 0}]}`, 400, badSwap, "Invalid event id: 0"},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": 999}]}`, 404, gone, ""},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": "none", "linked": true}]}`, 404, gone, ""},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": $past}]}`, 400, badSwap,
		"Cannot edit events in the past"},
	{admin, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": $other}]}`, 400, "Event swap not allowed",
		"Swapped events must come from the same team"},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": "$mixed", "linked": true}]}`, 400,
		"Event swap not allowed", "all linked events must have the same user"},
	{viewer, post, "/api/v0/events/swap", `{"events": [{"id": $event}, {"id": $next}]}`, 403, forbidden,
		"This user may only read"},
	{bob, post, "/api/v0/events/swap", `{"events": [{"id": $other}, {"id": $other}]}`, 403, forbidden,
		`Action not allowed: "bob" is not a team member`},
	// 6.6 Override
	{bob, post, "/api/v0/events/override", `{"start": $day1, "end": $day2, "event_ids": [], "user": "bob"}`, 400,
		"Invalid name or list of events", ""},
	{bob, post, "/api/v0/events/override", `{"start": $day1, "end": $day2, "event_ids": [999], "user": "bob"}`, 400,
		"Invalid name or list of events", ""},
	{bob, post, "/api/v0/events/override", `{"start": $day1, "end": $day2, "event_ids": [$event], "user": "zoe"}`, 400,
		"Invalid name or list of events", ""},
	{bob, post, "/api/v0/events/override", `{"start": 86400, "end": $day2, "event_ids": [$other], "user": "root"}`,
		403, forbidden, `Action not allowed: "bob" is not a team member`},
	{bob, post, "/api/v0/events/override", `{"start": 86400, "end": $day2, "event_ids": [$event], "user": "root"}`,
		400, badOverride, "Cannot edit events in the past"},
	{admin, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day2, "event_ids": [$event, $other], "user": "root"}`, 400, badOverride, "Events must be from the same team"},
	{bob, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day2, "event_ids": [$event, $shadow], "user": "root"}`, 400, badOverride,
		"Substituting user must be part of the team"},
	{bob, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day2, "event_ids": [$event, $shadow], "user": "bob"}`, 400, badOverride, "events must have the same role"},
	{bob, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day2, "event_ids": [$event, $bobs], "user": "bob"}`, 400, badOverride, "events must have the same role"},
	{bob, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day9, "event_ids": [$event, $far], "user": "bob"}`, 400, badOverride, "events must be consecutive"},
	{bob, post, "/api/v0/events/override",
		`{"start": $day1, "end": $day2, "event_ids": [$event, $next], "user": "bob"}`, 400, badOverride,
		"events must overlap with override time range"},
	// 4.6 Users
	{scheduler, get, "/api/v0/users?fields=password_hash", "", 400, "Bad fields", "One or more invalid fields"},
	{scheduler, get, "/api/v0/users/ann?fields=id,name", "", 400, "Bad fields", "One or more invalid fields"},
	{scheduler, get, "/api/v0/users/zoe", "", 404, gone, ""},
	{scheduler, get, "/api/v0/users/zoe/teams", "", 404, gone, ""},
	{bob, post, "/api/v0/users", `{"name": "fresh"}`, 403, "403 Forbidden", "Admin only action"},
	{admin, post, "/api/v0/users", `{"name": "ann"}`, 422, integrity, `user name "ann" already exists`},
	{bob, put, "/api/v0/users/ann", `{"full_name": "X"}`, 403, forbidden, `Action not allowed for "bob"`},
	{scheduler, put, "/api/v0/users/zoe", `{"full_name": "X"}`, 400, "No User Found", "no user exists with given name"},
	{bob, del, "/api/v0/users/ann", "", 403, forbidden, `Action not allowed for "bob"`},
	{bob, post, "/api/v0/users/bob/pinned_teams", `{}`, 400, "Invalid team pin", "Missing team parameter"},
	{bob, post, "/api/v0/users/bob/pinned_teams", `{"team": "ops"}`, 400, "Invalid team pin",
		"Team already pinned for this user"},
	{bob, post, "/api/v0/users/bob/pinned_teams", `{"team": "none"}`, 422, integrity, `team "none" not found`},
	{scheduler, post, "/api/v0/users/zoe/pinned_teams", `{"team": "ops"}`, 422, integrity, `user "zoe" not found`},
	{bob, del, "/api/v0/users/bob/pinned_teams/core", "", 404, gone, ""},
	// 4.7 Roles and services
	{scheduler, get, "/api/v0/roles?fields=colour", "", 400, "Bad fields", "One or more invalid fields"},
	{admin, post, "/api/v0/roles", `{"name": "primary"}`, 422, integrity, `role "primary" already existed`},
	{admin, del, "/api/v0/roles/boss", "", 404, gone, ""},
	{bob, post, "/api/v0/services", `{"name": "x"}`, 403, "403 Forbidden", "Admin only action"},
	{admin, post, "/api/v0/services", `{"name": "shop"}`, 422, integrity, `service name "shop" already exists`},
	{scheduler, get, "/api/v0/services/none", "", 404, gone, ""},
	{admin, del, "/api/v0/services/none", "", 404, gone, ""},
	{owner, post, "/api/v0/teams/ops/services", `{"name": "shop"}`, 422, integrity,
		`service "shop" already claimed by team "core"`},
	{owner, post, "/api/v0/teams/ops/services", `{"name": "none"}`, 422, integrity, `service "none" not found`},
	{scheduler, post, "/api/v0/teams/none/services", `{"name": "shop"}`, 422, integrity, `team "none" not found`},
	{owner, del, "/api/v0/teams/ops/services/shop", "", 404, gone, ""},
	// 4.10 Notification settings
	{bob, post, "/api/v0/users/bob/notifications", `{}`, 400, badNotice,
		"missing required parameters: team, roles, mode, type"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "none", "time_before": 1}`, 400, badNotice,
		"notification type none does not exist"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "oncall_reminder"}`, 400, badNotice,
		"settings must define exactly one of {'time_before', 'only_if_involved'}"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "oncall_reminder", "time_before": 1, "only_if_involved": true}`, 400, badNotice,
		"settings must define exactly one of {'time_before', 'only_if_involved'}"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "oncall_reminder", "only_if_involved": true}`, 400, badNotice,
		"reminder setting must define time_before"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "email", "type": "event_created", "time_before": 1}`, 400, badNotice,
		"notification setting must define only_if_involved"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["boss"], "mode": "email", "type": "oncall_reminder", "time_before": 1}`, 400, "invalid request",
		"unable to create notification: invalid roles"},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "none", "roles": ["primary"], "mode": "email", "type": "oncall_reminder", "time_before": 1}`, 422, integrity,
		`team "none" not found`},
	{bob, post, "/api/v0/users/bob/notifications",
		`{"team": "ops", "roles": ["primary"], "mode": "smoke", "type": "oncall_reminder", "time_before": 1}`, 400, badNotice,
		"mode smoke does not exist"},
	{bob, put, "/api/v0/notifications/$reminder", `{"only_if_involved": true}`, 400, "invalid setting update",
		"reminder setting must define only time_before"},
	{bob, put, "/api/v0/notifications/$notice", `{"time_before": 5}`, 400, "invalid setting update",
		"notification setting must define only only_if_involved"},
	{bob, put, "/api/v0/notifications/999", `{"time_before": 5}`, 404, gone, ""},
	{bob, del, "/api/v0/notifications/999", "", 404, gone, ""},
	// 4.11 Subscriptions
	{owner, post, "/api/v0/teams/ops/subscriptions", `{"role": "primary"}`, 400, "Invalid subscription",
		"Missing subscription name or role name"},
	{owner, post, "/api/v0/teams/ops/subscriptions", `{"subscription": "ops", "role": "primary"}`, 400,
		"Invalid subscription",
		"Subscription team must be different from subscribing team"},
	{owner, post, "/api/v0/teams/ops/subscriptions", `{"subscription": "none", "role": "primary"}`, 422, integrity,
		`Team "none" not found`},
	{owner, post, "/api/v0/teams/ops/subscriptions", `{"subscription": "core", "role": "boss"}`, 422, integrity,
		`Role "boss" not found`},
	{owner, post, "/api/v0/teams/ops/subscriptions", `{"subscription": "core", "role": "primary"}`, 422, integrity,
		"Subscription already exists"},
	{owner, del, "/api/v0/teams/ops/subscriptions/core/shadow", "", 404, gone, ""},
	// 4.12 Calendar keys
	{bob, get, "/api/v0/ical_key/user/ann", "", 403, forbidden,
		`Action not allowed: "bob" is not allowed to view ical_key of "ann"`},
	{bob, post, "/api/v0/ical_key/user/ann", "", 403, forbidden,
		`Action not allowed: "bob" is not allowed to update ical_key of "ann"`},
	{bob, del, "/api/v0/ical_key/user/ann", "", 403, forbidden,
		`Action not allowed: "bob" is not allowed to delete ical_key of "ann"`},
	{owner, get, "/api/v0/ical_key/user/ann", "", 404, gone, ""},
	{bob, post, "/api/v0/ical_key/team/none", "", 400, "Invalid team name",
		`Team "none" does not exist or is inactive`},
	{owner, get, "/api/v0/ical_key/key/$key", "", 403, forbidden,
		`Action not allowed: "ann" is not an admin of ical_key`},
	{owner, del, "/api/v0/ical_key/key/$key", "", 403, forbidden,
		`Action not allowed: "ann" is not an admin of ical_key`},
	{bob, get, "/api/v0/ical_key/key/none", "", 404, gone, ""},
	{owner, get, "/api/v0/ical_key/requester/ann", "", 404, gone, ""},
	{anonymous, get, "/api/v0/ical/none", "", 404, gone, ""},
	// 11 The escalate button
	{bob, post, "/api/v0/teams/ops/iris_escalate", `{"description": ""}`, 400, "Iris escalation failed",
		"Escalation cannot have an empty description"},
	{bob, post, "/api/v0/teams/ops/iris_escalate", `{"description": "x", "plan": "magic"}`, 400,
		"Iris escalation failed", "Invalid escalation plan"},
	{bob, post, "/api/v0/teams/ops/iris_escalate", `{"description": "x"}`, 400, "Iris escalation failed",
		"No escalation plan specified and team has no custom escalation plan defined"},
	{bob, post, "/api/v0/teams/none/iris_escalate", `{"description": "x", "plan": "custom"}`, 400,
		"Iris escalation failed",
		"No escalation plan specified and team has no custom escalation plan defined"},
}

// Sends all refusals. None may change anything.
func TestEveryOncallError(t *testing.T) {
	t.Parallel()
	s := newCalendar(t, configured(t, "time_zones: [UTC, Europe/Zurich]\noncall: {escalate_application: demo, urgent_plan: pager}\n"))
	s.exec("create sequence n start 100")
	s.roster()
	now := time.Now().Unix()
	made := func(as caller, path string, body any) m {
		return decode[m](s.do(as, post, "/api/v0"+path, body).is(201))
	}
	s.do(owner, post, "/api/v0/teams/ops/rosters", m{"name": "s"}).is(201)
	s.do(admin, post, "/api/v0/teams", m{"name": "core", "scheduling_timezone": "UTC"}).is(201)
	s.do(admin, post, "/api/v0/services", m{"name": "shop"}).is(201)
	s.do(admin, post, "/api/v0/teams/core/services", m{"name": "shop"}).is(201)
	s.do(owner, post, "/api/v0/teams/ops/subscriptions", m{"subscription": "core", "role": "primary"}).is(201)
	s.do(bob, post, "/api/v0/users/bob/pinned_teams", m{"team": "ops"}).is(201)
	event := func(user, role string, start, end int64) m {
		return m{"start": now + start*day, "end": now + end*day, "user": user, "team": "ops", "role": role}
	}
	link := func(events ...m) any { return made(owner, "/events/link", events)["link_id"] }
	notice := m{"team": "ops", "roles": []string{"primary"}, "mode": "email", "type": "oncall_reminder",
		"time_before": 60}
	weekly := m{"role": "primary", "advanced_mode": 0, "events": []m{{"start": 0, "duration": 7 * day}}}
	daily := m{"role": "primary", "advanced_mode": 1, "events": []m{{"start": 0, "duration": day}}}
	things := m{
		"event": s.event("ann", "primary", now+day, now+2*day), "next": s.event("ann", "primary", now+2*day, now+3*day),
		"far": s.event("ann", "primary", now+5*day, now+6*day), "shadow": s.event("ann", "shadow", now+day, now+2*day),
		"bobs": s.event("bob", "primary", now+day, now+2*day), "past": s.event("ann", "primary", now, now+day),
		"other": decode[int64](s.do(admin, post, "/api/v0/events",
			m{"start": now + day, "end": now + 2*day, "user": "root", "team": "core", "role": "primary"}).is(201)),
		"schedule": made(owner, "/teams/ops/rosters/r/schedules", weekly)["id"], "advanced": made(owner,
			"/teams/ops/rosters/r/schedules", daily)["id"],
		"link": link(event("ann", "primary", 7, 8)), "pastlink": link(event("ann", "primary", 0,
			1)), "mixed": link(event("ann", "primary", 7, 8), event("bob", "primary", 8, 9)),
		"reminder": made(bob, "/users/bob/notifications", notice)["id"],
		"notice": made(bob, "/users/bob/notifications", changed(notice,
			m{"time_before": nil, "type": "event_created", "only_if_involved": true}))["id"],
		"key":  s.do(bob, post, "/api/v0/ical_key/user/bob", nil).is(201).body,
		"day1": now + day, "day2": now + 2*day, "day9": now +
			9*day, // the start of the events, however long the test takes
	}
	s.exec("update shifts set starts_at = starts_at - interval '9 days' where id = $1 or link_id = $2", things["past"],
		things["pastlink"])
	was := s.text(everything)
	var wrong []string
	for _, c := range refusals {
		var body any
		if c.body != "" {
			body = filled(s, c.body, things)
		}
		a := s.do(c.as, c.method, filled(s, c.path, things), body)
		want := m{"title": c.title}
		if c.description != "" {
			want["description"] = c.description
		}
		if got := decode[m](a); a.status != c.status || fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Sprintf("%s %s: %d %v instead of %d %v", a.what, c.body, a.status, got, c.status,
				want))
		}
	}
	for _, w := range wrong {
		t.Log(w)
	}
	require.Empty(t, wrong)
	require.Equal(t, was, s.text(everything), "a refused request changed something")
}
