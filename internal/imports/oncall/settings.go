package oncall

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/imports"
)

// subscriptions imports the subscriptions of teams, pinned teams, and the notice settings of people.
func (im *importer) subscriptions(ctx context.Context) error {
	table := imports.Table{Name: "team_subscriptions", Key: []string{"team_id", "subscription_id", "role_id"}, Columns: []imports.Column{
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "subscription_id", Type: "bigint", Ref: toTeam}, {Name: "role_id", Type: "bigint", Ref: toRole},
	}}
	err := im.Load(ctx, from("subscriptions", "team_subscription", "team_id, subscription_id, role_id", "team_id subscription_id role_id"), table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = im.where(row, "team_id") + " to " + im.role(row) + " of " + im.where(row, "subscription_id")
			if row.Int("team_id") == row.Int("subscription_id") {
				row.Skip("a team shows its own events anyway")
				return nil, false
			}
			return []any{row.Int("team_id"), row.Int("subscription_id"), row.Int("role_id")}, true
		})
	if err != nil {
		return err
	}
	pinned := imports.Table{Name: "pinned_teams", Key: []string{"user_id", "team_id"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "team_id", Type: "bigint", Ref: toTeam},
	}}
	err = im.Load(ctx, from("pinned teams", "pinned_team", "user_id, team_id", "team_id user_id"), pinned, func(row *imports.Row) ([]any, bool) {
		row.Label = im.where(row, "team_id") + " for " + im.who(row, "user_id")
		return []any{row.Int("user_id"), row.Int("team_id")}, true
	})
	if err != nil {
		return err
	}
	return im.settings(ctx)
}

// settings imports the notice settings of people. Texts of notices are not imported.
func (im *importer) settings(ctx context.Context) error {
	known := map[string]bool{
		"oncall_reminder": true, "offcall_reminder": true, "event_created": true, "event_edited": true, "event_deleted": true,
		"event_swapped": true, "event_substituted": true,
	}
	roles := map[int64]bool{} // settings that name any
	err := im.Each(ctx, from("roles of settings", "setting_role", "", "setting_id"), func(row *imports.Row) { roles[row.Int("setting_id")] = true })
	if err != nil {
		return err
	}
	table := imports.Table{Name: "notice_settings", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "team_id", Type: "bigint", Ref: toTeam},
		{Name: "mode", Type: "text"}, {Name: "type", Type: "text"}, {Name: "time_before", Type: "int"}, {Name: "only_if_involved", Type: "boolean"},
	}}
	err = im.Load(ctx, from("notification settings", "notification_setting", "id", "id user_id team_id mode_id type_id time_before only_if_involved"), table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = fmt.Sprintf("setting %d of %s", row.Int("id"), im.who(row, "user_id"))
			kind, there := im.types[row.Int("type_id")]
			if !there {
				row.Lose("its type_id is not there")
				return nil, false
			}
			if !known[kind] {
				row.Lose("there are no notifications of type %s here", kind)
				return nil, false
			}
			mode, ok := im.mode(row)
			if !ok {
				return nil, false
			}
			if !roles[row.Int("id")] {
				row.Note("it names no role: it tells of nothing, there as here")
			}
			var before, involved any
			if !row.Null("time_before") {
				before = row.Int32("time_before", 0)
			}
			if !row.Null("only_if_involved") {
				involved = row.Bool("only_if_involved")
			}
			return []any{row.Int("id"), row.Int("user_id"), row.Int("team_id"), mode, kind, before, involved}, true
		})
	if err != nil {
		return err
	}
	links := imports.Table{Name: "notice_setting_roles", Key: []string{"setting_id", "role_id"}, Columns: []imports.Column{
		{Name: "setting_id", Type: "bigint", Ref: toSetting}, {Name: "role_id", Type: "bigint", Ref: toRole},
	}}
	return im.Load(ctx, from("roles of settings", "setting_role", "setting_id, role_id", "setting_id role_id"), links, func(row *imports.Row) ([]any, bool) {
		row.Label = fmt.Sprintf("%s of setting %d", im.role(row), row.Int("setting_id"))
		return []any{row.Int("setting_id"), row.Int("role_id")}, true
	})
}

// keys imports the keys of calendar feeds. The source refers to people and teams by name; here a key refers to them by
// number.
func (im *importer) keys(ctx context.Context) error {
	teams := map[string]int64{}
	for id, t := range im.teams {
		teams[imports.Fold(t.name)] = id
	}
	mine := []string{"@requester_id || ' user ' || @user_id", "@requester_id || ' team ' || @team_id"}
	table := imports.Table{Name: "ical_keys", Key: []string{"key"}, Unique: mine, Yields: "somebody has another key for it here, which stays", Columns: []imports.Column{
		{Name: "key", Type: "text", Hidden: true}, {Name: "requester_id", Type: "bigint", Ref: toUser}, {Name: "user_id", Type: "bigint", Ref: toUser},
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "created_at", Type: "timestamptz"},
	}}
	return im.Load(ctx, from("iCal keys", "ical_key", "requester, type, name", "key requester name type time_created"), table,
		func(row *imports.Row) ([]any, bool) {
			requester, name, kind := row.Name("requester"), row.Name("name"), row.Text("type")
			row.Label = "iCal key of " + requester + " for " + kind + " " + name
			by, known := im.numbers[imports.Fold(requester)]
			var user, team any
			there := false
			switch kind {
			case "user":
				var id int64
				id, there = im.numbers[imports.Fold(name)]
				user = id
			case "team":
				var id int64
				id, there = teams[imports.Fold(name)]
				team = id
			}
			switch {
			case !known:
				row.Lose("whoever asked for it is not there, or has another name now")
			case !there:
				row.Lose("what it shows is not there, or has another name now")
			case row.Text("key") == "":
				row.Lose("it is empty")
			default:
				at, ok := row.Epoch("time_created")
				if !ok {
					at = time.Unix(0, 0).UTC()
				}
				return []any{row.Text("key"), by, user, team, at}, true
			}
			return nil, false
		})
}

// applications imports programs with their keys, and permits them to use the on-call API. If an application of Iris has the
// same name, it gets both keys.
func (im *importer) applications(ctx context.Context) error {
	var keys []imports.ApplicationKeys
	err := im.Each(ctx, from("applications", "application", "id", "id name key"), func(row *imports.Row) {
		name, key := row.Name("name"), row.Text("key")
		row.Label = "application " + name
		switch {
		case name == "" || strings.Contains(name, ":"):
			row.Lose("an application needs a name without colons")
		case key == "":
			row.Lose("it has no key, so nobody can sign as it")
		default:
			keys = append(keys, imports.ApplicationKeys{ID: row.Int("id"), Name: name, Primary: key})
		}
	})
	if err != nil {
		return err
	}
	out, err := im.store.AllowOnCall(ctx, keys)
	class := im.Report.Class("applications")
	class.Read += out.Read
	class.AddOutcome(out)
	return err
}

// audit imports the audit log.
func (im *importer) audit(ctx context.Context) error {
	highest, err := im.Source.Max(ctx, "audit", "id")
	if err != nil {
		return err
	}
	if err := im.store.MakeAuditRoom(ctx, highest); err != nil {
		return err
	}
	table := imports.Table{Name: "oncall_audit", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "at", Type: "timestamptz"}, {Name: "owner", Type: "text"}, {Name: "team", Type: "text"},
		{Name: "action", Type: "text"}, {Name: "context", Type: "json", Hidden: true},
	}}
	return im.Load(ctx, from("audit log", "audit", "id", "id owner_name team_name action_name context timestamp"), table, func(row *imports.Row) ([]any, bool) {
		row.Label = fmt.Sprintf("audit entry %d", row.Int("id"))
		at, ok := row.Epoch("timestamp")
		if !ok {
			row.Lose("it has no time")
			return nil, false
		}
		value, text, ok := row.JSON("context")
		switch {
		case text == "":
			value = json.RawMessage("{}")
		case !ok:
			raw, err := json.Marshal(map[string]string{"unreadable_context": text})
			if err != nil {
				row.Lose("its context cannot be stored")
				return nil, false
			}
			row.Note("its context is not JSON; it stands in the field unreadable_context")
			value = raw
		}
		return []any{row.Int("id"), at, row.Text("owner_name"), row.Text("team_name"), row.Text("action_name"), value}, true
	})
}

// derived are tables and columns that are not imported because they hold no further information: see docs/importing.md.
var derived = map[string]string{
	"session": "*", "notification_queue": "*", "notifier_state": "*",
	"notification_type": "subject body is_reminder",
	"scheduler":         "description",
}

// leftovers reports tables and columns that the import did not read.
func (im *importer) leftovers(ctx context.Context) error {
	return im.Leftovers(ctx, "Oncall", derived)
}
