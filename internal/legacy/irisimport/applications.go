package irisimport

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

const maxShortKey = 8

// applications imports applications with keys, variables, owners and modes.
func (im *importer) applications(ctx context.Context) error {
	titles, err := im.titleVariables(ctx)
	if err != nil {
		return err
	}
	var keys []imports.ApplicationKeys
	if err := im.Load(ctx, im.applicationTable(titles, &keys)); err != nil {
		return err
	}
	if err := im.checkRelays(); err != nil {
		return err
	}
	out, err := im.store.SealKeys(ctx, keys)
	im.Report.Class("application keys").AddAll(out)
	if err != nil {
		return err
	}
	return im.Load(ctx, im.applicationParts()...)
}

// titleVariables reads which variable is the title of an application's incidents.
func (im *importer) titleVariables(ctx context.Context) (map[int64]string, error) {
	titles := map[int64]string{}
	from := imports.From{Class: "title variables", Table: "template_variable", Order: "id",
		Columns: "application_id name title_variable"}
	err := im.Each(ctx, from, func(row *imports.Row) {
		app, name := row.Int("application_id"), row.Text("name")
		row.Label = fmt.Sprintf("variable %s of application %d", name, app)
		if !row.Bool("title_variable") {
			return
		}
		if have, ok := titles[app]; ok {
			row.LoseValue("the application has another title variable already, %s", have)
			return
		}
		titles[app] = name
	})
	return titles, err
}

// applicationTable describes applications. Their keys are collected in keys.
func (im *importer) applicationTable(titles map[int64]string, keys *[]imports.ApplicationKeys) imports.Table {
	name := imports.NameColumn()
	name.Value = func(row *imports.Row, column string) any {
		id, name := row.Int("id"), row.Name(column)
		if name == "" || strings.Contains(name, ":") {
			row.Lose("an application needs a name without colons")
			return nil
		}
		im.Names["application_id"][id] = name
		*keys = append(*keys, applicationKeys(row, id, name))
		return name
	}
	text := func(name string) imports.Column {
		return imports.Column{Name: name, Hidden: true, Value: (*imports.Row).TextOrNil}
	}
	sample := text("sample_context")
	sample.Value = func(row *imports.Row, column string) any {
		if sample := row.Text(column); sample != "" && !json.Valid([]byte(sample)) {
			row.Note("its sample context is not JSON; it was not changed")
		}
		return row.TextOrNil(column)
	}
	title := func(row *imports.Row, _ string) any {
		if title, ok := titles[row.Int("id")]; ok {
			return title
		}
		return nil
	}
	return imports.Table{
		Class: "applications", From: "application", Order: "id", Reads: "key secondary_key", Label: "application $name",
		Name: "applications", Unique: []string{imports.FoldedName}, Columns: []imports.Column{
			idColumn(), name, {Name: "auth_only", Type: "boolean"}, {Name: "allow_other_app_incidents",
				Type: "boolean"},
			{Name: "allow_authenticating_users",
				Type: "boolean"}, text("context_template"), text("summary_template"), text("mobile_template"),
			sample, {Name: "title_variable", Value: title},
			{Name: "relay", Type: "boolean", Same: "t.relay or not s.relay", Empty: "not t.relay", Keep: true,
				Value: im.relay},
		},
	}
}

// relay reports whether an application may relay the answers of other people.
func (im *importer) relay(row *imports.Row, _ string) any {
	name := im.Names["application_id"][row.Int("id")]
	relay := im.isRelay(name)
	if relay {
		row.Note("it may relay the answers of other people here, because --relay names it")
	} else if strings.EqualFold(name, usualRelay) {
		row.Note("it is probably a relay; the answers that it relays are refused unless --relay names it, or \"iris app set --relay\" later")
	}
	return relay
}

// usualRelay is the name of the predecessor's relay.
const usualRelay = "iris-relay"

func (im *importer) isRelay(name string) bool {
	return slices.ContainsFunc(im.options.Relays, func(relay string) bool { return strings.EqualFold(relay, name) })
}

// checkRelays returns an Invalid fault for a relay that is no application of the source. If the source has recorded
// answers and the operator named no relay, it adds a note to the report: the source does not record which application
// relayed an answer.
func (im *importer) checkRelays() error {
	for _, relay := range im.options.Relays {
		names := slices.Collect(maps.Values(im.Names["application_id"]))
		if !slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, relay) }) {
			return fault.Invalidf("relay", "--relay %s: the source has no application of that name", relay)
		}
	}
	if len(im.options.Relays) == 0 && im.Source.Has("response") {
		im.Report.Class("applications").AddReason(imports.Reason{Kind: imports.Note, Rows: 1,
			Text: "no relay is named (--relay): answers that applications relay are refused here; the source does not record which applications relay"})
	}
	return nil
}

// applicationKeys reads the keys of an application. An empty key is not imported, because every client could
// authenticate with it.
func applicationKeys(row *imports.Row, id int64, name string) imports.ApplicationKeys {
	k := imports.ApplicationKeys{ID: id, Name: name, Primary: row.Text("key"), Secondary: row.Text("secondary_key")}
	if k.Primary == "" {
		row.Note("it has no key; no client can authenticate as it until it gets one")
	}
	for _, key := range []string{k.Primary, k.Secondary} {
		if key != "" && len(key) < maxShortKey {
			row.Note("it has a key of fewer than %d characters, which is easy to guess: change it", maxShortKey)
		}
	}
	return k
}

func (im *importer) applicationParts() []imports.Table {
	return []imports.Table{{
		Class: "variables", From: "template_variable", Order: "id", Label: "variable $name of $application_id",
		Name: "application_variables", Key: []string{"application_id", "name"}, Columns: []imports.Column{
			applicationColumn(), {Name: "name", Value: func(row *imports.Row, column string) any {
				name := row.Text(column) // may end with spaces
				if name == "" {
					row.Lose("it has no name")
				}
				return name
			}}, {Name: "required", Type: "boolean"},
		},
	}, {
		Class: "application owners", From: "application_owner", Order: "application_id, user_id", Label: "owner $user_id of $application_id",
		Name: "application_owners", Key: []string{"application_id", "user_id"},
		Columns: []imports.Column{applicationColumn(), im.personColumn("user_id")},
	}, {
		Class: "application modes", From: "application_mode", Order: "application_id, mode_id", Label: "mode $mode_id of $application_id",
		Name: "application_modes", Key: []string{"application_id", "mode"},
		Columns: []imports.Column{applicationColumn(), im.modeColumn()},
	}, {
		Class: "default modes", From: "default_application_mode", Order: "application_id, priority_id",
		Label: "default mode of $application_id for $priority_id",
		Name:  "application_default_modes", Key: []string{"application_id", "priority"},
		Columns: []imports.Column{applicationColumn(), im.priorityColumn(), im.modeColumn()},
	}, {
		Class: "sender addresses", From: "application_custom_sender_address", Order: "application_id, mode_id",
		Label: "$mode_id sender address of $application_id",
		Name:  "application_sender_addresses", Key: []string{"application_id", "mode"},
		Columns: []imports.Column{applicationColumn(), im.modeColumn(),
			{Name: "address", From: "sender_address", Value: imports.Filled}},
	}}
}
