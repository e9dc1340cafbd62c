package irisimport

import (
	"context"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// settings imports the settings of people, and the categories that people have settings for.
func (im *importer) settings(ctx context.Context) error {
	return im.Load(ctx, append(im.contactTables(), im.categoryTables()...)...)
}

func (im *importer) contactTables() []imports.Table {
	return []imports.Table{{
		Class: "contacts", From: "target_contact", Order: "target_id, mode_id", Label: "$mode_id contact of $target_id",
		Name: "user_contacts", Key: []string{"user_id", "mode"},
		Columns: []imports.Column{im.personColumn("target_id"), im.modeColumn(), im.Destination(),
			imports.Unverified()},
	}, {
		Class: "users' modes", From: "target_mode", Order: "target_id, priority_id", Label: "mode of $target_id for $priority_id",
		Name: "user_modes", Key: []string{"user_id", "priority"},
		Columns: []imports.Column{im.personColumn("target_id"), im.priorityColumn(), im.modeColumn()},
	}, {
		Class: "users' modes by application", From: "target_application_mode", Order: "target_id, application_id, priority_id",
		Label: "mode of $target_id for $priority_id from $application_id",
		Name:  "user_application_modes", Key: []string{"user_id", "application_id", "priority"},
		Columns: []imports.Column{im.personColumn("target_id"), applicationColumn(), im.priorityColumn(),
			im.modeColumn()},
	}, {
		Class: "users' settings", From: "user_setting", Order: "user_id, name", Label: "setting $name of $user_id",
		Name: "user_settings", Key: []string{"user_id", "name"},
		Columns: []imports.Column{im.personColumn("user_id"), {Name: "name", Value: settingName}, {Name: "value"}},
	}, {
		Class: "template overrides", From: "mode_template_override", Order: "target_id, mode_id", Label: "template override of $target_id",
		Name: "user_template_overrides", Key: []string{"user_id", "mode"},
		Columns: []imports.Column{im.personColumn("target_id"), im.modeColumn()},
	}, {
		Class: "reprioritisations", From: "target_reprioritization", Order: "target_id, src_mode_id", Label: "reprioritisation of $target_id",
		Name: "user_reprioritizations", Key: []string{"user_id", "source_mode"}, Columns: []imports.Column{
			im.personColumn("target_id"), {Name: "source_mode", From: "src_mode_id", Value: im.Mode},
			{Name: "destination_mode", From: "dst_mode_id", Value: im.Mode},
			{Name: "count", Type: "int", Value: effective}, {Name: "window_seconds", Type: "int", From: "duration",
				Value: effective},
		},
	}, {
		Class: "devices", From: "device", Order: "id", Label: "device $id of $user_id", Name: "devices", Unique: []string{"@registration_id"},
		Columns: []imports.Column{
			idColumn(), im.personColumn("user_id"), {Name: "registration_id", Hidden: true,
				Value: imports.Filled}, {Name: "platform"},
		},
	}}
}

func (im *importer) categoryTables() []imports.Table {
	return []imports.Table{{
		Class: "categories", From: "notification_category", Order: "id", Label: "category $name of $application_id",
		Name: "notification_categories", Unique: []string{"@application_id || ' ' || " + imports.FoldedName},
		Columns: []imports.Column{
			idColumn(), applicationColumn(), {Name: "name",
				Value: imports.Named}, {Name: "description"}, im.modeColumn(),
		},
	}, {
		Class: "category overrides", From: "category_override", Order: "user_id, category_id", Label: "category override of $user_id",
		Name: "category_overrides", Key: []string{"user_id", "category_id"},
		Columns: []imports.Column{im.personColumn("user_id"), {Name: "category_id", Ref: toCategory}, im.modeColumn()},
	}}
}

// settingName returns the name of a setting that has no column in users. A known time zone has one; an unknown time
// zone is kept as a setting.
func settingName(row *imports.Row, column string) any {
	name := row.Name(column)
	zone, known := zoneOf(row)
	switch {
	case known:
		row.Ignore() // imported with the user
	case name == "":
		row.Skip("it has no name")
	case zone != "":
		row.LoseValue("the time zone %s is unknown; the user's is UTC here", zone)
	}
	return name
}

// zoneOf returns the time zone in a row of user_setting, and whether it exists; "" = another setting, or none.
func zoneOf(row *imports.Row) (zone string, ok bool) {
	if !strings.EqualFold(row.Name("name"), "timezone") {
		return "", false
	}
	zone = strings.TrimSpace(row.Text("value"))
	return zone, zone != "" && imports.IsZone(zone)
}

// effective returns a number above 0 of a reprioritisation.
func effective(row *imports.Row, column string) any {
	n := row.Int(column)
	if n <= 0 {
		row.Lose("its count or duration is 0, which has no effect")
	}
	return n
}
