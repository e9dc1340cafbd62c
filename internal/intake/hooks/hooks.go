package hooks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/signatures"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// maxBody is the largest delivery, in bytes. Of APIs whose token is in the body, the largest is wire.MaxBody.
const maxBody = 16 << 20

// retryAfter is the time to the next attempt of a sender while a delivery cannot be stored.
const retryAfter = 5 * time.Second

// Integrations finds integrations by their tokens. An unknown token is a NotFound fault. The number is that of the
// token.
type Integrations interface {
	ByToken(ctx context.Context, token string) (intake.Integration, int64, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Integrations Integrations
	Applications auth.Applications
	Receiver     *receiving.Receiver
	Activity     *receiving.Activity
	Heartbeats   Heartbeats
	Alerts       AlertReads
	Incidents    IncidentReads
	Messages     MessageReads
	// AlertEdits, Transitions, Responders, People, Addresses and Wake carry out the actions on alerts.
	AlertEdits  intake.Alerts
	Transitions intake.Transitions
	Responders  intake.Responders
	People      users.Finder
	Addresses   intake.Addresses
	Wake        receiving.Wake
	// Decoders are the decoders by type of integration. PagerDutyV1 decodes version 1 of PagerDuty's Events API.
	Decoders    map[string]intake.Decoder
	PagerDutyV1 intake.Decoder
	// Fetch reads certificates and confirms subscriptions of Amazon SNS; nil = over HTTPS.
	Fetch  signatures.Fetch `optional:"true"`
	Errors *wire.Errors
}

// Hooks serves the routes. It is safe for concurrent use.
type Hooks struct {
	d          Deps
	actions    intake.Actions
	signatures *signatures.Checker
}

// New serves the routes with the parts.
func New(d Deps) *Hooks {
	return &Hooks{d, intake.New(intake.Deps{Alerts: d.AlertEdits, Transitions: d.Transitions, Responders: d.Responders,
		People: d.People, Addresses: d.Addresses, Wake: d.Wake}), signatures.New(d.Fetch)}
}

// Routes mounts the routes.
func (h *Hooks) Routes(r chi.Router) {
	for _, path := range []string{"/v1/hooks/{type}", "/v1/hooks/{type}/{token}"} {
		r.Post(path, h.generic)
		r.Put(path, h.generic)
		r.Post(path+"/api/v2/alerts", h.generic) // what rulers add to the address of an Alertmanager
	}
	h.heartbeats(r)
	h.pagerDuty(r)
	h.opsgenie(r)
}

// errToken is the refusal of a delivery without a valid token.
var errToken = fault.New(fault.Unauthenticated,
	"no integration has this token: send it as \"Authorization: Bearer TOKEN\" or in the path")

// generic takes a delivery below /v1/hooks.
func (h *Hooks) generic(w http.ResponseWriter, r *http.Request) {
	kind, token := wire.Param(r, "type"), wire.Param(r, "token")
	if token == "" {
		token = bearer(r)
	}
	d, err := h.authenticate(r.Context(), token, kind)
	if err != nil {
		h.d.Errors.Write(w, r, err)
		return
	}
	r = r.WithContext(wire.WithActor(r.Context(), auth.Through(d.app), d.app))
	body, r, err := wire.Body(w, r, maxBody)
	if err == nil {
		err = d.verify(r, body)
	}
	if err == nil {
		err = d.take(r, body, h.d.Decoders[kind])
	} else {
		d.note(err)
	}
	if err != nil {
		h.d.Errors.Write(w, r, err)
		return
	}
	wire.JSON(w, http.StatusOK, struct {
		Events []eventAnswer `json:"events"`
	}{d.answers()})
}

// eventAnswer says what an event of a delivery did.
type eventAnswer struct {
	Key      string `json:"dedup_key,omitempty"`
	Outcome  string `json:"outcome"`
	Incident int64  `json:"incident,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// bearer returns the token in the Authorization header: a bearer token, or the password of basic authentication.
func bearer(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(token)
	}
	return ""
}

// delivery is one authenticated delivery and what became of it.
type delivery struct {
	h       *Hooks
	token   string
	tokenID int64
	from    intake.Integration
	app     auth.Application
	at      time.Time
	body    []byte // without the token
	format  string // Content-Type
	plain   bool   // the body has been decoded, see plain
	checked string // what the check of the signature did
	events  []intake.Event
	results []receiving.Result
	errs    []error // of the events; nil = carried out
}

// authenticate finds the integration of a token and checks that it may send now. kind is the required type.
func (h *Hooks) authenticate(ctx context.Context, token, kind string) (*delivery, error) {
	d := &delivery{h: h, token: token, at: time.Now()}
	var err error = errToken
	if token != "" {
		d.from, d.tokenID, err = h.d.Integrations.ByToken(ctx, token)
		err = fault.When(err, fault.NotFound, errToken)
	}
	if err != nil {
		if d.from.Type = kind; h.d.Decoders[kind] == nil {
			d.from.Type = "unknown"
		}
		d.note(err)
		return nil, err
	}
	if err = allowed(d.from, kind); err == nil && h.d.Decoders[kind] == nil {
		err = fault.Newf(fault.Forbidden, "integrations of type %s take no deliveries here", kind)
	}
	if err == nil {
		err = h.d.Activity.Allow(ctx, d.from, d.at)
	}
	if err == nil {
		d.app, err = h.d.Applications.ByName(ctx, d.from.Application)
	}
	if err != nil {
		d.note(err)
	}
	return d, err
}

// noteUnread records the refusal of a delivery that is not read, on the integration of the type that has the token.
func (h *Hooks) noteUnread(r *http.Request, kind, token string, body []byte, err error) {
	d := &delivery{h: h, at: time.Now()}
	if d.from.Type = kind; h.d.Decoders[kind] == nil && kind != intake.Heartbeat {
		d.from.Type = "unknown"
	}
	if token != "" {
		found, number, unknown := h.d.Integrations.ByToken(r.Context(), token)
		if unknown == nil && found.Type == kind {
			d.from, d.tokenID, d.token, d.body = found, number, token, storable(body, token)
		}
	}
	d.note(err)
}

// errMethod is the refusal of a delivery with a method that its path does not have.
var errMethod = fault.New(fault.Invalid, "the path does not take this method: send POST")

// NoteMethod records a request that is refused because its path has other methods, if the path is one of Routes.
func (h *Hooks) NoteMethod(r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	if rest, ok := strings.CutPrefix(path, "/v1/hooks/"); ok {
		kind, token, _ := strings.Cut(rest, "/")
		if given := bearer(r); given != "" {
			token = given
		}
		token, _, _ = strings.Cut(token, "/")
		h.noteUnread(r, kind, token, nil, errMethod)
		return
	}
	switch {
	case path == alertsPath || strings.HasPrefix(path, alertsPath+"/") || strings.HasPrefix(path, "/v2/heartbeats"):
		h.noteUnread(r, intake.Opsgenie, genieKey(r), nil, errMethod)
	case path == "/v2/enqueue" || path == "/v2/change/enqueue" || strings.HasPrefix(path, "/generic/"):
		h.noteUnread(r, intake.PagerDuty, r.Header.Get("X-Routing-Key"), nil, errMethod)
	}
}

// allowed returns a Forbidden fault if an integration may not send to the address of a type.
func allowed(from intake.Integration, kind string) error {
	switch {
	case from.Type != kind:
		return fault.Newf(fault.Forbidden, "the integration %s has the type %s: send to the address of that type",
			from.Name, from.Type)
	case !from.Enabled:
		return fault.Newf(fault.Forbidden, "the integration %s is switched off", from.Name)
	}
	return nil
}

// verify checks the signature of a body, if the integration requires one.
func (d *delivery) verify(r *http.Request, body []byte) error {
	d.body, d.format = storable(body, d.token), r.Header.Get("Content-Type")
	_, others := intake.Split(d.from.Settings)
	settings, err := signatures.Parse(d.from.Type, others)
	if err != nil {
		return err
	}
	check := signatures.Delivery{Type: d.from.Type, Settings: settings, Header: r.Header.Get, Body: body, At: d.at}
	for _, secret := range d.from.Secrets {
		check.Secrets = append(check.Secrets, string(secret))
	}
	d.checked, err = d.h.signatures.Check(r.Context(), check)
	return err
}

// take decodes a body and carries out its events. It returns an error if the sender must change the delivery or send it
// again. An event that is refused for good does not lose the others.
func (d *delivery) take(r *http.Request, body []byte, decode intake.Decoder) error {
	err := d.decode(r, body, decode)
	if err == nil {
		err = d.receive(r.Context())
	}
	d.note(err)
	return err
}

func (d *delivery) decode(r *http.Request, body []byte, decode intake.Decoder) (err error) {
	defer fault.Recover(&err) // a decoder that panics delays nothing else
	isMail := d.from.Type == intake.Email
	if !d.plain {
		// A mail names its charsets itself.
		if body, err = plain(r.Header, body, maxBody, d.signed() || isMail && bytes.Contains(bytes.ToLower(body), []byte("charset="))); err != nil {
			return err
		}
	}
	if err := wire.Grow(r.Context(), len(body)); err != nil {
		return err
	}
	text, err := d.keep(body)
	if err != nil {
		return err
	}
	query, stored := r.URL.Query(), d.body
	if isMail { // its parts may have other charsets
		stored = withoutToken(body, d.token)
	}
	d.events, err = decode(intake.Request{Header: r.Header.Get, Query: query.Get, Body: stored, Text: text,
		Settings: d.from.Settings, At: d.at})
	for k := range d.events {
		e := &d.events[k]
		if e.Context = wire.WithoutNUL(e.Context); err == nil && len(e.Context) > 0 {
			err = wire.CheckJSON(e.Context) // of JSON within a text or a form
		}
	}
	return err
}

// signed reports whether the sender signs the body. Headers are not signed.
func (d *delivery) signed() bool { return d.from.Type == "sns" || len(d.from.Secrets) > 0 }

// keep stores the body without the token, as it can be stored. A body that begins like JSON must be JSON, except that
// of a generic integration: control characters in its texts are read as if they were escaped, and what is not JSON
// then, or nests too deep, pages as text.
func (d *delivery) keep(body []byte) (text bool, err error) {
	d.body = storable(body, d.token)
	start := bytes.TrimSpace(d.body)
	if len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return false, nil
	}
	err = wire.CheckJSON(d.body)
	if err != nil && d.from.Type == intake.Generic {
		if escaped := escapeControls(d.body); wire.CheckJSON(escaped) == nil {
			d.body, err = escaped, nil
		}
	}
	if err == nil {
		d.body = intake.Bounded(d.body)
		return false, nil
	}
	if d.from.Type != intake.Generic {
		return false, err
	}
	return json.Valid(d.body), nil // the decoder finds by itself what is no JSON
}

// escapeControls escapes control characters inside the texts of JSON, such as a line break that a script did not
// escape.
func escapeControls(body []byte) []byte {
	out := make([]byte, 0, len(body)+64)
	quoted, escaped := false, false
	for _, c := range body {
		switch {
		case quoted && c < ' ':
			out = fmt.Appendf(out, `\u%04x`, c)
			escaped = false
			continue
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		}
		out = append(out, c)
	}
	return out
}

// storable returns a body as it can be stored: valid UTF-8 without NUL and without the token.
func storable(body []byte, token string) []byte {
	return wire.WithoutNUL(bytes.ToValidUTF8(withoutToken(body, token), []byte("\uFFFD")))
}

func withoutToken(body []byte, token string) []byte {
	if token == "" {
		return body
	}
	return bytes.ReplaceAll(body, []byte(token), []byte("[token]"))
}

func (d *delivery) receive(ctx context.Context) error {
	d.results, d.errs = make([]receiving.Result, len(d.events)), make([]error, len(d.events))
	refused := 0
	for k, e := range d.events {
		result, err := d.h.d.Receiver.Receive(ctx, d.app, d.from, e, d.at)
		switch {
		case err == nil:
			d.results[k] = result
		case fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid):
			d.errs[k] = err
			refused++
		default:
			return later(err) // those that were carried out are recognised when they come again
		}
	}
	if refused > 0 && refused == len(d.events) {
		return d.errs[0]
	}
	return nil
}

// later turns an error that a sender can end by sending the delivery again into an Unavailable fault: senders repeat
// after 5xx, and most do not after 4xx. Only the rate of the integration stays Throttled.
func later(err error) error {
	if !fault.Is(err, fault.Throttled) && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Conflict) {
		return err
	}
	var f *fault.Error
	out := &fault.Error{Kind: fault.Unavailable, Message: "Iris cannot take this delivery now, send it again",
		RetryAfter: retryAfter, Err: err}
	if errors.As(err, &f) && f.RetryAfter > 0 {
		out.RetryAfter = f.RetryAfter
	}
	return out
}

// maxOutcomes is for how many events of a delivery the record says what they did.
const maxOutcomes = 20

// note records the delivery on its integration.
func (d *delivery) note(err error) {
	var parts []string
	failure := ""
	for _, e := range d.events {
		failure = cmp.Or(failure, e.FailureText())
	}
	if failure != "" {
		parts = append(parts, failure)
	}
	if len(d.events) > 0 {
		parts = append(parts, d.events[0].ReadBy()...)
	}
	if d.checked != "" {
		parts = append(parts, d.checked)
	}
	for k, r := range d.results[:min(len(d.results), maxOutcomes)] {
		if d.errs[k] != nil {
			parts = append(parts, "refused: "+fault.Public(d.errs[k]))
		} else {
			parts = append(parts, r.Text())
		}
	}
	d.h.d.Activity.Note(d.from, d.tokenID, intake.Payload{At: d.at, Outcome: strings.Join(parts, "; "),
		Body:        string(d.body),
		ContentType: string(storable([]byte(d.format), d.token)), Failure: failure}, err)
}

// answers says what the events did. It is never nil.
func (d *delivery) answers() []eventAnswer {
	out := []eventAnswer{}
	for k, r := range d.results {
		a := eventAnswer{Key: cmp.Or(r.Key, d.events[k].Key), Outcome: string(r.Outcome), Incident: int64(r.ID)}
		if d.errs[k] != nil {
			a.Outcome, a.Reason = "refused", fault.Public(d.errs[k])
		}
		out = append(out, a)
	}
	return out
}
