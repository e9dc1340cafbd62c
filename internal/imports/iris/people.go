package iris

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/imports"
)

// people imports users, teams, mailing lists and their members, and the roles that plans use.
func (im *importer) people(ctx context.Context) error {
	admins, zones, err := im.aboutUsers(ctx)
	if err != nil {
		return err
	}
	if err := im.readTargets(ctx); err != nil {
		return err
	}
	wanted := make([]imports.Target, 0, len(im.targets))
	for id, t := range im.targets {
		wanted = append(wanted, imports.Target{Kind: t.kind, Name: t.name, Number: id})
	}
	out, err := im.store.Adopt(ctx, wanted)
	im.report.Class("targets").AddOutcome(out)
	if err != nil {
		return err
	}
	for _, part := range []func() error{
		func() error { return im.users(ctx, admins, zones) },
		func() error { return im.teams(ctx) },
		func() error { return im.lists(ctx) },
		func() error { return im.targetRoles(ctx) },
		func() error { return im.orphans(ctx) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

// aboutUsers reads which users are administrators, and the time zones of users.
func (im *importer) aboutUsers(ctx context.Context) (admins map[int64]bool, zones map[int64]string, err error) {
	admins, zones = map[int64]bool{}, map[int64]string{}
	err = im.each(ctx, from{"administrators", "user", "", []string{"target_id", "admin"}}, func(row *imports.Row) {
		admins[row.Int("target_id")] = row.Bool("admin")
	})
	if err != nil {
		return nil, nil, err
	}
	class := from{"time zones", "user_setting", "user_id, name", []string{"user_id", "name", "value"}}
	err = im.each(ctx, class, func(row *imports.Row) {
		if isZone(row) {
			zones[row.Int("user_id")] = strings.TrimSpace(row.Text("value"))
		}
	})
	return admins, zones, err
}

// isZone reports whether a row of user_setting is a known time zone.
func isZone(row *imports.Row) bool {
	if !strings.EqualFold(row.Name("name"), "timezone") {
		return false
	}
	_, ok := zoneOf(row)
	return ok
}

// zoneOf parses the value of a setting as a time zone.
func zoneOf(row *imports.Row) (string, bool) {
	value := strings.TrimSpace(row.Text("value"))
	if value == "" || value == "Local" {
		return value, false
	}
	_, err := time.LoadLocation(value)
	return value, err == nil
}

// readTargets reads the names of all targets.
func (im *importer) readTargets(ctx context.Context) error {
	im.targets = map[int64]target{}
	return im.each(ctx, from{"targets", "target", "id", []string{"id", "name", "type_id"}}, func(row *imports.Row) {
		row.Label = "target " + row.Text("id")
		kind, name := im.kinds[row.Int("type_id")], row.Name("name")
		row.Label = strings.TrimSpace(kind + " " + name + " (" + row.Text("id") + ")")
		switch {
		case kind == "":
			row.Lose("its type is not there")
		case name == "":
			row.Lose("it has no name")
		case kind == "user" || kind == "team" || kind == "mailing-list":
			if id, ok := row.Number("id"); ok {
				im.targets[id] = target{kind, name}
			}
		default:
			row.Lose("there is no such kind of target here")
		}
	})
}

// ofKind returns convert for the targets of one kind; rows of other kinds are not counted.
func (im *importer) ofKind(kind string, convert func(row *imports.Row, name string) []any) func(*imports.Row) ([]any, bool) {
	return func(row *imports.Row) ([]any, bool) {
		t, ok := im.targets[row.Int("id")]
		if !ok || t.kind != kind {
			row.Uncount()
			return nil, false
		}
		row.Label = t.kind + " " + t.name
		return convert(row, t.name), true
	}
}

var targetColumns = []string{"id", "name", "type_id", "active"}

func (im *importer) users(ctx context.Context, admins map[int64]bool, zones map[int64]string) error {
	table := imports.Table{Name: "users", Key: []string{"target_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "target_id", Type: "bigint"},
		{Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "active", Type: "boolean"},
		{Name: "admin", Type: "boolean", Same: "t.admin or not s.admin", Empty: "not t.admin"},
		{Name: "time_zone", Type: "text", Same: "s.time_zone in ('UTC', t.time_zone)", Empty: "t.time_zone = 'UTC'"},
	}}
	return im.load(ctx, from{"users", "target", "id", targetColumns}, table, im.ofKind("user", func(row *imports.Row, name string) []any {
		id := row.Int("id")
		admin, known := admins[id]
		if !known {
			row.Note("there is no row in the table user for it; it was taken as no administrator")
		}
		zone := zones[id]
		if zone == "" {
			zone = "UTC"
		}
		return []any{id, name, row.Bool("active"), admin, zone}
	}))
}

func (im *importer) teams(ctx context.Context) error {
	type heads struct{ manager, director any }
	of := map[int64]heads{}
	err := im.each(ctx, from{"teams' managers", "team", "target_id", []string{"target_id", "manager_id", "director_id"}}, func(row *imports.Row) {
		im.belongs(row, "team")
		of[row.Int("target_id")] = heads{row.IntOrNil("manager_id"), row.IntOrNil("director_id")}
	})
	if err != nil {
		return err
	}
	table := imports.Table{Name: "teams", Key: []string{"target_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "target_id", Type: "bigint"},
		{Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "active", Type: "boolean"},
		head("manager_id"), head("director_id"),
	}}
	err = im.load(ctx, from{"teams", "target", "id", targetColumns}, table, im.ofKind("team", func(row *imports.Row, name string) []any {
		h := of[row.Int("id")]
		return []any{row.Int("id"), name, row.Bool("active"), h.manager, h.director}
	}))
	if err != nil {
		return err
	}
	members := imports.Table{Name: "team_members", Key: []string{"team_id", "user_id"}, Columns: []imports.Column{
		{Name: "team_id", Type: "bigint", Ref: toTeam}, {Name: "user_id", Type: "bigint", Ref: toUser},
		{Name: "position", Type: "int", State: true},
	}}
	position := map[int64]int{}
	return im.load(ctx, from{"team members", "user_team", "team_id, user_id", []string{"team_id", "user_id"}}, members,
		func(row *imports.Row) ([]any, bool) {
			team, user := row.Int("team_id"), row.Int("user_id")
			row.Label = im.named(row, "user_id") + " in team " + im.named(row, "team_id")
			position[team]++
			return []any{team, user, position[team]}, true
		})
}

// head is the column of a team's manager or director. A null in the source does not conflict with a value here.
func head(name string) imports.Column {
	return imports.Column{Name: name, Type: "bigint", Ref: toUserIfHere, Empty: "t." + name + " is null",
		Same: "s." + name + " is null or s." + name + " is not distinct from t." + name}
}

func (im *importer) lists(ctx context.Context) error {
	counts := map[int64]int64{}
	err := im.each(ctx, from{"mailing lists' counts", "mailing_list", "target_id", []string{"target_id", "count"}}, func(row *imports.Row) {
		im.belongs(row, "mailing-list")
		counts[row.Int("target_id")] = row.Int32("count", 0)
	})
	if err != nil {
		return err
	}
	table := imports.Table{Name: "mailing_lists", Key: []string{"target_id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "target_id", Type: "bigint"},
		{Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "active", Type: "boolean"},
		{Name: "member_count", Type: "bigint", State: true},
	}}
	err = im.load(ctx, from{"mailing lists", "target", "id", targetColumns}, table, im.ofKind("mailing-list", func(row *imports.Row, name string) []any {
		return []any{row.Int("id"), name, row.Bool("active"), counts[row.Int("id")]}
	}))
	if err != nil {
		return err
	}
	members := imports.Table{Name: "mailing_list_members", Key: []string{"list_id", "user_id"}, Columns: []imports.Column{
		{Name: "list_id", Type: "bigint", Ref: toList}, {Name: "user_id", Type: "bigint", Ref: toUser},
	}}
	return im.load(ctx, from{"mailing list members", "mailing_list_membership", "list_id, user_id", []string{"list_id", "user_id"}}, members,
		func(row *imports.Row) ([]any, bool) {
			row.Label = im.named(row, "user_id") + " in list " + im.named(row, "list_id")
			return []any{row.Int("list_id"), row.Int("user_id")}, true
		})
}

// targetRoles imports roles that sites added, such as oncall-manager. Iris does not order roles; the built-in ones come
// first.
func (im *importer) targetRoles(ctx context.Context) error {
	im.roles = map[int64]string{}
	table := imports.Table{Name: "target_roles", Key: []string{"name"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "name", Type: "text"}, {Name: "target_kind", Type: "text"}, {Name: "position", Type: "smallint", State: true},
	}}
	position := 100
	return im.load(ctx, from{"target roles", "target_role", "id", []string{"id", "name", "type_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			name, kind := row.Name("name"), im.kinds[row.Int("type_id")]
			row.Label = "role " + name
			if kind != "user" && kind != "team" && kind != "mailing-list" {
				row.Lose("there is no such kind of target here")
				return nil, false
			}
			if name == "" {
				row.Lose("it has no name")
				return nil, false
			}
			im.roles[row.Int("id")] = name
			position++
			return []any{name, kind, position}, true
		})
}

// orphans reports rows about people who do not exist. Such rows were written without foreign key checks.
func (im *importer) orphans(ctx context.Context) error {
	return im.each(ctx, from{"users", "user", "target_id", []string{"target_id"}}, func(row *imports.Row) { im.belongs(row, "user") })
}

// belongs reports a row as lost if the target that it refers to does not exist or has another kind.
func (im *importer) belongs(row *imports.Row, kind string) {
	row.Label = kind + " " + row.Text("target_id")
	if im.targets[row.Int("target_id")].kind != kind {
		row.Lose("there is no target for it, and so no name")
	}
}
