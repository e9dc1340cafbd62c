package hooks

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/wire"
)

// opsgenie mounts the routes of Opsgenie's Alert API v2. An alert's id is its alias, so both identify an alert. Some clients do not escape
// the slashes of an alias, so the last segment of a path is the action and the rest the identifier.
func (h *Hooks) opsgenie(r chi.Router) {
	r.Post("/v2/alerts", h.createAlert)
	for action := range alertActions() {
		r.Post("/v2/alerts/{identifier}/"+action, h.changeAlert)
	}
	r.Post("/v2/alerts/*", h.changeAlert)
	r.Get("/v2/alerts/requests/{request}", h.alertRequest)
}

// alertActions returns the supported actions and what they say about an alert.
func alertActions() map[string]intake.Status {
	return map[string]intake.Status{"close": intake.Resolved, "acknowledge": intake.Acknowledged}
}

// createAlert opens or updates the incident of an alert.
func (h *Hooks) createAlert(w http.ResponseWriter, r *http.Request) {
	h.alert(w, r, 'c', func(q intake.Request) ([]intake.Event, error) {
		return withKey(h.d.Decoders[integrations.Opsgenie])(q)
	})
}

// changeAlert closes or acknowledges an alert. An alert that is not open is no error.
func (h *Hooks) changeAlert(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/v2/alerts/")
	cut := strings.LastIndexByte(path, '/')
	escaped, action := path[:max(cut, 0)], path[cut+1:]
	identifier, err := url.PathUnescape(escaped)
	status, known := alertActions()[action]
	kind := r.URL.Query().Get("identifierType")
	letter := byte('a')
	if status == intake.Resolved {
		letter = 'x'
	}
	h.alert(w, r, letter, func(intake.Request) ([]intake.Event, error) {
		switch {
		case !known:
			return nil, fault.Invalidf("action", "the action %.40q is not supported: use close or acknowledge", action)
		case err != nil || identifier == "" || kind == "tiny":
			return nil, fault.Invalidf("identifier", "name the alert by its id or alias")
		}
		return []intake.Event{{Status: status, Key: sources.ShortKey(identifier)}}, nil
	})
}

// alert authenticates and carries out a request about an alert. action is the first letter of the action.
func (h *Hooks) alert(w http.ResponseWriter, r *http.Request, action byte, decode intake.Decoder) {
	begun := time.Now()
	d, err := h.authenticate(r.Context(), genieKey(r), integrations.Opsgenie)
	if err != nil {
		h.refuseAlert(w, r, begun, err)
		return
	}
	r = r.WithContext(wire.WithActor(r.Context(), auth.Through(d.app), d.app))
	body, r, err := wire.Body(w, r, maxBody)
	if err == nil {
		err = d.take(r, body, decode)
	} else {
		d.note(err)
	}
	if err != nil {
		h.refuseAlert(w, r, begun, err)
		return
	}
	var incident int64
	for _, result := range d.results {
		incident = int64(result.ID)
	}
	wire.JSON(w, http.StatusAccepted, struct {
		Result string `json:"result"`
		envelope
	}{"Request will be processed", newEnvelope(begun, requestID(action, incident))})
}

// envelope is what every answer of Opsgenie has.
type envelope struct {
	Took      float64 `json:"took"` // seconds
	RequestID string  `json:"requestId"`
}

func newEnvelope(begun time.Time, id string) envelope {
	return envelope{time.Since(begun).Seconds(), id}
}

// requestID returns a UUID with the action and the incident, so that every process can answer what became of the request.
func requestID(action byte, incident int64) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[0] = action
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80 // version 8, variant of RFC 9562
	var number [8]byte
	binary.BigEndian.PutUint64(number[:], uint64(incident))
	copy(b[9:], number[1:]) // incident numbers have less than 56 bits
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// alertRequest answers what became of a request. Requests are carried out before they are answered, so this is known at once.
func (h *Hooks) alertRequest(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	d, err := h.authenticate(r.Context(), genieKey(r), integrations.Opsgenie)
	if err != nil {
		h.refuseAlert(w, r, begun, err)
		return
	}
	id := wire.Param(r, "request")
	b, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	actions := map[byte][2]string{'c': {"Create", "Created alert"}, 'a': {"Acknowledge", "Acknowledged alert"}, 'x': {"Close", "Closed alert"}}
	if err != nil || len(b) != 16 || b[6]>>4 != 8 {
		h.refuseAlert(w, r, begun, fault.New(fault.NotFound, "there is no such request"))
		return
	}
	incident := int64(binary.BigEndian.Uint64(append([]byte{0}, b[9:]...)))
	alias, err := h.d.Integrations.KeyOf(r.Context(), d.from.ID, incident)
	if err != nil && !fault.Is(err, fault.NotFound) {
		h.refuseAlert(w, r, begun, err)
		return
	}
	said := actions[b[0]]
	if alias == "" {
		said[1] = "Alert does not exist"
	}
	wire.JSON(w, http.StatusOK, struct {
		Data any `json:"data"`
		envelope
	}{map[string]any{"success": alias != "", "isSuccess": alias != "", "action": said[0], "status": said[1], "processedAt": begun.UTC(),
		"integrationId": fmt.Sprint(d.from.ID), "alertId": alias, "alias": alias}, newEnvelope(begun, id)})
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

// refuseAlert answers with an error in the form of Opsgenie. A body with wrong fields is 422.
func (h *Hooks) refuseAlert(w http.ResponseWriter, r *http.Request, begun time.Time, err error) {
	status := wire.Status(err)
	answer := struct {
		Message string            `json:"message"`
		Code    int               `json:"code,omitempty"`
		Errors  map[string]string `json:"errors,omitempty"`
		envelope
	}{Message: fault.Public(err), envelope: newEnvelope(begun, requestID('e', 0))}
	switch field := fault.FieldOf(err); {
	case field != "":
		status = http.StatusUnprocessableEntity
		answer.Errors = map[string]string{field: fault.Public(err)}
	case status == http.StatusForbidden:
		answer.Code = 40301
	case status == http.StatusTooManyRequests:
		w.Header().Set("X-RateLimit-State", "THROTTLED")
		w.Header().Set("X-RateLimit-Reason", "ACCOUNT")
		w.Header().Set("X-RateLimit-Period-In-Sec", "60")
	case status == http.StatusNotFound && r.Method == http.MethodPost: // no plan can take the event
		status = http.StatusUnprocessableEntity
	}
	h.d.Errors.Observe(w, r, err)
	wire.JSON(w, status, answer)
}
