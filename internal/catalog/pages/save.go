package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Bounds of the settings of an application.
const (
	maxVariables = 1000
	maxVariable  = 255 // bytes of a name
	maxOwners    = 100
)

// create makes an application without settings. Only administrators may.
func (a routes) create(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if err := actor.MayAdminister(); err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "name")
	if err != nil {
		return err
	}
	name, err := b.Required("name")
	if err != nil {
		return err
	}
	if strings.TrimSpace(name) == "" {
		return fault.Invalidf("name", "name must not be empty")
	}
	if _, err := a.Applications.Add(r.Context(), name, actor.String()); err != nil {
		return err
	}
	made, err := a.Applications.Describe(r.Context(), name)
	if err != nil {
		return err
	}
	routing.ShowTag(w, made.Tag())
	w.Header().Set("Location", "/v1/applications/"+url.PathEscape(made.Name))
	return routing.Answer(w, http.StatusCreated, showWhole(r, made))
}

// replace replaces the settings of an application. Its owners and administrators may.
func (a routes) replace(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	found, actor, err := a.owned(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "title_variable", "variables", "required_variables", "modes", "default_modes", "owners", "sender_email",
		"sample_context")
	if err != nil {
		return err
	}
	change, err := a.readSettings(r, b, found, actor)
	if err != nil {
		return err
	}
	if err := a.Applications.Change(ctx, found.ID, change, actor.String()); err != nil {
		return err
	}
	now, err := a.Applications.Describe(ctx, found.Name)
	if err != nil {
		return err
	}
	routing.ShowTag(w, now.Tag())
	return routing.Answer(w, http.StatusOK, showWhole(r, now))
}

// remove deletes an application. An application that has variables, template texts, incidents or messages is not deleted: 409.
func (a routes) remove(w http.ResponseWriter, r *http.Request) error {
	found, actor, err := a.owned(r)
	if err != nil {
		return err
	}
	if err := a.Applications.Delete(r.Context(), found.ID, routing.IfMatch(r), actor.String()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// owned finds the application of the path. It refuses callers who may not change its settings, in the same way for an application
// that does not exist.
func (a routes) owned(r *http.Request) (applications.Application, auth.Actor, error) {
	actor := wire.Actor(r.Context())
	found, err := a.find(r)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return found, actor, err
	}
	if refused := refusal(r, found); refused != nil {
		return found, actor, refused
	}
	return found, actor, err
}

// refusal returns why the caller may not change the settings of an application; nil = the caller may.
func refusal(r *http.Request, a applications.Application) error {
	return wire.Actor(r.Context()).Owning(a.ID, a.OwnerIDs, a.Team).MayEditApplication(a.ID)
}

// readSettings reads the new settings of an application. Settings that the body does not have are cleared, except owners, the sample
// context, modes, which only administrators may change, and the texts that only /v0 has.
func (a routes) readSettings(r *http.Request, b jsonbody.Object, found applications.Application, actor auth.Actor) (c applications.Change, err error) {
	c = applications.Change{ContextTemplate: found.ContextTemplate, SummaryTemplate: found.SummaryTemplate, MobileTemplate: found.MobileTemplate,
		SampleContext: found.SampleContext, IfMatch: routing.IfMatch(r)}
	if err := readSample(b, &c); err != nil {
		return c, err
	}
	if c.Variables, _, err = b.Names("variables", maxVariables); err != nil {
		return c, err
	}
	for i, name := range c.Variables {
		if name == "" || len(name) > maxVariable {
			return c, fault.Invalidf(fmt.Sprintf("variables[%d]", i), "variables must be names of 1 to %d bytes", maxVariable)
		}
	}
	required, given, err := b.Names("required_variables", maxVariables)
	if err != nil {
		return c, err
	}
	for i, name := range required {
		if !slices.Contains(c.Variables, name) {
			return c, fault.Invalidf(fmt.Sprintf("required_variables[%d]", i), "required_variables must be among the variables: %.100q is not", name)
		}
	}
	if given {
		c.Required = &required
	}
	if c.TitleVariable, err = b.Text("title_variable"); err != nil {
		return c, err
	}
	if c.TitleVariable != "" && !slices.Contains(c.Variables, c.TitleVariable) {
		return c, fault.Invalidf("title_variable", "title_variable must be one of the variables")
	}
	if err := a.readOwners(r, b, actor, &c); err != nil {
		return c, err
	}
	sender, err := b.Text("sender_email")
	if err != nil {
		return c, err
	}
	if sender != "" && (!catalog.Destination(sender) || !strings.Contains(sender, "@")) {
		return c, fault.Invalidf("sender_email", "sender_email must be an e-mail address")
	}
	c.SenderAddresses = map[users.Mode]string{users.Email: strings.TrimSpace(sender)}
	return c, readModes(b, found, actor, &c)
}

// readSample reads the sample context; null clears it.
func readSample(b jsonbody.Object, c *applications.Change) error {
	if !b.Has("sample_context") {
		return nil
	}
	if c.SampleContext = nil; !b.Given("sample_context") {
		return nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(b.Members["sample_context"], &object) != nil {
		return fault.Invalidf("sample_context", "sample_context must be an object")
	}
	text := string(b.Members["sample_context"])
	c.SampleContext = &text
	return nil
}

// readOwners reads the owners of the application. An owner who changes the owners stays an owner.
func (a routes) readOwners(r *http.Request, b jsonbody.Object, actor auth.Actor, c *applications.Change) error {
	owners, given, err := b.Names("owners", maxOwners)
	if err != nil || !given {
		return err
	}
	for i, name := range owners {
		_, err := a.People.ByName(r.Context(), name)
		if err != nil {
			return fault.When(err, fault.NotFound, fault.Invalidf(fmt.Sprintf("owners[%d]", i), "there is no user %.100q", name))
		}
	}
	if !actor.Admin && actor.Username != "" && !slices.Contains(owners, actor.Username) {
		owners = append(owners, actor.Username)
	}
	c.Owners = &owners
	return nil
}

// readModes reads the modes that the application may use, and the mode of each priority.
func readModes(b jsonbody.Object, found applications.Application, actor auth.Actor, c *applications.Change) error {
	modes := found.Modes
	names, given, err := b.Names("modes", len(users.Modes))
	if err != nil {
		return err
	}
	if given {
		modes = make([]users.Mode, len(names))
		for i, name := range names {
			var known bool
			if modes[i], known = users.ParseMode(name); !known {
				return fault.Invalidf(fmt.Sprintf("modes[%d]", i), "there is no mode %.40q", name)
			}
		}
		if !sameModes(modes, found.Modes) {
			if err := actor.MayAdminister(); err != nil {
				return err
			}
			c.Modes = &modes
		}
	}
	chosen, _, err := b.Member("default_modes", priorities()...)
	if err != nil {
		return err
	}
	c.DefaultModes = map[users.Priority]users.Mode{}
	for _, p := range users.Priorities {
		name, err := chosen.Text(string(p))
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		mode, known := users.ParseMode(name)
		if !known || !slices.Contains(modes, mode) {
			return chosen.Fault(string(p), "%s must be a mode that the application may use", p)
		}
		c.DefaultModes[p] = mode
	}
	return nil
}

func sameModes(a, b []users.Mode) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func priorities() []string {
	out := make([]string, len(users.Priorities))
	for i, p := range users.Priorities {
		out[i] = string(p)
	}
	return out
}
