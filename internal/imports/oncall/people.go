package oncall

import (
	"context"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/users"
)

// persons imports users. For a person who exists here, the existing values take precedence.
func (im *importer) persons(ctx context.Context) error {
	table := imports.Table{Name: "users", Key: []string{"oncall_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "oncall_id", Type: "bigint"},
		{Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "full_name", Type: "text", Same: "s.full_name in ('', t.full_name)", Empty: "t.full_name = ''", Keep: true},
		{Name: "time_zone", Type: "text", Same: "s.time_zone in ('UTC', t.time_zone)", Empty: "t.time_zone = 'UTC'", Keep: true},
		{Name: "time_zone_given", Type: "boolean", Same: "true", Hidden: true},
		{Name: "photo_url", Type: "text", Same: "s.photo_url is null or s.photo_url is not distinct from t.photo_url", Empty: "t.photo_url is null", Keep: true},
		{Name: "active", Type: "boolean", Keep: true},
		{Name: "admin", Type: "boolean", Same: "t.admin or not s.admin", Empty: "not t.admin", Keep: true},
	}}
	return im.Load(ctx, from("users", "user", "id", "id name active full_name time_zone photo_url god"), table, func(row *imports.Row) ([]any, bool) {
		p, ok := im.people[row.Int("id")]
		if !ok { // it has no name and was reported
			row.Uncount()
			return nil, false
		}
		row.Label = "user " + p.name
		return []any{row.Int("id"), p.name, row.Text("full_name"), zone(row, "time_zone"), row.TextOrNil("time_zone") != nil, row.TextOrNil("photo_url"), p.active, row.Bool("god")}, true
	})
}

func (im *importer) contacts(ctx context.Context) error {
	table := imports.Table{Name: "user_contacts", Key: []string{"user_id", "mode"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "mode", Type: "text"}, {Name: "destination", Type: "text", Keep: true},
		{Name: "verified_destination", Type: "text", State: true},
	}}
	return im.Load(ctx, from("contacts", "user_contact", "user_id, mode_id", "user_id mode_id destination"), table, func(row *imports.Row) ([]any, bool) {
		row.Label = "contact of " + im.who(row, "user_id")
		mode, ok := im.mode(row)
		if !ok {
			return nil, false
		}
		row.Label = mode + " " + row.Label
		destination := row.Trimmed("destination")
		if destination == "" {
			row.Skip("it is empty")
			return nil, false
		}
		row.Usable(mode, destination)
		return []any{row.Int("user_id"), mode, destination, imports.Unsettled}, true
	})
}

// teamRows imports teams, including deleted ones.
func (im *importer) teamRows(ctx context.Context) error {
	table := imports.Table{Name: "teams", Key: []string{"oncall_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "oncall_id", Type: "bigint"},
		{Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "description", Type: "text", Same: "s.description in ('', t.description)", Empty: "t.description = ''"},
		{Name: "time_zone", Type: "text", Empty: "t.time_zone = 'UTC'"},
		{Name: "active", Type: "boolean"},
		optional("email"), optional("slack_channel"), optional("slack_channel_notifications"), optional("iris_plan"), optional("override_phone"),
		{Name: "iris_enabled", Type: "boolean", Empty: "not t.iris_enabled"},
		{Name: "api_managed", Type: "boolean", Empty: "not t.api_managed"},
	}}
	err := im.Load(ctx, from("teams", "team", "id", "id name description slack_channel slack_channel_notifications email scheduling_timezone "+
		"active iris_plan iris_enabled override_phone_number api_managed_roster"), table, func(row *imports.Row) ([]any, bool) {
		t, ok := im.teams[row.Int("id")]
		if !ok {
			row.Uncount()
			return nil, false
		}
		row.Label = "team " + t.name
		if phone := row.Text("override_phone_number"); phone != "" && users.CheckContact(users.Call, phone) != nil {
			row.Note("its override_phone_number is not one that can be called; it was taken as it is")
		}
		return []any{
			row.Int("id"), t.name, row.Text("description"), zone(row, "scheduling_timezone"), t.active, row.TextOrNil("email"),
			row.TextOrNil("slack_channel"), row.TextOrNil("slack_channel_notifications"), row.TextOrNil("iris_plan"),
			row.TextOrNil("override_phone_number"), row.Bool("iris_enabled"), row.Bool("api_managed_roster"),
		}, true
	})
	if err != nil {
		return err
	}
	deleted := imports.Table{Name: "deleted_teams", Key: []string{"team_id"}, Columns: []imports.Column{
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "old_name", Type: "text"}, {Name: "new_name", Type: "text"},
		{Name: "deleted_at", Type: "timestamptz"},
	}}
	return im.Load(ctx, from("deleted teams", "deleted_team", "team_id", "team_id new_name old_name deletion_date"), deleted,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "deleted team " + row.Name("old_name")
			at, ok := row.Epoch("deletion_date")
			if !ok {
				row.Lose("it has no date")
			}
			return []any{row.Int("team_id"), row.Name("old_name"), row.Name("new_name"), at}, ok
		})
}

// optional is a column of a team setting that may be empty. An empty value in the source does not change the value here.
func optional(name string) imports.Column {
	return imports.Column{Name: name, Type: "text", Empty: "t." + name + " is null",
		Same: "coalesce(s." + name + ", '') = '' or s." + name + " is not distinct from t." + name}
}

// members imports members and administrators of teams, which are in one table here.
func (im *importer) members(ctx context.Context) error {
	type pair struct{ team, user int64 }
	admins, members := map[pair]bool{}, map[pair]bool{}
	of := func(row *imports.Row) pair { return pair{row.Int("team_id"), row.Int("user_id")} }
	err := im.Each(ctx, from("team administrators", "team_admin", "", "team_id user_id"), func(row *imports.Row) { admins[of(row)] = true })
	if err != nil {
		return err
	}
	table := imports.Table{Name: "team_members", Key: []string{"team_id", "user_id"}, Columns: []imports.Column{
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "user_id", Type: "bigint", Ref: toUser},
		{Name: "position", Type: "int", State: true},
		{Name: "member", Type: "boolean", Same: "t.member or not s.member", Empty: "not t.member"},
		{Name: "admin", Type: "boolean", Same: "t.admin or not s.admin", Empty: "not t.admin"},
	}}
	position := map[int64]int{}
	err = im.Load(ctx, from("team members", "team_user", "team_id, user_id", "team_id user_id"), table, func(row *imports.Row) ([]any, bool) {
		p := of(row)
		row.Label = im.who(row, "user_id") + " in " + im.where(row, "team_id")
		members[p] = true
		position[p.team]++
		return []any{p.team, p.user, position[p.team], true, admins[p]}, true
	})
	if err != nil {
		return err
	}
	return im.Load(ctx, from("team administrators", "team_admin", "team_id, user_id", "team_id user_id"), table, func(row *imports.Row) ([]any, bool) {
		p := of(row)
		if members[p] { // imported with the membership
			row.Uncount()
			return nil, false
		}
		row.Label = im.who(row, "user_id") + ", administrator of " + im.where(row, "team_id")
		row.Note("administers a team and is no member of it")
		position[p.team]++
		return []any{p.team, p.user, position[p.team], false, true}, true
	})
}

func (im *importer) services(ctx context.Context) error {
	table := imports.Table{Name: "services", Key: []string{"id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
	}}
	names := map[int64]string{}
	err := im.Load(ctx, from("services", "service", "id", "id name"), table, func(row *imports.Row) ([]any, bool) {
		name := row.Name("name")
		row.Label = "service " + name
		if name == "" {
			row.Lose("it has no name")
			return nil, false
		}
		names[row.Int("id")] = name
		return []any{row.Int("id"), name}, true
	})
	if err != nil {
		return err
	}
	owners := imports.Table{Name: "team_services", Key: []string{"team_id", "service_id"}, Columns: []imports.Column{
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "service_id", Type: "bigint", Ref: toService},
	}}
	return im.Load(ctx, from("services of teams", "team_service", "team_id, service_id", "team_id service_id"), owners,
		func(row *imports.Row) ([]any, bool) {
			row.Label = strings.TrimSpace(fmt.Sprintf("service %d %s", row.Int("service_id"), names[row.Int("service_id")])) + " of " + im.where(row, "team_id")
			return []any{row.Int("team_id"), row.Int("service_id")}, true
		})
}
