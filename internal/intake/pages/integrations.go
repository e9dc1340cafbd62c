// This file serves the pages of integrations: the list with their health, the form that adds one, and of one
// integration its set-up, settings, tokens, rules, latest deliveries and heartbeats. The pages call the operations, which
// check what the reader may do.

package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/signatures"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/matchers"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are the parts that the pages work on.
type Deps struct {
	Integrations *integrations.Integrations
	Plans        *catalog.Plans        // for suggestions
	Applications *catalog.Applications // for suggestions
	PublicURL    string                // address of this server for senders, without a final slash
	MailDomain   string                `optional:"true"` // domain of the addresses of integrations of type email; "" = this server receives no mails
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

const one = "/integrations/{integration}"

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/integrations", h.list)
	page.Get(r, "/add-integration", h.newForm)
	page.Get(r, "/heartbeats", h.heartbeats)
	page.Get(r, one, h.show)
	page.Get(r, one+"/settings", h.settings)
	page.Get(r, one+"/rules", h.rules)
	page.Get(r, one+"/add-heartbeat", h.newHeartbeat)
	page.Get(r, one+"/heartbeats/{heartbeat}", h.heartbeat)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/add-integration", h.create)
	r.Post(one+"/settings", h.saveSettings)
	r.Post(one+"/rules", h.changeRules)
	r.Post(one+"/token", h.addToken)
	r.Post(one+"/token/revoke", h.revokeTokens)
	r.Post(one+"/secrets", h.setSecrets)
	r.Post(one+"/delete", h.remove)
	r.Post(one+"/add-heartbeat", h.addHeartbeat)
	r.Post(one+"/heartbeats/{heartbeat}", h.saveHeartbeat)
	r.Post(one+"/heartbeats/{heartbeat}/delete", h.removeHeartbeat)
}

// integration is an integration as its pages show it.
type integration struct{ integrations.Integration }

// oneOf names the integration of the address of r.
func oneOf(r *http.Request) integrations.One {
	return integrations.One{Integration: page.Storable(wire.Param(r, "integration"))}
}

// href is the address of the page of an integration.
func href(name string) string { return page.Path("/integrations/%s", name) }

// Href is the address of the integration's page.
func (i integration) Href() string { return href(i.Name) }

// Label is the name of the type for people.
func (i integration) Label() string { return sourceOf(i.Type).Label }

// recipe is the recipe that the settings name; "" = none.
func (i integration) recipe() string {
	own, _ := intake.Split(i.Settings)
	x, _ := intake.Parse(own) // what cannot be read names none
	return x.Recipe
}

// HasHeartbeats reports whether heartbeats can belong to the integration.
func (i integration) HasHeartbeats() bool { return slices.Contains(heartbeats.Types(), i.Type) }

// HasSecrets reports whether the integration can check signatures.
func (i integration) HasSecrets() bool { return slices.Contains(signatures.Types(), i.Type) }

// health is a state of an integration with the kind of its chip. Group is the value of the list filter that selects it.
type health struct{ Text, Kind, Group string }

// The filters of the list by health.
const (
	groupWorks     = "works"
	groupAttention = "attention"
	groupSilent    = "silent"
)

// healthOptions are the choices of the filter.
var healthOptions = []page.Option{{Value: "", Label: "any health"}, {Value: groupWorks, Label: "works"},
	{Value: groupAttention, Label: "needs attention"},
	{Value: groupSilent, Label: "silent or never used"}}

// silent is the time without a delivery after which the list marks an integration. Senders without alerts send nothing,
// so it is long.
const silent = 30 * 24 * time.Hour

// RefusedLast reports whether the latest delivery was refused.
func (i integration) RefusedLast() bool {
	return at(i.Activity.LastRefusedAt).After(at(i.Activity.LastAcceptedAt))
}

// at returns the zero time for nil.
func at(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// healthAt says what needs attention, the worst first.
func (i integration) healthAt(now time.Time) health {
	accepted := at(i.Activity.LastAcceptedAt)
	switch {
	case !i.Enabled:
		return health{"switched off", "warn", groupAttention}
	case len(i.Tokens) == 0:
		return health{"no token", "bad", groupAttention}
	case i.RefusedLast():
		return health{"last delivery refused", "bad", groupAttention}
	case accepted.IsZero():
		return health{"nothing received yet", "info", groupSilent}
	case at(i.Activity.LastFailureAt).Add(24 * time.Hour).After(now):
		return health{"expressions fail", "warn", groupAttention}
	case now.Sub(accepted) > silent:
		return health{fmt.Sprintf("silent for %d days", now.Sub(accepted)/(24*time.Hour)), "warn", groupSilent}
	}
	return health{"works", "good", groupWorks}
}

// Health is healthAt now, for templates.
func (i integration) Health() health { return i.healthAt(time.Now()) }

type listView struct {
	page.Frame
	Tabs []page.Tab
	Text string // the reader's filter
	Show string // the health of the rows; "" = any
	Rows []integration
	More string // address of the next rows; "" = there are none
	// Healths are the choices of Show.
	Healths []page.Option
}

// maxReads is how many parts of the list one page reads to find integrations with the chosen health.
const maxReads = 10

func tabs(current string) []page.Tab {
	return page.Tabs(current, page.Tab{Label: "Integrations", Href: "/integrations"},
		page.Tab{Label: "Heartbeats", Href: "/heartbeats"})
}

// list shows the integrations by name.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	asked := r.URL.Query()
	v := listView{Tabs: tabs("/integrations"), Text: page.Storable(strings.TrimSpace(asked.Get("text"))),
		Show: asked.Get("health"), Healths: healthOptions}
	next := asked.Get("after")
	for range maxReads {
		found, err := h.Integrations.List.Do(r.Context(), page.Actor(r),
			integrations.Filter{Paging: operation.Paging{Limit: page.ListLength, Cursor: next}, Text: v.Text})
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		for _, row := range found.Items {
			i := integration{integrations.Integration{Row: row}}
			if v.Show == "" || i.Health().Group == v.Show {
				v.Rows = append(v.Rows, i)
			}
		}
		if next = page.Next(found.Next); next == "" || len(v.Rows) >= page.ListLength {
			break
		}
	}
	v.Frame = h.Pages.Frame(r, "Integrations", "integrations")
	if next != "" {
		v.More = page.Query("/integrations", "text", v.Text, "health", v.Show, "after", next)
	}
	h.Pages.Render(rw, r, http.StatusOK, "integrations", v)
}

type showView struct {
	page.Frame
	I          integration
	Settings   string
	Setup      setup
	Payloads   []payload
	May        bool // the reader may change the integration
	Heartbeats []beat
	MoreBeats  bool
	Now        []page.Field // of the form that revokes all other tokens
	Lost       string       // what a deletion loses
}

// payload is a stored delivery. N is its number, from 1. Asked says that the reader asked to preview it.
type payload struct {
	integrations.Payload
	N     int
	Asked bool
	Tried tried
}

// show shows an integration. Payloads may have secrets of the sender, so only owners of the application and
// administrators see them.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	v := showView{}
	var err error
	if v.I, err = h.read(r); err == nil {
		v.Payloads, err = h.payloads(r, v.I)
	}
	if err == nil && v.I.HasHeartbeats() {
		var found operation.Page[integrations.Heartbeat]
		found, err = h.Integrations.Heartbeats.OfIntegration.Do(r.Context(), page.Actor(r),
			integrations.HeartbeatFilter{One: oneOf(r), Paging: operation.Paging{Limit: page.ListLength}})
		v.Heartbeats, v.MoreBeats = beatsOf(found.Items), found.Next != nil
	}
	if n := number(r.URL.Query().Get("preview")); err == nil && n > 0 && n <= len(v.Payloads) {
		p := &v.Payloads[n-1]
		p.Asked = true
		p.Tried, err = h.try(r, integrations.Delivery{Stored: &n})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Settings, v.Setup, v.Now, v.Lost = indented(v.I.Settings), h.setup(h.source(r, v.I.Type, v.I.recipe()), ""), []page.Field{{Name: "now", Value: "true"}}, v.lost()
	v.Frame = h.Pages.Frame(r, v.I.Name, "integrations")
	v.May = v.I.MayEdit && !v.ReadOnly
	h.Pages.Render(rw, r, http.StatusOK, "integration", v)
}

// resaveProblem is a rule that works and cannot be saved again.
type resaveProblem struct {
	Rule int // from 1
	Why  string
}

// ResaveProblems are the rules that work and are refused when the rules are saved again.
func (v showView) ResaveProblems() (out []resaveProblem) {
	for k, rule := range v.I.Rules {
		if why := matchers.ResaveProblem(rule.Match); why != "" {
			out = append(out, resaveProblem{k + 1, why})
		}
	}
	return out
}

// lost says what a deletion loses.
func (v showView) lost() string {
	beats := ""
	if n := len(v.Heartbeats); n > 0 {
		beats = fmt.Sprintf(", %d heartbeats", n)
		if v.MoreBeats {
			beats = ", all its heartbeats"
		}
	}
	return fmt.Sprintf("%d tokens, %d rules%s and the stored deliveries are lost. The sender is refused from now on. Incidents stay, but its deliveries no longer resolve them.",
		len(v.I.Tokens), len(v.I.Rules), beats)
}

// read reads the integration of the address.
func (h Handlers) read(r *http.Request) (integration, error) {
	i, err := h.Integrations.Get.Do(r.Context(), page.Actor(r), oneOf(r))
	return integration{i}, err
}

// payloads reads the latest deliveries. People who may not change the integration see none.
func (h Handlers) payloads(r *http.Request, i integration) (out []payload, err error) {
	if !i.MayEdit {
		return nil, nil
	}
	latest, err := h.Integrations.Payloads.Do(r.Context(), page.Actor(r), integrations.Change{One: oneOf(r)})
	for k, p := range latest.Items {
		out = append(out, payload{Payload: p, N: k + 1})
	}
	return out, err
}

// editable is read for the pages that change the integration.
func (h Handlers) editable(r *http.Request) (integration, error) {
	i, err := h.read(r)
	if err == nil && !i.MayEdit {
		err = fault.New(fault.Forbidden, "only administrators and owners of the application "+i.Application+
			" may change this integration")
	}
	return i, err
}

// tried is what an event or a payload would do now. Refusal says why it cannot be read.
type tried struct {
	Events  []integrations.Previewed
	Refusal string
}

// try asks what a payload would do.
func (h Handlers) try(r *http.Request, d integrations.Delivery) (out tried, err error) {
	found, err := h.Integrations.Preview.Do(r.Context(), page.Actor(r), integrations.PayloadTest{One: oneOf(r), Body: d})
	out.Events = found.Items
	if fault.Is(err, fault.Invalid) {
		out.Refusal, err = fault.Public(err), nil
	}
	return out, err
}

// typedPayload is a typed delivery.
func typedPayload(text string) json.RawMessage {
	raw, _ := json.Marshal(page.Storable(text)) // a text is never refused
	return raw
}
