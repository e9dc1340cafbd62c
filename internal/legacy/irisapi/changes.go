package irisapi

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// The refusals of callers who may not change an application.
var (
	noChange = refusals{stranger: "Only admins and app owners can change this app's settings.",
		unknown: "Application %s not found"}
	noDelete = refusals{program: "You must be a logged in user to delete this app",
		stranger: "You don't have permissions to delete this app.",
		unknown:  "No rows changed; app name probably already deleted"}
	noRename = refusals{program: "You must be a logged in user to rename this app",
		stranger: "You don't have permissions to rename this app."}
)

func (a changes) create(w http.ResponseWriter, r *http.Request) error {
	by := wire.Actor(r.Context()).Caller(auth.Openings{})
	if by.Require(operation.Admin) != nil {
		return fault.New(fault.Unauthenticated, "Only admins can create apps")
	}
	b := ReadBody(w, r, "")
	name := b.Text("name")
	b.Check(strings.TrimSpace(name) != "", fault.Invalidf("name", "Missing app name"))
	if err := b.Err(); err != nil {
		return err
	}
	made, err := a.Operations.Create.Do(r.Context(), by, catalog.NewApplication{Name: name})
	if err != nil {
		return fault.When(err, fault.Conflict, fault.Invalidf("name", "This app already exists"))
	}
	return routing.Answer(w, http.StatusCreated, Record{{"id", made.ID}})
}

func (a changes) change(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	c, err := parseChange(ReadBody(w, r, ""))
	if err == nil {
		err = a.Operations.Change(r.Context(), by, one.Application, c)
	}
	return Done(w, err)
}

// parseChange checks the fields in the order of Iris, because clients depend on which error comes first.
func parseChange(b Body) (c applications.Change, err error) {
	c.SampleContext = parseSample(b)
	for _, f := range []struct {
		name string
		into **string
	}{{"context_template", &c.ContextTemplate}, {"summary_template", &c.SummaryTemplate}, {"mobile_template", &c.MobileTemplate}} {
		b.Check(b.Has(f.name), fault.Invalidf(f.name, "%s must be specified", f.name))
		if text := b.Text(f.name); b.Given(f.name) {
			*f.into = &text
		}
	}
	c.Variables = parseVariables(b)
	c.TitleVariable = b.Text("title_variable")
	b.Check(c.TitleVariable == "" || slices.Contains(c.Variables, c.TitleVariable),
		fault.Invalidf("title_variable", "title variable is invalid"))
	if b.Given("owners") {
		owners, ok := texts(b.Members["owners"])
		b.Check(ok, fault.Invalidf("owners", "To change owners, you must pass a list of strings"))
		c.Owners = &owners
	}
	c.SenderAddresses = parseSenders(b)
	parseModes(b, &c)
	return c, b.Err()
}

// parseSample reads sample_context: a string that holds JSON, or null, which is the value of an application without
// one.
func parseSample(b Body) *string {
	var text *string
	err := json.Unmarshal(b.Members["sample_context"], &text)
	valid := err == nil && (text == nil || wire.Storable(*text) && wire.CheckJSON([]byte(*text)) == nil)
	b.Check(valid, fault.Invalidf("sample_context", "sample_context must be valid json"))
	return text
}

func parseVariables(b Body) []string {
	names, ok := texts(b.Members["variables"])
	b.Check(ok, fault.Invalidf("variables", "variables must be specified and be a list"))
	b.Check(len(names) <= catalog.MaxVariables, fault.Invalidf("variables", "an application can have at most %d variables",
		catalog.MaxVariables))
	wrong := slices.ContainsFunc(names, func(name string) bool { return !catalog.IsVariable(name) })
	b.Check(!wrong, fault.Invalidf("variables", "variables must be names of 1 to %d bytes", catalog.MaxVariable))
	return names
}

func parseSenders(b Body) map[users.Mode]string {
	if !b.Given("custom_sender_addresses") {
		return nil
	}
	var given map[string]*string
	err := json.Unmarshal(b.Members["custom_sender_addresses"], &given)
	b.Check(err == nil, fault.Invalidf("custom_sender_addresses",
		"To change custom addresses, you must pass a dictionary of mode: address pairings"))
	out := map[users.Mode]string{}
	for _, mode := range slices.Sorted(maps.Keys(given)) {
		parsed, _ := users.ParseMode(mode)
		b.Check(parsed == users.Email, fault.Titled("%s does not support custom sender addresses",
			mode)) // clients know the title with its %s
		out[users.Email] = ""
		if address := given[mode]; address != nil {
			b.Check(*address == "" || catalog.IsEmail(*address), fault.Invalidf("custom_sender_addresses",
				"The custom sender address of email must be an e-mail address"))
			out[users.Email] = strings.TrimSpace(*address)
		}
	}
	return out
}

func parseModes(b Body, c *applications.Change) {
	if b.Given("supported_modes") {
		names, ok := texts(b.Members["supported_modes"])
		b.Check(ok, fault.Invalidf("supported_modes", "To change modes, you must pass a list of strings"))
		modes := make([]users.Mode, len(names))
		for i, name := range names {
			modes[i], ok = users.ParseMode(name)
			b.Check(ok, fault.Titled("Invalid mode", name))
		}
		c.Modes = &modes
	}
	if !b.Given("default_modes") {
		return
	}
	var given map[string]string
	err := json.Unmarshal(b.Members["default_modes"], &given)
	b.Check(err == nil, fault.Invalidf("default_modes", "default_modes must be an object of priority: mode pairings"))
	c.DefaultModes = map[users.Priority]users.Mode{}
	for _, priority := range slices.Sorted(maps.Keys(given)) {
		p, known := users.ParsePriority(priority)
		b.Check(known, fault.Titled("Invalid priority", priority))
		if mode, known := users.ParseMode(given[priority]); known {
			c.DefaultModes[p] = mode // Iris ignores unknown modes silently
		}
	}
}

func (a changes) remove(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	_, err := a.Operations.Delete.Do(r.Context(), by, catalog.ApplicationRemoval{OneApplication: one})
	err = fault.When(err, fault.Conflict, fault.New(fault.Invalid, "Cannot remove app. It has likely already in use."))
	return Done(w, fault.When(err, fault.NotFound, fault.New(fault.Invalid, noDelete.unknown)))
}

func (a changes) rename(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	b := ReadBody(w, r, "")
	name := strings.TrimSpace(b.Text("new_name"))
	b.Check(name != "", fault.Invalidf("new_name", "Missing new_name from post body"))
	if err := b.Err(); err != nil {
		return err
	}
	_, err := a.Operations.Rename.Do(r.Context(), by, catalog.Renaming{OneApplication: one, Body: catalog.NewName{Name: name}})
	missing := fault.Is(err, fault.NotFound)
	switch {
	case errors.Is(err, catalog.ErrSameName), missing && name == one.Application:
		err = fault.Invalidf("new_name", "New and old app name are identical")
	case missing:
		err = fault.New(fault.Invalid, "No rows changed; old app name incorrect")
	}
	return Done(w, fault.When(err, fault.Conflict, fault.Invalidf("new_name", "Destination app name likely already exists")))
}

// setCategories replaces the categories of an application.
func (a changes) setCategories(w http.ResponseWriter, r *http.Request) error {
	by, edit := wire.Actor(r.Context()).Caller(auth.Openings{}), catalog.CategoryEdit{OneApplication: oneApplication(r)}
	found, err := a.Applications.Describe(r.Context(), edit.Application)
	if err != nil {
		return err // a NotFound fault is answered with an empty 404
	}
	if !catalog.MaySetCategories(by, found) {
		return fault.New(fault.Unauthenticated, "You don't have permissions to create this category")
	}
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	edit.Body.Categories, err = parseCategories(raw)
	wrong := edit.Check()
	if at, rest, _ := strings.Cut(strings.TrimPrefix(fault.FieldOf(wrong), "categories["), "]."); rest == "mode" {
		i, _ := strconv.Atoi(at)
		wrong = fault.Titled("Invalid mode", string(edit.Body.Categories[i].Mode))
	}
	if err = cmp.Or(wrong, err); err == nil {
		_, err = a.Operations.ReplaceCategories.Do(r.Context(), by, edit)
	}
	return Answer(w, Record{}, err)
}

// parseCategories reads a list of categories. With an error it returns those before the first one that cannot be read.
func parseCategories(raw []byte) ([]catalog.Category, error) {
	if err := wire.CheckJSON(raw); err != nil {
		return nil, err
	}
	given, ok := Objects(raw)
	if !ok {
		return nil, fault.Titled(wire.InvalidJSON, "a list of objects with name, description and mode is expected")
	}
	missing := fault.New(fault.Invalid, "Missing required attributes")
	out := []catalog.Category{}
	for _, g := range given {
		b := Of(g, "", "")
		b.Check(b.Given("name") && b.Given("description") && b.Given("mode"), missing)
		c := catalog.Category{Name: strings.TrimSpace(b.Text("name")), Description: b.Text("description"),
			Mode: users.Mode(strings.TrimSpace(b.Text("mode")))}
		b.Check(c.Name != "", missing)
		if err := b.Err(); err != nil {
			return out, err
		}
		out = append(out, c)
	}
	return out, nil
}
