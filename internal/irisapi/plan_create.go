package irisapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// warningHeader tells, once per warning, that what was saved could reach nobody. Clients that do not know it lose nothing.
const warningHeader = "X-Iris-Warning"

// createPlan saves a new version of a plan, which becomes the active one of its name.
func (a *API) createPlan(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	b, err := readBody(w, r, invalidPlan)
	if err != nil {
		return err
	}
	head, err := parsePlanHead(b)
	if err != nil {
		return err
	}
	creator, err := a.creator(ctx, head.creator, invalidPlan)
	if err != nil {
		return err
	}
	p, err := parsePlan(b)
	if err != nil {
		return err
	}
	p.CreatorID = creator.ID
	if err := checkShape(p.Steps, a.Config.MaxPlanLength); err != nil {
		return err
	}
	warnings, err := a.checkSteps(ctx, p.Steps)
	if err != nil {
		return err
	}
	if !creator.Active {
		warnings = append(warnings, "the creator "+creator.Name+" is not active, so nobody is the last resort")
	}
	if p.tracking != nil {
		if p.Tracking, err = a.checkTracking(*p.tracking); err != nil {
			return err
		}
		if p.Tracking.Mode == users.Call {
			warnings = append(warnings, "a tracking notification is never a call, so none is sent")
		}
	}
	if active, err := a.Plans.ByName(ctx, p.Name); err == nil {
		if err := a.mayReplace(ctx, "plan", active.Name, active.Creator, active.CreatorID); err != nil {
			return err
		}
	} else if !fault.Is(err, fault.NotFound) {
		return err
	}
	id, err := a.Plans.Create(ctx, p.PlanContent)
	if err != nil {
		return err
	}
	warn(w, warnings)
	created(w, int64(id), "plans")
	return nil
}

// creator finds the person in whose name a plan or template is saved, if the caller may act for them.
func (a *API) creator(ctx context.Context, name, title string) (users.User, error) {
	u, err := lookUp(ctx, a.People, name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return u, err
	}
	if !wire.Actor(ctx).MayActAs(u, a.Config.Openings) {
		// The same words for plans and templates, as clients know them.
		return users.User{}, fault.New(fault.Unauthenticated, "Invalid plan creator for authenticated app/user")
	}
	if fault.Is(err, fault.NotFound) {
		return u, fault.Titled(title, "Creator "+name+" not found")
	}
	return u, err
}

// mayReplace refuses a new version of an active plan or template to whoever is neither its creator, nor in a team with them, nor
// may change it otherwise.
func (a *API) mayReplace(ctx context.Context, what, name, creator string, creatorID users.ID) error {
	actor := wire.Actor(ctx)
	if actor.MayChange(creatorID, a.Config.Openings) {
		return nil
	}
	if actor.UserID != 0 && !actor.ReadOnly {
		are, err := a.Teammates(ctx, actor.UserID, creatorID)
		if err != nil || are {
			return err
		}
	}
	return fault.Newf(fault.Forbidden, "Only %s, their teams or an admin may replace the %s %s", creator, what, name)
}

// checkSteps compares the steps with what exists, resolves their targets, and warns of those that reach nobody now.
func (a *API) checkSteps(ctx context.Context, steps []escalation.Step) ([]string, error) {
	var targets, templates []string
	for _, s := range steps {
		for _, n := range s.Notifications {
			if n.Target != nil && !slices.Contains(targets, n.Target.Name) {
				targets = append(targets, n.Target.Name)
			}
			if !slices.Contains(templates, n.Template) {
				templates = append(templates, n.Template)
			}
		}
	}
	reach, err := a.Plans.Reach(ctx, targets, templates)
	if err != nil {
		return nil, err
	}
	reach.ListLimit = a.Config.ListLimit
	var warnings []string
	if len(steps) == 0 {
		warnings = append(warnings, "the plan has no steps: incidents with it are refused")
	}
	for i := range steps {
		needed := false
		for j := range steps[i].Notifications {
			n := &steps[i].Notifications[j]
			needed = needed || !n.Optional
			found, err := checkNotification(n, reach, i+1)
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				if text := fmt.Sprintf("step %d: %s", i+1, f); !slices.Contains(warnings, text) {
					warnings = append(warnings, text)
				}
			}
		}
		if !needed {
			return nil, fault.Titled(invalidPlan, fmt.Sprintf(
				"You must have at least one non-optional notification per step. Step %d has none.", i+1))
		}
	}
	return warnings, nil
}

// checkNotification fills in the ids of a notification and returns what is wrong but no reason to refuse it.
func checkNotification(n *escalation.Notification, reach escalation.Reach, step int) (warnings []string, err error) {
	if !slices.Contains(users.Priorities, n.Priority) {
		return nil, fault.Titled(invalidPlan, fmt.Sprintf("Priority not found for step %d", step))
	}
	if n.Target != nil {
		role, kind, ok := reach.Role(n.Target.Role)
		if !ok {
			return nil, fault.Titled(invalidPlan, fmt.Sprintf("Role not found for step %d", step))
		}
		t, fits, exists := reach.Pick(kind, n.Target.Name)
		if !exists {
			return nil, fault.Titled(invalidPlan, fmt.Sprintf("Target %s not found for step %d", n.Target.Name, step))
		}
		if !fits {
			return nil, fault.Titled("Invalid role", fmt.Sprintf("Role %s is not appropriate for target %s in step %d",
				n.Target.Role, n.Target.Name, step))
		}
		n.Target.Role, n.Target.TargetID = role, t.TargetID
		warnings = append(warnings, targetWarnings(t, reach.ListLimit)...)
	}
	t, ok := reach.Templates[n.Template]
	if !ok {
		return nil, fault.Titled(invalidPlan, fmt.Sprintf("Invalid data for step %d", step))
	}
	if t.Applications == 0 {
		warnings = append(warnings, "the template "+n.Template+" has no words for any application")
	}
	return warnings, nil
}

func targetWarnings(t escalation.ReachTarget, listLimit int) []string {
	switch {
	case !t.Active:
		return []string{fmt.Sprintf("the %s %s is not active", t.Kind, t.Name)}
	case listLimit > 0 && t.Size >= listLimit:
		return []string{fmt.Sprintf("the mailing list %s is too large: it has %d members, and lists of %d or more are not paged", t.Name, t.Size, listLimit)}
	case t.People == 0:
		return []string{fmt.Sprintf("the %s %s has no active members", t.Kind, t.Name)}
	case t.Reachable == 0 && t.Kind == "user":
		return []string{fmt.Sprintf("the user %s has no contact in any mode", t.Name)}
	case t.Reachable == 0:
		return []string{fmt.Sprintf("nobody in the %s %s has a contact in any mode", t.Kind, t.Name)}
	}
	return nil
}

// warn puts warnings into the answer's header, in ASCII.
func warn(w http.ResponseWriter, warnings []string) {
	const most = 20
	for _, text := range warnings[:min(len(warnings), most)] {
		quoted := strconv.QuoteToASCII(text)
		w.Header().Add(warningHeader, quoted[1:len(quoted)-1])
	}
}

const invalidTracking = "Invalid tracking template"

// checkTracking checks the tracking notification: its words are given with the plan, per application.
func (a *API) checkTracking(t trackingBody) (*escalation.Tracking, error) {
	if t.missing {
		return nil, fault.Titled(invalidTracking, "Incomplete tracking setting")
	}
	var apps map[string]json.RawMessage
	if json.Unmarshal(t.template, &apps) != nil {
		return nil, fault.Titled(invalidTracking, "Template must be a dictionary")
	}
	mode := users.Mode(t.mode)
	if !slices.Contains(users.Modes, mode) || mode == users.Drop {
		return nil, fault.Titled(invalidTracking, "Unknown tracking type: "+t.mode)
	}
	if mode == users.Email && !strings.Contains(t.key, "@") {
		return nil, fault.Titled(invalidTracking, "Invalid email address")
	}
	names := make([]string, 0, len(apps))
	for app := range apps {
		names = append(names, app)
	}
	slices.Sort(names)
	kept := map[string]map[string]string{}
	for _, app := range names {
		words, err := a.trackingWords(mode, app, apps[app])
		if err != nil {
			return nil, err
		}
		kept[app] = words
	}
	raw, err := json.Marshal(kept)
	if err != nil {
		return nil, err
	}
	if !destination(t.key) {
		return nil, fault.Titled(invalidTracking, fmt.Sprintf("tracking_key must be one line of at most %d bytes", maxDestination))
	}
	if strings.Contains(string(raw), `\u0000`) {
		return nil, fault.Titled(invalidTracking, "NUL characters cannot be stored")
	}
	return &escalation.Tracking{Mode: mode, Key: t.key, Template: raw}, nil
}

// trackingParts are the parts of the words of a tracking e-mail, and how their syntax errors are introduced.
var trackingParts = []struct {
	name, words string
	required    bool
}{
	{"email_subject", "subject", true}, {"email_text", "body", true}, {"email_html", "email html", false},
}

func (a *API) trackingWords(mode users.Mode, app string, raw json.RawMessage) (map[string]string, error) {
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) != nil || len(given) == 0 {
		return nil, fault.Titled(invalidTracking, "No key for "+app+" template")
	}
	parts := trackingParts
	if mode != users.Email {
		parts = parts[:0:0]
		parts = append(parts, struct {
			name, words string
			required    bool
		}{"body", "incident tracking text", true})
	}
	var missing []string
	words := map[string]string{}
	for _, p := range parts {
		text, ok := given[p.name]
		if !ok || isNull(text) {
			if p.required {
				missing = append(missing, "'"+p.name+"'")
			}
			continue
		}
		var s string
		if json.Unmarshal(text, &s) != nil {
			return nil, fault.Titled(invalidTracking, fmt.Sprintf("%s for %s template must be a string", p.name, app))
		}
		words[p.name] = s
	}
	if len(missing) > 0 {
		return nil, fault.Titled(invalidTracking, fmt.Sprintf("Missing keys for %s template: {%s}", app, strings.Join(missing, ", ")))
	}
	for _, p := range parts {
		if err := a.Syntax(words[p.name]); err != nil {
			return nil, fault.Titled(invalidTracking, fmt.Sprintf("Invalid jinja syntax in %s: %s", p.words, err))
		}
	}
	return words, nil
}
