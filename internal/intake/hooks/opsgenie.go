package hooks

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

const alertsPath = "/v2/alerts"

// opsgenie mounts the routes of Opsgenie's Alert API v2. Some clients do not escape the slashes of an alias. So the
// last segment of a path is the action, and the rest is the identifier.
func (h *Hooks) opsgenie(r chi.Router) {
	r.Post(alertsPath, h.createAlert)
	r.Get(alertsPath, h.readAlerts((*alertRequest).list))
	r.Get(alertsPath+"/count", h.readAlerts((*alertRequest).count))
	r.Get(alertsPath+"/requests/{request}", h.readAlerts((*alertRequest).request))
	for name := range alertActions() {
		method, action, _ := strings.Cut(name, " ")
		r.MethodFunc(method, strings.TrimSuffix(alertsPath+"/{identifier}/"+action, "/"), h.changeAlert)
	}
	for part := range alertParts() {
		r.Get(alertsPath+"/{identifier}/"+part, h.readAlerts((*alertRequest).alert))
	}
	r.Get(alertsPath+"/{identifier}", h.readAlerts((*alertRequest).alert))
	r.Get(alertsPath+"/*", h.readAlerts((*alertRequest).alert))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		r.MethodFunc(method, alertsPath+"/*", h.changeAlert)
	}
}

// createAlert opens or updates the incident of an alert.
func (h *Hooks) createAlert(w http.ResponseWriter, r *http.Request) {
	a := h.beginAlert(w, r, maxBody)
	if a.err == nil {
		a.err = a.create()
	}
	a.finish('c')
}

func (a *alertRequest) create() error {
	err := a.d.take(a.r, a.body, func(q intake.Request) ([]intake.Event, error) {
		events, err := a.d.h.d.Decoders[intake.Opsgenie](q)
		for k := range events {
			if events[k].Key == "" {
				events[k].Key = intake.GeneratedKey + rand.Text()
			}
		}
		return events, err
	})
	for k, result := range a.d.results {
		note := a.d.events[k].Annotations["note"]
		if err != nil || note == "" || result.Outcome != receiving.Opened {
			continue
		}
		err = a.d.h.actions.Comment(a.r.Context(), a.d.from, intake.Alert{Incident: int64(result.ID)},
			a.d.events[k].Annotations["user"], note)
	}
	a.noted = true
	return err
}

// alertRequest is a request about an alert, and what became of it.
type alertRequest struct {
	w        http.ResponseWriter
	r        *http.Request
	begun    time.Time
	d        *delivery
	body     []byte
	incident int64
	outcome  alertOutcome
	err      error
	paging   *alertPaging // of a list of notes or logs
	noted    bool         // the delivery is recorded
}

// beginAlert authenticates a request and reads its body of at most limit bytes.
func (h *Hooks) beginAlert(w http.ResponseWriter, r *http.Request, limit int64) *alertRequest {
	a := &alertRequest{w: w, r: r, begun: time.Now(), noted: true}
	if a.d, a.err = h.authenticate(r.Context(), genieKey(r), intake.Opsgenie); a.err != nil {
		a.d = &delivery{h: h}
		return a
	}
	a.noted = false
	a.r = r.WithContext(wire.WithActor(r.Context(), auth.Through(a.d.app), a.d.app))
	if a.body, a.r, a.err = wire.Body(w, a.r, limit); a.err == nil {
		a.body, a.err = plain(a.r.Header, a.body, int(limit), false)
		a.d.plain = true
	}
	return a
}

// finish records the request and answers. action is the first byte of the request's id.
func (a *alertRequest) finish(action byte) {
	if !a.noted {
		a.d.note(a.err)
	}
	if a.err != nil {
		a.refuse()
		return
	}
	for _, result := range a.d.results {
		a.incident = int64(result.ID)
	}
	if a.incident == 0 && a.outcome == alertDone {
		a.outcome = alertMissing
	}
	answerAlert(a.w, http.StatusAccepted, struct {
		Result string `json:"result"`
		envelope
	}{"Request will be processed", newEnvelope(a.begun, requestID(action, a.outcome, a.incident, a.begun))})
}

// refuse answers with an error in the form of Opsgenie. A body with wrong fields is 422.
func (a *alertRequest) refuse() {
	status := wire.Status(a.err)
	answer := struct {
		Message string            `json:"message"`
		Code    int               `json:"code,omitempty"`
		Errors  map[string]string `json:"errors,omitempty"`
		envelope
	}{Message: fault.Public(a.err), envelope: newEnvelope(a.begun, requestID('e', alertDone, 0, a.begun))}
	header := a.w.Header()
	switch field := fault.FieldOf(a.err); {
	case field != "":
		status = http.StatusUnprocessableEntity
		answer.Errors = map[string]string{field: fault.Public(a.err)}
	case status == http.StatusForbidden:
		answer.Code = 40301
	case status == http.StatusTooManyRequests:
		header.Set("X-RateLimit-State", "THROTTLED")
		header.Set("X-RateLimit-Reason", "ACCOUNT")
		header.Set("X-RateLimit-Period-In-Sec", "60")
	case status == http.StatusNotFound && a.r.URL.Path == alertsPath: // no plan can take the event
		status = http.StatusUnprocessableEntity
	}
	a.d.h.d.Errors.Observe(a.w, a.r, a.err)
	answerAlert(a.w, status, answer)
}

// envelope is what every answer of Opsgenie has.
type envelope struct {
	Took      float64 `json:"took"` // seconds
	RequestID string  `json:"requestId"`
}

func newEnvelope(begun time.Time, id string) envelope {
	return envelope{time.Since(begun).Seconds(), id}
}

func (e envelope) headers(h http.Header) {
	h.Set("X-Request-Id", e.RequestID)
	h.Set("X-Response-Time", fmt.Sprintf("%.3f", e.Took))
	if h.Get("X-RateLimit-State") == "" {
		h.Set("X-RateLimit-State", "OK")
	}
}

// answerAlert writes an answer with the headers that Opsgenie's clients read.
func answerAlert(w http.ResponseWriter, status int, answer interface{ headers(h http.Header) }) {
	answer.headers(w.Header())
	wire.JSON(w, status, answer)
}

// alertOutcome says what became of a request about an alert.
type alertOutcome byte

const (
	alertDone alertOutcome = iota
	alertMissing
	alertClosed
	alertNotAcknowledged
	alertNoPerson
	alertNoTeam
	alertRefused // by its state
)

// text returns the status of requests that changed nothing.
func (o alertOutcome) text() string {
	return map[alertOutcome]string{alertMissing: "Alert does not exist", alertClosed: "Alert is already closed",
		alertNotAcknowledged: "Alert is not acknowledged", alertNoPerson: "User does not exist",
		alertNoTeam: "Team does not exist", alertRefused: "The state of the alert does not permit this"}[o]
}

// requestID returns a UUID with the action, the outcome, the time and the incident, so that every process can answer
// what became of the request without storing it.
func requestID(action byte, o alertOutcome, incident int64, at time.Time) string {
	var b [16]byte
	b[0], b[1] = action, byte(o)
	binary.BigEndian.PutUint32(b[2:], uint32(at.Unix())) // until 2106
	_, _ = rand.Read(b[6:9])                             // never fails
	return uuid(b, incident)
}

// uuid writes bytes as a UUID of version 8 (RFC 9562). The last seven bytes are the incident's number.
func uuid(b [16]byte, incident int64) string {
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(incident))
	copy(b[9:], number[1:]) // incident numbers have less than 56 bits
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// parseUUID reverses uuid.
func parseUUID(s string) (b [16]byte, incident int64, ok bool) {
	raw, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(raw) != len(b) || len(s) != 36 || raw[6]>>4 != 8 {
		return b, 0, false
	}
	return [16]byte(raw), int64(binary.BigEndian.Uint64(append([]byte{0}, raw[9:]...))), true
}

// genieKey returns the token of a request: as GenieKey, encoded as basic authentication, or in the query.
func genieKey(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	switch {
	case strings.EqualFold(scheme, "GenieKey"), strings.EqualFold(scheme, "Bearer"):
		return token
	case strings.EqualFold(scheme, "Basic"):
		raw, err := base64.StdEncoding.DecodeString(token)
		if err != nil {
			return ""
		}
		return strings.Trim(string(raw), ":")
	}
	return r.URL.Query().Get("apiKey")
}
