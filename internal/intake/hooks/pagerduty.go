package hooks

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"regexp"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// pagerDuty mounts the routes of PagerDuty's Events APIs.
func (h *Hooks) pagerDuty(r chi.Router) {
	v2 := pagerDutyAPI{h, "routing_key", "dedup_key", http.StatusAccepted, http.StatusTooManyRequests}
	v1 := pagerDutyAPI{h, "service_key", "incident_key", http.StatusOK, http.StatusForbidden}
	r.Post("/v2/enqueue", v2.handler(h.d.Decoders[intake.PagerDuty]))
	r.Post("/v2/change/enqueue", v2.change)
	r.Post("/generic/2010-04-15/create_event.json", v1.handler(h.d.PagerDutyV1))
}

// pagerDutyAPI has the names and statuses of one version. Clients send an event again after a throttled status.
type pagerDutyAPI struct {
	h             *Hooks
	token, key    string
	ok, throttled int
}

// handler takes one event.
func (a pagerDutyAPI) handler(decode intake.Decoder) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		d, body, err := a.authenticate(w, r)
		if err == nil {
			err = d.take(r, body, withKey(decode))
		}
		if err != nil {
			a.refuse(w, r, err)
			return
		}
		answer := map[string]string{"status": "success", "message": "Event processed"}
		for _, e := range d.events {
			answer[a.key] = e.Key
		}
		wire.JSON(w, a.ok, answer)
	}
}

// withKey returns a decoder whose events have a key: PagerDuty answers an event without one with a new key.
func withKey(decode intake.Decoder) intake.Decoder {
	return func(r intake.Request) ([]intake.Event, error) {
		events, err := decode(r)
		for k := range events {
			if events[k].Key == "" {
				events[k].Key = rand.Text()
			}
		}
		return events, err
	}
}

// change accepts a change event. It is kept with the payloads of the integration and notifies nobody.
func (a pagerDutyAPI) change(w http.ResponseWriter, r *http.Request) {
	d, body, err := a.authenticate(w, r)
	if err == nil {
		err = d.take(r, body, func(intake.Request) ([]intake.Event, error) { return nil, nil })
	}
	if err != nil {
		a.refuse(w, r, err)
		return
	}
	wire.JSON(w, http.StatusAccepted, map[string]string{"status": "success", "message": "recorded"})
}

// authenticate reads the body, which has the token. A refusal is recorded.
func (a pagerDutyAPI) authenticate(w http.ResponseWriter, r *http.Request) (*delivery, []byte, error) {
	body, r, err := wire.Body(w, r, wire.MaxBody)
	if err == nil {
		body, err = plain(r.Header, body, wire.MaxBody, false)
	}
	var members map[string]json.RawMessage
	if err == nil {
		members, err = wire.Object(body)
	}
	var token string
	_ = json.Unmarshal(members[a.token], &token) // another type counts as absent
	if token == "" {
		token = r.Header.Get("X-Routing-Key")
	}
	if err != nil {
		a.noteUnread(r, token, body, err)
		return nil, nil, err
	}
	if token == "" {
		err = fault.Invalidf(a.token, "%s is missing", a.token)
		a.noteUnread(r, "", body, err)
		return nil, nil, err
	}
	d, err := a.h.authenticate(r.Context(), token, intake.PagerDuty)
	if fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.NotFound) {
		err = fault.Invalidf(a.token, "%s is unknown", a.token)
	}
	if err == nil {
		d.plain = true
	}
	return d, body, err
}

// keyInText finds the token in a body that is no JSON object.
var keyInText = regexp.MustCompile(`"(?:routing_key|service_key)"\s*:\s*"([^"\\]{1,200})"`)

// noteUnread records the refusal of a body that cannot be read, on the integration that it or its header seems to name.
func (a pagerDutyAPI) noteUnread(r *http.Request, token string, body []byte, err error) {
	if m := keyInText.FindSubmatch(body); token == "" && m != nil {
		token = string(m[1])
	}
	a.h.noteUnread(r, intake.PagerDuty, token, body, err)
}

// refuse answers with an error in the flat form of PagerDuty and in the nested form that one of its clients reads.
func (a pagerDutyAPI) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := wire.Status(err)
	switch {
	case status == http.StatusTooManyRequests:
		status = a.throttled
	case status < http.StatusInternalServerError && status != http.StatusRequestEntityTooLarge:
		status = http.StatusBadRequest
	}
	a.h.d.Errors.Observe(w, r, err)
	reasons := []string{fault.Public(err)}
	wire.JSON(w, status, struct {
		Status  string   `json:"status"`
		Message string   `json:"message"`
		Errors  []string `json:"errors"`
		Error   any      `json:"error"`
	}{"invalid event", "event refused", reasons, map[string]any{"code": status, "message": "event refused",
		"errors": reasons}})
}
