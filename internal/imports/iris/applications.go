package iris

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/imports"
)

const maxShortKey = 8

// applications imports applications with keys, variables, owners and modes.
func (im *importer) applications(ctx context.Context) error {
	if err := im.store.MakeRoom(ctx); err != nil {
		return err
	}
	titles, err := im.titleVariables(ctx)
	if err != nil {
		return err
	}
	keys, err := im.applicationRows(ctx, titles)
	if err != nil {
		return err
	}
	if err := im.checkRelays(); err != nil {
		return err
	}
	out, err := im.store.SealKeys(ctx, keys)
	class := im.report.Class("application keys")
	class.Read += out.Read
	class.AddOutcome(out)
	if err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{im.variables, im.owners, im.applicationModes, im.defaultModes, im.senders} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// titleVariables reads which variable is the title of an application's incidents.
func (im *importer) titleVariables(ctx context.Context) (map[int64]string, error) {
	titles := map[int64]string{}
	err := im.each(ctx, from{"title variables", "template_variable", "id", []string{"application_id", "name", "title_variable"}}, func(row *imports.Row) {
		app := row.Int("application_id")
		row.Label = fmt.Sprintf("variable %s of application %d", row.Text("name"), app)
		if !row.Bool("title_variable") {
			return
		}
		if have, ok := titles[app]; ok {
			row.LoseValue("the application has another title variable already, %s", have)
			return
		}
		titles[app] = row.Text("name")
	})
	return titles, err
}

func (im *importer) applicationRows(ctx context.Context, titles map[int64]string) (keys []imports.ApplicationKeys, err error) {
	im.apps = map[int64]string{}
	table := imports.Table{Name: "applications", Key: []string{"id"}, Unique: []string{"lower(@name)"}, Columns: []imports.Column{
		{Name: "id", Type: "bigint"}, {Name: "name", Type: "text", Same: "lower(s.name) = lower(t.name)"},
		{Name: "auth_only", Type: "boolean"}, {Name: "allow_other_app_incidents", Type: "boolean"},
		{Name: "allow_authenticating_users", Type: "boolean"}, {Name: "context_template", Type: "text", Hidden: true},
		{Name: "summary_template", Type: "text", Hidden: true}, {Name: "mobile_template", Type: "text", Hidden: true},
		{Name: "sample_context", Type: "text", Hidden: true}, {Name: "title_variable", Type: "text"},
		{Name: "relay", Type: "boolean", Same: "t.relay or not s.relay", Empty: "not t.relay", Keep: true},
	}}
	err = im.load(ctx, from{"applications", "application", "id", []string{"id", "name", "key", "context_template", "summary_template",
		"sample_context", "mobile_template", "auth_only", "allow_other_app_incidents", "allow_authenticating_users", "secondary_key"}}, table,
		func(row *imports.Row) ([]any, bool) {
			id, name := row.Int("id"), row.Name("name")
			row.Label = "application " + name
			if name == "" || strings.Contains(name, ":") {
				row.Lose("an application needs a name without colons")
				return nil, false
			}
			im.apps[id] = name
			keys = append(keys, applicationKeys(row, id, name))
			if sample := row.Text("sample_context"); sample != "" && !json.Valid([]byte(sample)) {
				row.Note("its sample context is not JSON; it was taken as it is")
			}
			relay := im.isRelay(name)
			if relay {
				row.Note("it may pass on the answers of other people here, because --relay names it")
			} else if strings.EqualFold(name, usualRelay) {
				row.Note("it looks like a relay; the answers that it passes on are refused unless --relay names it, or \"iris app set --relay\" later")
			}
			var title any
			if t, ok := titles[id]; ok {
				title = t
			}
			return []any{id, name, row.Bool("auth_only"), row.Bool("allow_other_app_incidents"), row.Bool("allow_authenticating_users"),
				row.TextOrNil("context_template"), row.TextOrNil("summary_template"), row.TextOrNil("mobile_template"),
				row.TextOrNil("sample_context"), title, relay}, true
		})
	return keys, err
}

// usualRelay is the name of the predecessor's relay.
const usualRelay = "iris-relay"

func (im *importer) isRelay(name string) bool {
	return slices.ContainsFunc(im.options.Relays, func(relay string) bool { return strings.EqualFold(relay, name) })
}

// checkRelays returns an Invalid fault for a relay that is no application of the source. If the source has recorded answers
// and the operator named no relay, it adds a note to the report: the source does not record which application relayed an
// answer.
func (im *importer) checkRelays() error {
	for _, relay := range im.options.Relays {
		known := false
		for _, name := range im.apps {
			known = known || strings.EqualFold(name, relay)
		}
		if !known {
			return fault.Invalidf("relay", "--relay %s: the source has no application of that name", relay)
		}
	}
	if len(im.options.Relays) == 0 && im.source.Has("response") {
		im.report.Class("applications").AddOutcome(imports.Outcome{Reasons: []imports.Reason{{Kind: imports.Note, Rows: 1,
			Text: "no relay is named (--relay): answers that applications pass on are refused here; the source does not record which applications did it"}}})
	}
	return nil
}

// applicationKeys reads the keys of an application. An empty key is not imported, because every client could authenticate
// with it.
func applicationKeys(row *imports.Row, id int64, name string) imports.ApplicationKeys {
	k := imports.ApplicationKeys{ID: id, Name: name, Primary: row.Text("key"), Secondary: row.Text("secondary_key")}
	if k.Primary == "" {
		row.Note("it has no key; nobody can sign as it until it gets one")
	}
	for _, key := range []string{k.Primary, k.Secondary} {
		if key != "" && len(key) < maxShortKey {
			row.Note("it has a key of fewer than %d characters, which is easy to guess: change it", maxShortKey)
		}
	}
	return k
}

func (im *importer) variables(ctx context.Context) error {
	table := imports.Table{Name: "application_variables", Key: []string{"application_id", "name"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "name", Type: "text"}, {Name: "required", Type: "boolean"},
	}}
	return im.load(ctx, from{"variables", "template_variable", "id", []string{"application_id", "name", "required"}}, table,
		func(row *imports.Row) ([]any, bool) {
			name := row.Text("name")
			row.Label = "variable " + name + " of " + im.app(row)
			if name == "" {
				row.Lose("it has no name")
				return nil, false
			}
			return []any{row.Int("application_id"), name, row.Bool("required")}, true
		})
}

func (im *importer) owners(ctx context.Context) error {
	table := imports.Table{Name: "application_owners", Key: []string{"application_id", "user_id"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "user_id", Type: "bigint", Ref: toUser},
	}}
	return im.load(ctx, from{"application owners", "application_owner", "application_id, user_id", []string{"application_id", "user_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "owner of " + im.app(row)
			name, ok := im.person(row, "user_id")
			row.Label = "owner " + name + " of " + im.app(row)
			return []any{row.Int("application_id"), row.Int("user_id")}, ok
		})
}

func (im *importer) applicationModes(ctx context.Context) error {
	table := imports.Table{Name: "application_modes", Key: []string{"application_id", "mode"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"application modes", "application_mode", "application_id, mode_id", []string{"application_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "mode of " + im.app(row)
			mode, ok := im.mode(row, "mode_id")
			row.Label = "mode " + mode + " of " + im.app(row)
			return []any{row.Int("application_id"), mode}, ok
		})
}

func (im *importer) defaultModes(ctx context.Context) error {
	table := imports.Table{Name: "application_default_modes", Key: []string{"application_id", "priority"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "priority", Type: "text"}, {Name: "mode", Type: "text"},
	}}
	return im.load(ctx, from{"default modes", "default_application_mode", "application_id, priority_id", []string{"application_id", "priority_id", "mode_id"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "default mode of " + im.app(row)
			priority, ok := im.priority(row)
			if !ok {
				return nil, false
			}
			row.Label += " for " + priority
			mode, ok := im.mode(row, "mode_id")
			return []any{row.Int("application_id"), priority, mode}, ok
		})
}

func (im *importer) senders(ctx context.Context) error {
	table := imports.Table{Name: "application_sender_addresses", Key: []string{"application_id", "mode"}, Columns: []imports.Column{
		{Name: "application_id", Type: "bigint", Ref: toApp}, {Name: "mode", Type: "text"}, {Name: "address", Type: "text"},
	}}
	return im.load(ctx, from{"sender addresses", "application_custom_sender_address", "application_id, mode_id", []string{"application_id", "mode_id", "sender_address"}}, table,
		func(row *imports.Row) ([]any, bool) {
			row.Label = "sender address of " + im.app(row)
			mode, ok := im.mode(row, "mode_id")
			if !ok {
				return nil, false
			}
			row.Label = mode + " sender address of " + im.app(row)
			address := row.Trimmed("sender_address")
			if address == "" {
				row.Skip("it is empty")
				return nil, false
			}
			return []any{row.Int("application_id"), mode, address}, true
		})
}
