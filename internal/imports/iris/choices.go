package iris

import (
	"context"
	"strings"

	"github.com/iris-oncall/iris/internal/imports"
)

// choices imports the settings of people, and the categories that people have settings for.
func (im *importer) choices(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		im.contacts, im.userModes, im.userApplicationModes, im.userSettings, im.overrides, im.reprioritisations, im.devices,
		im.categories, im.categoryOverrides,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) contacts(ctx context.Context) error {
	table := imports.Table{Name: "user_contacts", Key: []string{"user_id", "mode"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "mode", Type: "text"}, {Name: "destination", Type: "text"}, {Name: "verified_destination", Type: "text", State: true},
	}}
	return im.load(ctx, from{"contacts", "target_contact", "target_id, mode_id", []string{"target_id", "mode_id", "destination"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "contact of " + im.named(row, "target_id")
			name, ok := im.person(row, "target_id")
			if !ok {
				return nil, false
			}
			mode, ok := im.mode(row, "mode_id")
			if !ok {
				return nil, false
			}
			row.Label = mode + " contact of " + name
			destination := row.Trimmed("destination")
			if destination == "" {
				row.Skip("it is empty")
				return nil, false
			}
			row.Usable(mode, destination)
			return []any{row.Int("target_id"), mode, destination, imports.Unsettled}, true
		})
}

func (im *importer) userModes(ctx context.Context) error {
	table := imports.Table{Name: "user_modes", Key: []string{"user_id", "priority"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "priority", Type: "text"}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"users' modes", "target_mode", "target_id, priority_id", []string{"target_id", "priority_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			priority, mode, ok := im.choice(row)
			return []any{row.Int("target_id"), priority, mode}, ok
		})
}

// choice reads the priority and the mode of a person's setting. ok is false if the row is not imported.
func (im *importer) choice(row *imports.Row) (priority, mode string, ok bool) {
	row.Label = "mode of " + im.named(row, "target_id")
	name, ok := im.person(row, "target_id")
	if !ok {
		return "", "", false
	}
	if priority, ok = im.priority(row); !ok {
		return "", "", false
	}
	row.Label = "mode of " + name + " for " + priority
	mode, ok = im.mode(row, "mode_id")
	return priority, mode, ok
}

func (im *importer) userApplicationModes(ctx context.Context) error {
	table := imports.Table{Name: "user_application_modes", Key: []string{"user_id", "application_id", "priority"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "application_id", Type: "bigint", Ref: toApp},
		{Name: "priority", Type: "text"}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"users' modes by application", "target_application_mode", "target_id, application_id, priority_id",
		[]string{"target_id", "application_id", "priority_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			priority, mode, ok := im.choice(row)
			row.Label += " from " + im.app(row)
			return []any{row.Int("target_id"), row.Int("application_id"), priority, mode}, ok
		})
}

// userSettings imports the settings that have no column in users. An unknown time zone is kept as a setting.
func (im *importer) userSettings(ctx context.Context) error {
	table := imports.Table{Name: "user_settings", Key: []string{"user_id", "name"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "name", Type: "text"}, {Name: "value", Type: "text"},
	}}
	return im.load(ctx, from{"users' settings", "user_setting", "user_id, name", []string{"user_id", "name", "value"}}, table,
		func(row *imports.Row) ([]any, bool) {
			name := row.Name("name")
			row.Label = "setting " + name + " of " + im.named(row, "user_id")
			if _, ok := im.person(row, "user_id"); !ok {
				return nil, false
			}
			if isZone(row) {
				row.Uncount() // imported with the user
				return nil, false
			}
			if name == "" {
				row.Skip("it has no name")
				return nil, false
			}
			if zone, _ := zoneOf(row); zone != "" && strings.EqualFold(name, "timezone") {
				row.LoseValue("the time zone %s is unknown; the user's is UTC here", zone)
			}
			return []any{row.Int("user_id"), name, row.Text("value")}, true
		})
}

func (im *importer) overrides(ctx context.Context) error {
	table := imports.Table{Name: "user_template_overrides", Key: []string{"user_id", "mode"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"template overrides", "mode_template_override", "target_id, mode_id", []string{"target_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "template override of " + im.named(row, "target_id")
			if _, ok := im.person(row, "target_id"); !ok {
				return nil, false
			}
			mode, ok := im.mode(row, "mode_id")
			return []any{row.Int("target_id"), mode}, ok
		})
}

func (im *importer) reprioritisations(ctx context.Context) error {
	table := imports.Table{Name: "user_reprioritizations", Key: []string{"user_id", "source_mode"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "source_mode", Type: "text"}, {Name: "destination_mode", Type: "text"},
		{Name: "count", Type: "int"}, {Name: "window_seconds", Type: "int"},
	}}
	return im.load(ctx, from{"reprioritisations", "target_reprioritization", "target_id, src_mode_id",
		[]string{"target_id", "src_mode_id", "dst_mode_id", "count", "duration"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "reprioritisation of " + im.named(row, "target_id")
			if _, ok := im.person(row, "target_id"); !ok {
				return nil, false
			}
			src, ok := im.mode(row, "src_mode_id")
			if !ok {
				return nil, false
			}
			dst, ok := im.mode(row, "dst_mode_id")
			if !ok {
				return nil, false
			}
			if row.Int("count") <= 0 || row.Int("duration") <= 0 {
				row.Lose("a count or duration of 0 never moves anything")
				return nil, false
			}
			return []any{row.Int("target_id"), src, dst, row.Int("count"), row.Int("duration")}, true
		})
}

func (im *importer) devices(ctx context.Context) error {
	table := imports.Table{Name: "devices", Key: []string{"id"}, Unique: []string{"@registration_id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "registration_id", Type: "text", Hidden: true},
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "platform", Type: "text"},
	}}
	return im.load(ctx, from{"devices", "device", "id", []string{"id", "registration_id", "user_id", "platform"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "device " + row.Text("id")
			name, ok := im.person(row, "user_id")
			if !ok {
				return nil, false
			}
			row.Label += " of " + name
			token := row.Trimmed("registration_id")
			if token == "" {
				row.Skip("it has no registration")
				return nil, false
			}
			return []any{row.Int("id"), token, row.Int("user_id"), row.Text("platform")}, true
		})
}

func (im *importer) categories(ctx context.Context) error {
	table := imports.Table{Name: "notification_categories", Key: []string{"id"}, Unique: []string{"@application_id || ' ' || lower(@name)"},
		Columns: []imports.Column{
			{Name: "id", Type: "bigint"}, {Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "name", Type: "text"},
			{Name: "description", Type: "text"}, {Name: "mode", Type: "text"},
		}}
	return im.load(ctx, from{"categories", "notification_category", "id", []string{"id", "application_id", "name", "description", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			name := row.Name("name")
			row.Label = "category " + name + " of " + im.app(row)
			mode, ok := im.mode(row, "mode_id")
			if ok && name == "" {
				row.Lose("it has no name")
				ok = false
			}
			return []any{row.Int("id"), row.Int("application_id"), name, row.Text("description"), mode}, ok
		})
}

func (im *importer) categoryOverrides(ctx context.Context) error {
	table := imports.Table{Name: "category_overrides", Key: []string{"user_id", "category_id"}, Columns: []imports.Column{
		{Name: "user_id", Type: "bigint", Ref: toUser}, {Name: "category_id", Type: "bigint", Ref: toCategory}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"category overrides", "category_override", "user_id, category_id", []string{"user_id", "category_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "category override of " + im.named(row, "user_id")
			if _, ok := im.person(row, "user_id"); !ok {
				return nil, false
			}
			mode, ok := im.mode(row, "mode_id")
			return []any{row.Int("user_id"), row.Int("category_id"), mode}, ok
		})
}
