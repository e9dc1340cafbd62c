package oncallimport

import (
	"context"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// peopleAndTeams imports users with their contacts, and teams, including deleted ones. For a person who exists here,
// the existing values take precedence.
func (im *importer) peopleAndTeams(ctx context.Context) error {
	return im.Load(ctx, im.userTable(), imports.Table{
		Class: "contacts", From: "user_contact", Order: "user_id, mode_id", Label: "$mode_id contact of $user_id",
		Name: "user_contacts", Key: []string{"user_id", "mode"},
		Columns: []imports.Column{
			personColumn("user_id"), {Name: "mode", From: "mode_id",
				Value: im.Mode}, kept(im.Destination()), imports.Unverified(),
		},
	}, im.teamTable(), imports.Table{
		Class: "deleted teams", From: "deleted_team", Order: "team_id", Label: "deleted team $old_name", Name: "deleted_teams",
		Columns: []imports.Column{
			teamColumn("team_id"), {Name: "old_name", Value: name}, {Name: "new_name", Value: name},
			{Name: "deleted_at", Type: "timestamptz", From: "deletion_date", Value: epoch("it has no date")},
		},
	})
}

func (im *importer) userTable() imports.Table {
	return imports.Table{
		Class: "users", From: "user", Order: "id", Label: "user $name", Name: "users", Unique: []string{imports.FoldedName}, Columns: []imports.Column{
			{Name: "oncall_id", Type: "bigint", From: "id", Value: known(im.people)}, nameOf(im.people),
			{Name: "full_name", Same: "s.full_name in ('', t.full_name)", Empty: "t.full_name = ''", Keep: true},
			kept(imports.ZoneColumn()),
			{Name: "time_zone_given", Type: "boolean", From: "time_zone", Same: "true", Hidden: true,
				Value: func(row *imports.Row, column string) any { return !row.Null(column) }},
			{Name: "photo_url", Same: "s.photo_url is null or s.photo_url is not distinct from t.photo_url",
				Empty: "t.photo_url is null",
				Keep:  true, Value: (*imports.Row).TextOrNil},
			{Name: "active", Type: "boolean", Keep: true}, kept(imports.AdminColumn("god")),
		},
	}
}

func (im *importer) teamTable() imports.Table {
	// An empty value in the source does not change the value here.
	optional := func(name, from string) imports.Column {
		return imports.Column{Name: name, From: from, Empty: "t." + name + " is null", Value: (*imports.Row).TextOrNil,
			Same: "coalesce(s." + name + ", '') = '' or s." + name + " is not distinct from t." + name}
	}
	phone := optional("override_phone", "override_phone_number")
	phone.Value = func(row *imports.Row, column string) any {
		if phone := row.Text(column); phone != "" {
			number, err := im.Region.Number(phone)
			if err == nil {
				return number
			}
			row.Note("its override_phone_number is not a phone number that can be called; it was not changed")
		}
		return row.TextOrNil(column)
	}
	return imports.Table{
		Class: "teams", From: "team", Order: "id", Label: "team $name", Name: "teams", Unique: []string{imports.FoldedName}, Columns: []imports.Column{
			{Name: "oncall_id", Type: "bigint", From: "id", Value: known(im.teams)}, nameOf(im.teams),
			{Name: "description", Same: "s.description in ('', t.description)", Empty: "t.description = ''"},
			{Name: "time_zone", From: "scheduling_timezone", Empty: "t.time_zone = 'UTC'", Value: imports.Zone},
			{Name: "active", Type: "boolean"}, optional("email", ""), optional("slack_channel",
				""), optional("slack_channel_notifications", ""),
			optional("iris_plan", ""), phone, {Name: "iris_enabled", Type: "boolean", Empty: "not t.iris_enabled"},
			{Name: "api_managed", Type: "boolean", From: "api_managed_roster", Empty: "not t.api_managed"},
		},
	}
}

// known returns the conversion for numbers of people or teams. It ignores a row that is not in all: names has reported
// it.
func known(all map[int64]named) func(*imports.Row, string) any {
	return func(row *imports.Row, column string) any {
		id := row.Int(column)
		if _, ok := all[id]; !ok {
			row.Ignore()
		}
		return id
	}
}

func nameOf(all map[int64]named) imports.Column {
	c := imports.NameColumn()
	c.Value = func(row *imports.Row, _ string) any { return all[row.Int("id")].name }
	return c
}

// kept returns a column whose existing value stays if it differs.
func kept(c imports.Column) imports.Column {
	c.Keep = true
	return c
}

func name(row *imports.Row, column string) any { return row.Name(column) }

// epoch returns the conversion for times. A row without a time is lost, for the reason missing.
func epoch(missing string) func(*imports.Row, string) any {
	return func(row *imports.Row, column string) any {
		at, ok := row.Epoch(column)
		if !ok {
			row.Lose(missing)
		}
		return at
	}
}

// members imports members and administrators of teams, which are in one table here, and services.
func (im *importer) members(ctx context.Context) error {
	type pair struct{ team, user int64 }
	of := func(row *imports.Row) pair { return pair{row.Int("team_id"), row.Int("user_id")} }
	admins, members := map[pair]bool{}, map[pair]bool{}
	read := imports.From{Class: "team administrators", Table: "team_admin", Columns: "team_id user_id"}
	if err := im.Each(ctx, read, func(row *imports.Row) { admins[of(row)] = true }); err != nil {
		return err
	}
	position := imports.PositionColumn("team_id")
	table := func(class, from, label string, member func(*imports.Row, string) any) imports.Table {
		admin := imports.AdminColumn("")
		admin.Value = func(row *imports.Row, _ string) any { return admins[of(row)] }
		return imports.Table{
			Class: class, From: from, Order: "team_id, user_id", Label: label, Name: "team_members", Key: []string{"team_id", "user_id"},
			Columns: []imports.Column{
				teamColumn("team_id"), personColumn("user_id"),
				{Name: "member", Type: "boolean", Same: "t.member or not s.member", Empty: "not t.member",
					Value: member}, position, admin,
			},
		}
	}
	return im.Load(ctx, table("team members", "team_user", "$user_id in $team_id", func(row *imports.Row, _ string) any {
		members[of(row)] = true
		return true
	}), table("team administrators", "team_admin", "$user_id, administrator of $team_id", func(row *imports.Row, _ string) any {
		if members[of(row)] {
			row.Ignore() // imported with the membership
		} else {
			row.Note("it is an administrator of the team and not a member")
		}
		return false
	}), imports.Table{
		Class: "services", From: "service", Order: "id", Label: "service $name", Name: "services", Unique: []string{imports.FoldedName},
		Columns: []imports.Column{idColumn(), imports.NameColumn()},
	}, imports.Table{
		Class: "services of teams", From: "team_service", Order: "team_id, service_id", Label: "service $service_id of $team_id",
		Name: "team_services", Key: []string{"team_id", "service_id"},
		Columns: []imports.Column{teamColumn("team_id"), byID("service_id", "services")},
	})
}
