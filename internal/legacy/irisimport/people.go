package irisimport

import (
	"cmp"
	"context"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// people imports users, teams, mailing lists and their members, and the roles that plans use.
func (im *importer) people(ctx context.Context) error {
	return imports.RunAll(ctx, im.readTargets, im.users, im.teams, im.lists, im.targetRoles, func(ctx context.Context) error {
		// Rows about people who do not exist were written without foreign key checks.
		return im.Each(ctx, imports.From{Class: "users", Table: "user", Order: "target_id", Columns: "target_id"}, func(row *imports.Row) {
			im.belongs(row, "user")
		})
	})
}

// readTargets reads the names of all targets. Existing ones with the same names get their numbers from Iris.
func (im *importer) readTargets(ctx context.Context) error {
	var wanted []imports.Target
	err := im.Each(ctx, imports.From{Class: "targets", Table: "target", Order: "id", Columns: "id name type_id"}, func(row *imports.Row) {
		row.Label = "target " + row.Text("id")
		kind, name := im.NameOf(row, "type_id"), row.Name("name")
		row.Label = strings.TrimSpace(kind + " " + name + " (" + row.Text("id") + ")")
		switch {
		case kind == "":
			row.Lose("its type does not exist")
			return
		case name == "":
			row.Lose("it has no name")
			return
		}
		if checkKind(row, kind); row.Dropped() {
			return
		}
		if id, ok := row.Number("id"); ok {
			im.targets[id], im.Names["target_id"][id] = target{kind, name}, name
			wanted = append(wanted, imports.Target{Kind: kind, Name: name, Number: id})
		}
	})
	if err != nil {
		return err
	}
	out, err := im.store.Adopt(ctx, wanted)
	im.Report.Class("targets").AddOutcome(out)
	return err
}

// targetTable describes the targets of one kind; rows of other kinds are not counted.
func (im *importer) targetTable(class, kind, name string, more ...imports.Column) imports.Table {
	named := imports.NameColumn()
	named.Value = func(row *imports.Row, _ string) any { return im.targets[row.Int("id")].name }
	number := func(row *imports.Row, column string) any {
		id := row.Int(column)
		if im.targets[id].kind != kind {
			row.Ignore()
		}
		return id
	}
	return imports.Table{
		Class: class, From: "target", Order: "id", Label: kind +
			" $name", Name: name, Unique: []string{imports.FoldedName},
		Columns: append([]imports.Column{
			{Name: "target_id", Type: "bigint", From: "id", Value: number}, named, {Name: "active", Type: "boolean"},
		}, more...),
	}
}

// users imports users. Whether they are administrators, and their time zones, come from other tables.
func (im *importer) users(ctx context.Context) error {
	admins, zones := map[int64]bool{}, map[int64]string{}
	err := im.Each(ctx, imports.From{Class: "administrators", Table: "user", Columns: "target_id admin"}, func(row *imports.Row) {
		admins[row.Int("target_id")] = row.Bool("admin")
	})
	if err != nil {
		return err
	}
	settings := imports.From{Class: "time zones", Table: "user_setting", Order: "user_id, name",
		Columns: "user_id name value"}
	err = im.Each(ctx, settings, func(row *imports.Row) {
		if zone, ok := zoneOf(row); ok {
			zones[row.Int("user_id")] = zone
		}
	})
	if err != nil {
		return err
	}
	admin, zone := imports.AdminColumn("admin"), imports.ZoneColumn()
	admin.Value = func(row *imports.Row, _ string) any {
		is, known := admins[row.Int("id")]
		if !known {
			row.Note("it has no row in the table user; it does not become an administrator")
		}
		return is
	}
	zone.Value = func(row *imports.Row, _ string) any { return cmp.Or(zones[row.Int("id")], "UTC") }
	return im.Load(ctx, im.targetTable("users", "user", "users", admin, zone))
}

func (im *importer) teams(ctx context.Context) error {
	heads := map[string]map[int64]any{"manager_id": {}, "director_id": {}}
	managers := imports.From{Class: "teams' managers", Table: "team", Order: "target_id",
		Columns: "target_id manager_id director_id"}
	err := im.Each(ctx, managers, func(row *imports.Row) {
		im.belongs(row, "team")
		for column, of := range heads {
			of[row.Int("target_id")] = row.IntOrNil(column)
		}
	})
	if err != nil {
		return err
	}
	// A null in the source does not conflict with a value here.
	head := func(name string) imports.Column {
		return imports.Column{
			Name: name, Ref: toUserIfHere, Empty: "t." + name + " is null", Same: "s." + name + " is null or s." +
				name + " is not distinct from t." + name,
			Value: func(row *imports.Row, _ string) any { return heads[name][row.Int("id")] },
		}
	}
	return im.Load(ctx, im.targetTable("teams", "team", "teams", head("manager_id"), head("director_id")), imports.Table{
		Class: "team members", From: "user_team", Order: "team_id, user_id", Label: "$user_id in team $team_id",
		Name: "team_members", Key: []string{"team_id", "user_id"}, Columns: []imports.Column{
			{Name: "team_id", Ref: toTeam}, {Name: "user_id", Ref: toUser}, imports.PositionColumn("team_id"),
		},
	})
}

func (im *importer) lists(ctx context.Context) error {
	counts := map[int64]int64{}
	sizes := imports.From{Class: "mailing lists' counts", Table: "mailing_list", Order: "target_id",
		Columns: "target_id count"}
	err := im.Each(ctx, sizes, func(row *imports.Row) {
		im.belongs(row, "mailing-list")
		counts[row.Int("target_id")] = row.Int32("count", 0)
	})
	if err != nil {
		return err
	}
	count := imports.Column{Name: "member_count", Type: "bigint", State: true,
		Value: func(row *imports.Row, _ string) any { return counts[row.Int("id")] }}
	return im.Load(ctx, im.targetTable("mailing lists", "mailing-list", "mailing_lists", count), imports.Table{
		Class: "mailing list members", From: "mailing_list_membership", Order: "list_id, user_id", Label: "$user_id in list $list_id",
		Name: "mailing_list_members", Key: []string{"list_id", "user_id"},
		Columns: []imports.Column{{Name: "list_id", Ref: toList}, {Name: "user_id", Ref: toUser}},
	})
}

// targetRoles imports the roles of targets, also those that an installation added, such as oncall-manager. Iris has no
// order of roles: new ones get positions after the built-in ones.
func (im *importer) targetRoles(ctx context.Context) error {
	position := 100
	return im.Load(ctx, imports.Table{
		Class: "target roles", From: "target_role", Order: "id", Reads: "id name", Label: "role $name",
		Name: "target_roles", Key: []string{"name"}, Unique: []string{imports.FoldedName}, Columns: []imports.Column{
			{Name: "target_kind", From: "type_id", Value: func(row *imports.Row, column string) any {
				kind := im.NameOf(row, column)
				checkKind(row, kind)
				return kind
			}},
			{Name: "name", Value: func(row *imports.Row, column string) any {
				name := row.Name(column)
				if name == "" {
					row.Lose("it has no name")
					return nil
				}
				im.Names["role_id"][row.Int("id")] = name
				return name
			}},
			{Name: "position", Type: "smallint", State: true, Value: func(*imports.Row, string) any {
				position++
				return position
			}},
		},
	})
}

// belongs reports a row as lost if the target that it refers to does not exist or has another kind.
func (im *importer) belongs(row *imports.Row, kind string) {
	row.Label = kind + " " + row.Text("target_id")
	if im.targets[row.Int("target_id")].kind != kind {
		row.Lose("it has no row in the table target, and so no name")
	}
}
