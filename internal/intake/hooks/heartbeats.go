package hooks

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Heartbeats stores pings and heartbeats.
type Heartbeats interface {
	// Ping returns when the ping is durable.
	Ping(ctx context.Context, p heartbeats.Ping) (heartbeats.Pinged, error)
	// Of returns the heartbeats of an integration, and when pings could be received.
	Of(ctx context.Context, integration intake.ID, application int64) ([]heartbeats.Heartbeat, heartbeats.Reception,
		error)
	// Save adds a heartbeat (ID 0), or replaces its content. A name in use is a Conflict fault.
	Save(ctx context.Context, i intake.Integration, before heartbeats.Heartbeat, c heartbeats.Content,
		actor string) error
	Delete(ctx context.Context, h heartbeats.Heartbeat, actor string) error
}

// heartbeats mounts the routes of pings. They also answer HEAD. Some senders can only open an address, so GET stores a
// ping.
func (h *Hooks) heartbeats(r chi.Router) {
	const path = "/v1/hooks/" + intake.Heartbeat
	for _, path := range []string{path, path + "/{token}", path + "/{token}/{name}"} {
		r.Get(path, h.ping)
		r.Post(path, h.ping)
		r.Put(path, h.ping)
	}
	h.opsgenieHeartbeats(r)
}

// ping stores a ping. The path has the token, then the name; or only the name, if the token is in a header.
func (h *Hooks) ping(w http.ResponseWriter, r *http.Request) {
	token, name := wire.Param(r, "token"), wire.Param(r, "name")
	if given := bearer(r); given != "" && name == "" {
		token, name = given, token
	}
	name = cmp.Or(name, heartbeats.DefaultName)
	if err := h.storePing(r.Context(), heartbeats.Ping{Token: token, Type: intake.Heartbeat, Name: name}); err != nil {
		h.d.Errors.Write(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store") // a cache between would swallow pings
	wire.JSON(w, http.StatusOK, struct {
		Heartbeat string `json:"heartbeat"`
		Outcome   string `json:"outcome"`
	}{name, "received"})
}

// storePing stores a ping if the integration of its token may send it, and records it. A name without a heartbeat is a
// NotFound fault, except at Opsgenie's address: there the integration shows it.
func (h *Hooks) storePing(ctx context.Context, p heartbeats.Ping) (err error) {
	var pinged heartbeats.Pinged
	if err = errToken; p.Token != "" {
		pinged, err = h.d.Heartbeats.Ping(ctx, p)
		err = later(err)
	}
	switch {
	case err != nil:
	case pinged.Integration.ID == 0:
		err = errToken
	default:
		err = allowed(pinged.Integration, p.Type)
	}
	if err == nil && pinged.Heartbeat == 0 && p.Type == intake.Heartbeat {
		err = fault.Newf(fault.NotFound, "the integration has no heartbeat named %.100q", p.Name)
	}
	outcome := intake.Payload{At: time.Now(), Outcome: "there is no heartbeat named " + p.Name}
	switch {
	case err != nil:
		pinged.Integration.Type = cmp.Or(pinged.Integration.Type, p.Type)
		h.d.Activity.Note(pinged.Integration, pinged.Token, outcome, err)
	case pinged.Heartbeat == 0:
		h.d.Activity.Note(pinged.Integration, pinged.Token, outcome, nil)
	default:
		h.d.Activity.Count(pinged.Integration.ID, pinged.Token)
	}
	return err
}
