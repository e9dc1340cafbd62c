package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/program/client"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/users"
)

// kinds are the kinds of objects that get, list and delete know.
var kinds = []operation.Resource{catalog.ApplicationKind, integrations.Kind, catalog.PlanKind, catalog.TemplateKind,
	reviews.Kind, silences.Kind, users.PersonKind, teams.Kind, teams.RosterKind, teams.ServiceKind, planning.RotationKind, users.LimitKind}

// kindArgument is a kind, in the singular or the plural.
type kindArgument struct {
	Kind string `arg:"" help:"Kind of the object: application, integration, limit, plan, review, roster, rotation, service, silence, team, template or user."`
}

func (c kindArgument) resource() (operation.Resource, error) {
	i := slices.IndexFunc(kinds, func(r operation.Resource) bool { return c.Kind == r.Kind || c.Kind == r.Plural })
	if i < 0 {
		var names []string
		for _, r := range kinds {
			names = append(names, r.Kind)
		}
		return operation.Resource{}, remote.Usagef("there is no kind %.60q: it must be one of %s", c.Kind,
			strings.Join(names, ", "))
	}
	return kinds[i], nil
}

// output is how objects are printed.
type output string

// List lists the objects of a kind.
type List struct {
	remote.Flags
	kindArgument
	Where  map[string]string `help:"Filter of the list, as in the API, such as team=sre; several with ;." placeholder:"NAME=VALUE"`
	Limit  int               `help:"The most objects." default:"1000"`
	Output output            `short:"o" help:"table, json or yaml." enum:"table,json,yaml" default:"table"`
}

// Run lists objects.
func (c List) Run(ctx context.Context, e remote.Env) error {
	kind, err := c.resource()
	if err != nil {
		return err
	}
	if c.Limit < 1 {
		return remote.Usagef("--limit must be at least 1")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	return listObjects(ctx, api, e.Out, kind, c.Where, c.Limit, c.Output)
}

// listObjects prints at most most objects of a kind.
func listObjects(ctx context.Context, api *client.Client, out io.Writer, kind operation.Resource, where map[string]string, most int, as output) error {
	path := kind.List.Path
	query := url.Values{}
	if kind.Paged {
		query.Set("limit", fmt.Sprint(min(most, 500)))
	}
	for name, value := range where {
		if parameter := "{" + name + "}"; strings.Contains(path, parameter) {
			path = strings.ReplaceAll(path, parameter, url.PathEscape(value))
			continue
		}
		query.Set(name, value)
	}
	if _, rest, missing := strings.Cut(path, "{"); missing {
		name, _, _ := strings.Cut(rest, "}")
		return remote.Usagef("a list of %s needs --where %s=NAME", kind.Plural, name)
	}
	rows, err := client.First[json.RawMessage](ctx, api, path+"?"+query.Encode(), most)
	if err != nil {
		return err
	}
	if as != "table" {
		return as.print(out, append([]json.RawMessage{}, rows...))
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	var titles []string
	for _, c := range kind.Columns {
		titles = append(titles, c.Title)
	}
	_ = text.Row(w, titles...) // Flush returns the error
	for _, raw := range rows {
		row, err := decode(raw)
		if err != nil {
			return err
		}
		var cells []string
		for _, c := range kind.Columns {
			cells = append(cells, cell(member(row, c.Member)))
		}
		_ = text.Row(w, cells...)
	}
	return w.Flush()
}

// oneObject selects an object.
type oneObject struct {
	remote.Flags
	kindArgument
	Name string `arg:"" help:"Name of the object, or its number. A roster is TEAM/ROSTER, a limit is USER/MODE."`
}

// path returns the path of the object. The name of an object below another one has both names.
func (c oneObject) path(kind operation.Resource) (string, error) {
	names := strings.SplitN(c.Name, "/", strings.Count(kind.Get.Path, "{"))
	if len(names) < strings.Count(kind.Get.Path, "{") {
		return "", remote.Usagef("the name of a %s is written as PARENT/NAME, not as %.60q", kind.Kind, c.Name)
	}
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = name
	}
	return operation.Path(kind.Get.Path, values...), nil
}

// Get prints an object.
type Get struct {
	oneObject
	Output output `short:"o" help:"table, json or yaml." enum:"table,json,yaml" default:"yaml"`
}

// Run prints an object. As a table it has a line for each member.
func (c Get) Run(ctx context.Context, e remote.Env) error {
	kind, err := c.resource()
	if err != nil {
		return err
	}
	path, err := c.path(kind)
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if err := api.Do(ctx, http.MethodGet, path, nil, &raw); err != nil {
		return missing(err, kind.Kind, c.Name)
	}
	if c.Output != "table" {
		return c.Output.print(e.Out, raw)
	}
	row, err := decode(raw)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	for _, name := range namesOf(raw) {
		_ = text.Row(w, name, cell(row[name])) // Flush returns the error
	}
	return w.Flush()
}

// Delete deletes an object.
type Delete struct {
	oneObject
	Force bool `help:"Delete it even if others use it."`
}

// Run deletes an object.
func (c Delete) Run(ctx context.Context, e remote.Env) error {
	kind, err := c.resource()
	if err != nil {
		return err
	}
	path, err := c.path(kind)
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	if c.Force {
		path += "?force=true"
	}
	err = api.Do(ctx, http.MethodDelete, path, nil, nil)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusConflict && !c.Force {
		return fmt.Errorf("%w (--force)", err)
	}
	if err != nil {
		return missing(err, kind.Kind, c.Name)
	}
	fmt.Fprintf(e.Err, "%s %s deleted\n", kind.Kind, c.Name)
	return nil
}

// missing names the object in an error that says that there is none.
func missing(err error, kind, name string) error {
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return fmt.Errorf("there is no %s %q", kind, name)
	}
	return err
}

// print prints a value, as JSON with an indent or as YAML. Members keep the order that they have in JSON.
func (o output) print(w io.Writer, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	if o == "json" {
		_, err = fmt.Fprintf(w, "%s\n", raw)
		return err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return err
	}
	plain(&document)
	encoder := yaml.NewEncoder(w)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return err
	}
	return encoder.Close()
}

// plain removes the style of JSON from a document.
func plain(n *yaml.Node) {
	if len(n.Content) > 0 || n.Kind == yaml.ScalarNode {
		n.Style = 0
	}
	for _, inner := range n.Content {
		plain(inner)
	}
}

func decode(raw json.RawMessage) (row map[string]any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&row)
	return row, err
}

// namesOf returns the names of the members of an object, in its order.
func namesOf(raw json.RawMessage) (out []string) {
	var document yaml.Node
	if yaml.Unmarshal(raw, &document) != nil || len(document.Content) == 0 {
		return nil
	}
	for i := 0; i < len(document.Content[0].Content); i += 2 {
		out = append(out, document.Content[0].Content[i].Value)
	}
	return out
}

// member returns the value of a member; dots lead into objects.
func member(row map[string]any, path string) any {
	name, rest, deeper := strings.Cut(path, ".")
	if inner, ok := row[name].(map[string]any); ok && deeper {
		return member(inner, rest)
	}
	return row[name]
}

// cell prints a value in a table.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return text.Moment(at)
		}
		return v
	case []any, map[string]any:
		raw, _ := json.Marshal(v) // it was JSON
		return string(raw)
	}
	return fmt.Sprint(v)
}
