// Package integrations serves the list of integrations, and the page of one integration with its settings, rules and latest payloads. The
// web site mounts it. Its pages change nothing. They read through the same interfaces as /v1.
package integrations

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/routing"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// Integrations reads integrations. A name that does not exist is a NotFound fault.
type Integrations interface {
	List(ctx context.Context, after integrations.ID, most int) ([]integrations.Integration, error)
	ByName(ctx context.Context, name string) (integrations.Integration, error)
	// Payloads returns the latest deliveries, newest first.
	Payloads(ctx context.Context, id integrations.ID) ([]integrations.Payload, error)
}

// Applications finds the owners of an application.
type Applications interface {
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Previewer answers what a delivery would do now. A delivery that cannot be decoded is an Invalid fault.
type Previewer interface {
	Preview(ctx context.Context, from integrations.Integration, d receiving.Delivery) ([]receiving.Preview, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Integrations Integrations
	Applications Applications
	Previewer    Previewer
	PublicURL    string // address of this server for senders, without a final slash
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/integrations", h.list)
	page.Get(r, "/integrations/{integration}", h.show)
}

type listView struct {
	page.Frame
	Text string // the reader's filter
	Rows []row
	More string // address of the next rows; "" = there are none
}

type row struct {
	integrations.Integration
	Href string
}

// maxRead is how many integrations the list reads.
const maxRead = 10_000

// list shows the integrations by name. The filter is a part of the name or of the application.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	view := listView{Frame: h.Pages.Frame(r, "Integrations", "integrations"), Text: strings.TrimSpace(v.Get("text"))}
	all, err := h.Integrations.List(r.Context(), 0, maxRead)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	slices.SortFunc(all, func(a, b integrations.Integration) int { return strings.Compare(fold(a.Name), fold(b.Name)) })
	wanted, after := fold(view.Text), v.Get("after")
	for _, i := range all {
		name := fold(i.Name)
		if name <= after || !strings.Contains(name, wanted) && !strings.Contains(fold(i.Application), wanted) {
			continue
		}
		if len(view.Rows) == page.ListLength {
			last := fold(view.Rows[len(view.Rows)-1].Name)
			view.More = "/integrations?" + url.Values{"text": {view.Text}, "after": {last}}.Encode()
			break
		}
		view.Rows = append(view.Rows, row{i, "/integrations/" + url.PathEscape(i.Name)})
	}
	h.Pages.Render(rw, r, http.StatusOK, "integrations", view)
}

// fold returns a name in the form by which the list is ordered and searched.
func fold(name string) string { return strings.ToLower(name) }

type showView struct {
	page.Frame
	I        integrations.Integration
	Team     string // the team that owns the application; "" = none
	Address  string
	Plan     planLink // the default plan
	InPath   bool     // senders that can set no header put the token at the end of the address
	Settings string
	Rules    []ruleView
	Payloads []payloadView
	MaySee   bool // the reader may see payloads
}

// payloadView is a payload. N is its number, from 1. Asked says that the reader asked to preview it; then Events are its events, and Refusal
// says why it has none.
type payloadView struct {
	integrations.Payload
	N       int
	Asked   bool
	Events  []receiving.Preview
	Refusal string
}

type ruleView struct {
	routing.Rule
	To    planLink
	Times []string
}

type planLink struct{ Name, Href string }

func linkTo(plan string) planLink { return planLink{plan, "/plans/" + url.PathEscape(plan)} }

// show shows an integration. Payloads may have secrets of the sender, so only owners of the application and administrators see them.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	view, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "integration", view)
}

func (h Handlers) read(r *http.Request) (view showView, err error) {
	i, err := h.Integrations.ByName(r.Context(), wire.Param(r, "integration"))
	if err != nil {
		return view, err
	}
	path, withToken := integrations.Address(i.Type, "")
	view = showView{I: i, Address: h.PublicURL + path, InPath: withToken != "", Settings: settings(i.Settings),
		Plan: linkTo(i.DefaultPlan)}
	for _, rule := range i.Rules {
		v := ruleView{Rule: rule, To: linkTo(rule.Plan)}
		for _, w := range rule.Times {
			v.Times = append(v.Times, w.String())
		}
		view.Rules = append(view.Rules, v)
	}
	app, err := h.Applications.Describe(r.Context(), i.Application)
	if err != nil {
		return view, err
	}
	view.Team = app.Team.Name
	reader := (auth.Actor{}).As(page.Reader(r)).Owning(app.ID, app.OwnerIDs, app.Team)
	if view.MaySee = reader.MayEditApplication(app.ID) == nil; view.MaySee {
		payloads, err := h.Integrations.Payloads(r.Context(), i.ID)
		if err != nil {
			return view, err
		}
		for k, p := range payloads {
			view.Payloads = append(view.Payloads, payloadView{Payload: p, N: k + 1})
		}
	}
	if err := h.preview(r, &view); err != nil {
		return view, err
	}
	view.Frame = h.Pages.Frame(r, i.Name, "integrations")
	return view, nil
}

// preview adds what the payload with the number of the query would do now. It does nothing for a reader who may not see payloads.
func (h Handlers) preview(r *http.Request, view *showView) error {
	n, err := strconv.Atoi(r.URL.Query().Get("preview"))
	if err != nil || n < 1 || n > len(view.Payloads) {
		return nil
	}
	p := &view.Payloads[n-1]
	p.Asked = true
	p.Events, err = h.Previewer.Preview(r.Context(), view.I, receiving.Delivery{Body: []byte(p.Body), ContentType: p.ContentType, At: time.Now()})
	if fault.Is(err, fault.Invalid) {
		p.Refusal, err = fault.Public(err), nil
	}
	return err
}

// settings formats the settings of a decoder; "" = there are none.
func settings(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}
