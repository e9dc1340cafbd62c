package oncallimport

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// settings imports the subscriptions of teams, and the pinned teams, notice settings and feed keys of people. Texts of
// notices are not imported.
func (im *importer) settings(ctx context.Context) error {
	withRoles := map[int64]bool{} // settings that name any role
	roles := imports.From{Class: "roles of settings", Table: "setting_role", Columns: "setting_id"}
	if err := im.Each(ctx, roles, func(row *imports.Row) { withRoles[row.Int("setting_id")] = true }); err != nil {
		return err
	}
	return im.Load(ctx, imports.Table{
		Class: "subscriptions", From: "team_subscription", Order: "team_id, subscription_id, role_id", Label: "$team_id to $role_id of $subscription_id",
		Name: "team_subscriptions", Key: []string{"team_id", "subscription_id", "role_id"}, Columns: []imports.Column{
			{Name: "team_id", Ref: teamColumn("").Ref, Value: func(row *imports.Row, column string) any {
				if row.Int(column) == row.Int("subscription_id") {
					row.Skip("a team always shows its own events")
				}
				return row.Int(column)
			}},
			teamColumn("subscription_id"), roleColumn(),
		},
	}, imports.Table{
		Class: "pinned teams", From: "pinned_team", Order: "user_id, team_id", Label: "$team_id for $user_id",
		Name: "pinned_teams", Key: []string{"user_id", "team_id"}, Columns: []imports.Column{personColumn("user_id"),
			teamColumn("team_id")},
	}, im.noticeTable(withRoles), imports.Table{
		Class: "roles of settings", From: "setting_role", Order: "setting_id, role_id", Label: "$role_id of setting $setting_id",
		Name: "notice_setting_roles", Key: []string{"setting_id", "role_id"},
		Columns: []imports.Column{byID("setting_id", "notice_settings"), roleColumn()},
	}, im.keyTable())
}

func (im *importer) noticeTable(withRoles map[int64]bool) imports.Table {
	known := []string{"oncall_reminder", "offcall_reminder", "event_created", "event_edited", "event_deleted",
		"event_swapped", "event_substituted"}
	kind := func(row *imports.Row, column string) any {
		name := im.Known(row, column).(string)
		switch {
		case row.Dropped():
		case !slices.Contains(known, name):
			row.Lose("there are no notifications of type %s here", name)
		case !withRoles[row.Int("id")]:
			row.Note("it names no role: it notifies of nothing, as in Oncall")
		}
		return name
	}
	orNil := func(read func(*imports.Row, string) any) func(*imports.Row, string) any {
		return func(row *imports.Row, column string) any {
			if row.Null(column) {
				return nil
			}
			return read(row, column)
		}
	}
	return imports.Table{
		Class: "notification settings", From: "notification_setting", Order: "id", Label: "setting $id of $user_id", Name: "notice_settings",
		Columns: []imports.Column{
			idColumn(), personColumn("user_id"), teamColumn("team_id"), {Name: "mode", From: "mode_id", Value: im.Mode},
			{Name: "type", From: "type_id", Value: kind},
			{Name: "time_before", Type: "int",
				Value: orNil(func(row *imports.Row, column string) any { return row.Int32(column, 0) })},
			{Name: "only_if_involved", Type: "boolean",
				Value: orNil(func(row *imports.Row, column string) any { return row.Bool(column) })},
		},
	}
}

// keyTable describes the keys of calendar feeds. The source refers to people and teams by name; here a key refers to
// them by number.
func (im *importer) keyTable() imports.Table {
	people, teams := numbers(im.people), numbers(im.teams)
	subject := func(kind string, numbers map[string]int64) func(*imports.Row, string) any {
		return func(row *imports.Row, _ string) any {
			if row.Text("type") != kind {
				return nil
			}
			return numbers[imports.Fold(row.Name("name"))]
		}
	}
	user, team := personColumn("user_id"), teamColumn("team_id")
	user.Value, team.Value = subject("user", people), subject("team", teams)
	requester := personColumn("requester_id")
	requester.From = "requester"
	requester.Value = func(row *imports.Row, column string) any {
		by := people[imports.Fold(row.Name(column))]
		isUser, isTeam := user.Value(row, ""), team.Value(row, "")
		switch none := int64(0); {
		case by == none:
			row.Lose("its requester does not exist, or has another name now")
		case (isUser == nil || isUser == none) && (isTeam == nil || isTeam == none):
			row.Lose("its person or team does not exist, or has another name now")
		case row.Text("key") == "":
			row.Lose("it is empty")
		}
		return by
	}
	return imports.Table{
		Class: "iCal keys", From: "ical_key", Order: "requester, type, name", Reads: "type name", Label: "iCal key of $requester for $type $name",
		Name: "ical_keys", Unique: []string{"@requester_id || ' user ' || @user_id",
			"@requester_id || ' team ' || @team_id"},
		Yields: "another key for it exists here and is kept", Columns: []imports.Column{
			{Name: "key", Hidden: true}, requester, user, team,
			{Name: "created_at", Type: "timestamptz", From: "time_created", Value: func(row *imports.Row, column string) any {
				if at, ok := row.Epoch(column); ok {
					return at
				}
				return time.Unix(0, 0).UTC()
			}},
		},
	}
}

// numbers returns the numbers of people or teams by folded name.
func numbers(all map[int64]named) map[string]int64 {
	out := make(map[string]int64, len(all))
	for id, one := range all {
		out[imports.Fold(one.name)] = id
	}
	return out
}

// applications imports programs with their keys, and permits them to use the on-call API. An application that exists
// here under the same name keeps its key and gets Oncall's as well.
func (im *importer) applications(ctx context.Context) error {
	var keys []imports.ApplicationKeys
	from := imports.From{Class: "applications", Table: "application", Order: "id", Columns: "id name key"}
	err := im.Each(ctx, from, func(row *imports.Row) {
		name, key := row.Name("name"), row.Text("key")
		row.Label = "application " + name
		switch {
		case name == "" || strings.Contains(name, ":"):
			row.Lose("an application needs a name without colons")
		case key == "":
			row.Lose("it has no key, so no client can authenticate as it")
		default:
			keys = append(keys, imports.ApplicationKeys{ID: row.Int("id"), Name: name, Primary: key})
		}
	})
	if err != nil {
		return err
	}
	out, err := im.store.AllowOnCall(ctx, keys)
	im.Report.Class("applications").AddAll(out)
	return err
}

// audit imports the audit log.
func (im *importer) audit(ctx context.Context) error {
	return im.Load(ctx, imports.Table{
		Class: "audit log", From: "audit", Order: "id", Label: "audit entry $id", Name: "oncall_audit", Columns: []imports.Column{
			idColumn(), {Name: "at", Type: "timestamptz", From: "timestamp",
				Value: epoch("it has no time")}, {Name: "owner", From: "owner_name"},
			{Name: "team", From: "team_name"}, {Name: "action", From: "action_name"}, {Name: "context", Type: "json",
				Hidden: true, Value: auditContext},
		},
	})
}

func auditContext(row *imports.Row, column string) any {
	value, text, ok := row.JSON(column)
	switch {
	case text == "":
		return json.RawMessage("{}")
	case !ok:
		row.Note("its context is not JSON; the text is in the field unreadable_context")
		return imports.Unreadable(text)
	}
	return value
}
