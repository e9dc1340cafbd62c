package applications

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

func (a changes) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v0/applications", routing.Write, a.create),
		routing.Put("/v0/applications/{app}", routing.Write, a.change),
		routing.Delete("/v0/applications/{app}", routing.Write, a.remove),
		routing.Put("/v0/applications/{app}/rename", routing.Write, a.rename),
		routing.Post("/v0/categories/{app}", routing.Write, a.setCategories),
	}
}

func (a changes) create(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if actor.MayAdminister() != nil {
		return fault.New(fault.Unauthenticated, "Only admins can create apps")
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.Text("name")
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return fault.Invalidf("name", "Missing app name")
	}
	id, err := a.Changes.Add(r.Context(), name, actor.String())
	if fault.Is(err, fault.Conflict) {
		return fault.Invalidf("name", "This app already exists")
	}
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, v0.Record{{"id", id}})
}

func (a changes) change(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{stranger: "Only admins and app owners can change this app's settings.",
		unknown: "Application " + v0.ApplicationName(r) + " not found"})
	if err != nil {
		return err
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	c, err := parseChange(b)
	if err != nil {
		return err
	}
	if actor.MayAdminister() != nil {
		c.Modes = nil // only administrators may change them; Iris ignores them silently for other callers
		keepOwner(&c, actor)
	}
	if err := a.Changes.Change(r.Context(), found.ID, c, actor.String()); err != nil {
		return err
	}
	return v0.Done(w)
}

// keepOwner adds the caller to the new owners: owners cannot remove themselves.
func keepOwner(c *applications.Change, actor auth.Actor) {
	if c.Owners != nil && !slices.Contains(*c.Owners, actor.Username) {
		*c.Owners = append(*c.Owners, actor.Username)
	}
}

// parseChange checks the fields in the order of Iris, because clients depend on which error comes first.
func parseChange(b v0.Body) (c applications.Change, err error) {
	if err = parseSample(b, &c); err != nil {
		return c, err
	}
	for _, f := range []struct {
		name string
		into **string
	}{{"context_template", &c.ContextTemplate}, {"summary_template", &c.SummaryTemplate}, {"mobile_template", &c.MobileTemplate}} {
		if _, ok := b.Members[f.name]; !ok {
			return c, fault.Invalidf(f.name, "%s must be specified", f.name)
		}
		if b.Given(f.name) {
			text, err := b.Text(f.name)
			if err != nil {
				return c, err
			}
			*f.into = &text
		}
	}
	if c.Variables, err = parseVariables(b); err != nil {
		return c, err
	}
	if c.TitleVariable, err = b.Text("title_variable"); err != nil {
		return c, err
	}
	if c.TitleVariable != "" && !slices.Contains(c.Variables, c.TitleVariable) {
		return c, fault.Invalidf("title_variable", "title variable is invalid")
	}
	if b.Given("owners") {
		owners, ok := v0.Texts(b.Members["owners"])
		if !ok {
			return c, fault.Invalidf("owners", "To change owners, you must pass a list of strings")
		}
		c.Owners = &owners
	}
	if c.SenderAddresses, err = parseSenders(b); err != nil {
		return c, err
	}
	return c, parseModes(b, &c)
}

// parseSample reads sample_context: a string that holds JSON, or null, which is the value of an application without one.
func parseSample(b v0.Body, c *applications.Change) error {
	const wrong = "sample_context must be valid json"
	if _, ok := b.Members["sample_context"]; !ok {
		return fault.Invalidf("sample_context", wrong)
	}
	if !b.Given("sample_context") {
		return nil
	}
	var text string
	if json.Unmarshal(b.Members["sample_context"], &text) != nil || !wire.Storable(text) || wire.CheckJSON([]byte(text)) != nil {
		return fault.Invalidf("sample_context", wrong)
	}
	c.SampleContext = &text
	return nil
}

const (
	maxVariable  = 255 // bytes of a name
	maxVariables = 1000
)

func parseVariables(b v0.Body) ([]string, error) {
	names, ok := v0.Texts(b.Members["variables"])
	if !ok {
		return nil, fault.Invalidf("variables", "variables must be specified and be a list")
	}
	if len(names) > maxVariables {
		return nil, fault.Invalidf("variables", "an application can have at most %d variables", maxVariables)
	}
	for _, name := range names {
		if name == "" || len(name) > maxVariable {
			return nil, fault.Invalidf("variables", "variables must be names of 1 to %d bytes", maxVariable)
		}
	}
	return names, nil
}

func parseSenders(b v0.Body) (map[users.Mode]string, error) {
	const wrong = "To change custom addresses, you must pass a dictionary of mode: address pairings"
	if !b.Given("custom_sender_addresses") {
		return nil, nil
	}
	var given map[string]*string
	if json.Unmarshal(b.Members["custom_sender_addresses"], &given) != nil {
		return nil, fault.Invalidf("custom_sender_addresses", wrong)
	}
	out := map[users.Mode]string{}
	for _, mode := range slices.Sorted(maps.Keys(given)) {
		if parsed, _ := users.ParseMode(mode); parsed != users.Email {
			return nil, fault.Titled("%s does not support custom sender addresses", mode) // clients know the title with its %s
		}
		out[users.Email] = ""
		if address := given[mode]; address != nil {
			if *address != "" && (!catalog.Destination(*address) || !strings.Contains(*address, "@")) {
				return nil, fault.Invalidf("custom_sender_addresses", "The custom sender address of email must be an e-mail address")
			}
			out[users.Email] = strings.TrimSpace(*address)
		}
	}
	return out, nil
}

func parseModes(b v0.Body, c *applications.Change) error {
	if b.Given("supported_modes") {
		names, ok := v0.Texts(b.Members["supported_modes"])
		if !ok {
			return fault.Invalidf("supported_modes", "To change modes, you must pass a list of strings")
		}
		modes := make([]users.Mode, len(names))
		for i, name := range names {
			mode, known := users.ParseMode(name)
			if !known {
				return fault.Titled("Invalid mode", name)
			}
			modes[i] = mode
		}
		c.Modes = &modes
	}
	if !b.Given("default_modes") {
		return nil
	}
	var given map[string]string
	if json.Unmarshal(b.Members["default_modes"], &given) != nil {
		return fault.Invalidf("default_modes", "default_modes must be an object of priority: mode pairings")
	}
	c.DefaultModes = map[users.Priority]users.Mode{}
	for _, priority := range slices.Sorted(maps.Keys(given)) {
		p, known := users.ParsePriority(priority)
		if !known {
			return fault.Titled("Invalid priority", priority)
		}
		if mode, known := users.ParseMode(given[priority]); known {
			c.DefaultModes[p] = mode // Iris ignores unknown modes silently
		}
	}
	return nil
}

func (a changes) remove(w http.ResponseWriter, r *http.Request) error {
	const gone = "No rows changed; app name probably already deleted"
	found, actor, err := a.owned(r, refusals{program: "You must be a logged in user to delete this app",
		stranger: "You don't have permissions to delete this app.", unknown: gone})
	if err != nil {
		return err
	}
	switch err := a.Changes.Delete(r.Context(), found.ID, actor.String()); {
	case fault.Is(err, fault.Conflict):
		return fault.New(fault.Invalid, "Cannot remove app. It has likely already in use.")
	case fault.Is(err, fault.NotFound):
		return fault.New(fault.Invalid, gone)
	case err != nil:
		return err
	}
	return v0.Done(w)
}

func (a changes) rename(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r, refusals{program: "You must be a logged in user to rename this app",
		stranger: "You don't have permissions to rename this app."})
	if err != nil {
		return err
	}
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	name, err := b.Text("new_name")
	if err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	switch name {
	case "":
		return fault.Invalidf("new_name", "Missing new_name from post body")
	case cmp.Or(found.Name, v0.ApplicationName(r)):
		return fault.Invalidf("new_name", "New and old app name are identical")
	}
	switch err := a.Changes.Rename(r.Context(), found.ID, name, actor.String()); {
	case fault.Is(err, fault.Conflict):
		return fault.Invalidf("new_name", "Destination app name likely already exists")
	case fault.Is(err, fault.NotFound):
		return fault.New(fault.Invalid, "No rows changed; old app name incorrect")
	case err != nil:
		return err
	}
	return v0.Done(w)
}

// setCategories replaces the categories of an application.
func (a changes) setCategories(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Applications.Describe(r.Context(), v0.ApplicationName(r))
	if err != nil {
		return err // a NotFound fault is answered with an empty 404
	}
	actor := wire.Actor(r.Context())
	if !actor.Owning(found.ID, found.OwnerIDs).MayNameCategories(found.ID) {
		return fault.New(fault.Unauthenticated, "You don't have permissions to create this category")
	}
	raw, _, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return err
	}
	all, err := parseCategories(raw)
	if err != nil {
		return err
	}
	if err := a.Changes.SetCategories(r.Context(), found.ID, all, actor.String()); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, v0.Record{})
}

func parseCategories(raw []byte) ([]applications.Category, error) {
	if err := wire.CheckJSON(raw); err != nil {
		return nil, err
	}
	given, ok := v0.Objects(raw)
	if !ok {
		return nil, fault.Titled(wire.InvalidJSON, "a list of objects with name, description and mode is expected")
	}
	var out []applications.Category
	seen := map[string]bool{}
	for _, g := range given {
		b := v0.Of(g, "", "")
		if !b.Given("name") || !b.Given("description") || !b.Given("mode") {
			return nil, fault.New(fault.Invalid, "Missing required attributes")
		}
		var c applications.Category
		var mode string
		var isMode bool
		for _, f := range []struct {
			name string
			into *string
		}{{"name", &c.Name}, {"description", &c.Description}, {"mode", &mode}} {
			text, err := b.Required(f.name)
			if err != nil {
				return nil, err
			}
			*f.into = strings.TrimSpace(text)
		}
		c.Mode, isMode = users.ParseMode(mode)
		switch key := strings.ToLower(c.Name); {
		case c.Name == "":
			return nil, fault.New(fault.Invalid, "Missing required attributes")
		case len(c.Name) > maxVariable:
			return nil, fault.Invalidf("name", "The name of a category must not be longer than %d bytes", maxVariable)
		case seen[key]:
			return nil, fault.Invalidf("name", "The category %s is given twice", c.Name)
		case !isMode:
			return nil, fault.Titled("Invalid mode", mode)
		default:
			seen[key] = true
		}
		out = append(out, c)
	}
	return out, nil
}
