package iris

import (
	"context"

	"github.com/iris-oncall/iris/internal/imports"
	"github.com/iris-oncall/iris/internal/jinja"
)

// templateVersions imports templates: all versions, the active one, and their texts.
func (im *importer) templateVersions(ctx context.Context) error {
	im.templates = map[int64]string{}
	versions := imports.Table{Name: "templates", Key: []string{"id"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "name", Type: "text"}, {Name: "creator_id", Type: "bigint", Ref: toUser},
		{Name: "created_at", Type: "timestamptz"},
	}}
	err := im.load(ctx, from{"templates", "template", "id", []string{"id", "name", "created", "user_id"}}, versions,
		func(row *imports.Row) ([]any, bool) {
			name := row.Name("name")
			row.Label = "template " + row.Text("id") + " " + name
			if name == "" {
				row.Lose("it has no name")
				return nil, false
			}
			if im.made(row) {
				im.templates[row.Int("id")] = name
			}
			return []any{row.Int("id"), name, row.Int("user_id"), row.TimeOr("created")}, true
		})
	if err != nil {
		return err
	}
	if im.templatesBy, err = im.active(ctx, "active templates", "template_active", "template_id", toTemplate, im.templates); err != nil {
		return err
	}
	return im.contents(ctx)
}

// active imports which versions of templates or plans are active, and returns the active versions by name. After the import,
// another version may become active here.
func (im *importer) active(ctx context.Context, class, table, column string, ref *imports.Ref, versions map[int64]string) (map[string]int64, error) {
	names := map[string]int64{}
	t := imports.Table{Name: table, Key: []string{"name_key"}, Columns: []imports.Column{
		{Name: "name_key", Type: "text"}, {Name: column, Type: "bigint", Ref: ref},
	}, Unique: []string{"@" + column}}
	return names, im.load(ctx, from{class, table, "name", []string{"name", column}}, t, func(row *imports.Row) ([]any, bool) {
		name := row.Name("name")
		row.Label = class + " " + name
		if name == "" {
			row.Lose("it has no name")
			return nil, false
		}
		if _, taken := versions[row.Int(column)]; taken {
			names[imports.Fold(name)] = row.Int(column)
		}
		return []any{imports.Fold(name), row.Int(column)}, true
	})
}

// older are Iris's former columns with one text per mode. They are used where subject and body of the row are empty, as in
// Iris.
var older = map[string]string{"email": "email_text", "sms": "sms", "call": "call", "im": "im"}

func (im *importer) contents(ctx context.Context) error {
	table := imports.Table{Name: "template_contents", Key: []string{"template_id", "application_id", "mode"}, Columns: []imports.Column{
		{Name: "template_id", Type: "bigint", Ref: toTemplate}, {Name: "application_id", Type: "bigint", Ref: toApp},
		{Name: "mode", Type: "text"}, {Name: "subject", Type: "text"}, {Name: "body", Type: "text"}, {Name: "email_html", Type: "text"},
	}}
	active := map[int64]bool{}
	for _, id := range im.templatesBy {
		active[id] = true
	}
	return im.load(ctx, from{"template contents", "template_content", "template_id, application_id, mode_id", []string{"template_id",
		"application_id", "mode_id", "subject", "body", "call", "sms", "im", "email_subject", "email_text", "email_html"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "template " + row.Text("template_id") + " " + im.templates[row.Int("template_id")] + " for " + im.app(row)
			theirs := im.modes[row.Int("mode_id")]
			mode, ok := im.mode(row, "mode_id")
			if !ok {
				return nil, false
			}
			row.Label += " by " + mode
			subject, body, html := oldTexts(row, theirs)
			if active[row.Int("template_id")] {
				readable(row, subject, body, html)
			}
			return []any{row.Int("template_id"), row.Int("application_id"), mode, subject, body, html}, true
		})
}

// readable reports texts that the template engine cannot compile.
func readable(row *imports.Row, all ...string) {
	for _, source := range all {
		if _, err := jinja.Compile(source, jinja.Limits{}); err != nil {
			row.Note("it cannot be read as a template here (%v): its pages get the built-in text", err)
			return
		}
	}
}

func oldTexts(row *imports.Row, mode string) (subject, body, html string) {
	subject, body = row.Text("subject"), row.Text("body")
	used := subject == "" && body == ""
	if used {
		if column, ok := older[mode]; ok {
			body = row.Text(column)
		}
		if mode == "email" {
			subject, html = row.Text("email_subject"), row.Text("email_html")
		}
	}
	for _, column := range []string{"call", "sms", "im", "email_subject", "email_text", "email_html"} {
		own := used && (column == older[mode] || mode == "email" && (column == "email_subject" || column == "email_html"))
		if !own && row.Text(column) != "" {
			row.Note("its old column %s, which Iris no longer reads, was left out", column)
		}
	}
	return subject, body, html
}
