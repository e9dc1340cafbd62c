package hooks

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Heartbeats stores pings and heartbeats.
type Heartbeats interface {
	// Ping returns when the call is durable.
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
	for _, path := range []string{path, path + "/{token}", path + "/{token}/{name}", path + "/{token}/{name}/{signal}"} {
		r.Get(path, h.ping)
		r.Post(path, h.ping)
		r.Put(path, h.ping)
	}
	h.opsgenieHeartbeats(r)
}

// ping stores a call of a heartbeat.
func (h *Hooks) ping(w http.ResponseWriter, r *http.Request) {
	said := heartbeats.Ping{Type: intake.Heartbeat, Name: heartbeats.DefaultName, Signal: heartbeats.Success,
		Run: heartbeats.Cut(strings.ToLower(r.URL.Query().Get("rid")), heartbeats.MaxRunName)}
	calls := meanings(said, bearer(r), wire.Param(r, "token"), wire.Param(r, "name"), wire.Param(r, "signal"))
	text := textOf(r)
	for k := range calls {
		c := &calls[k]
		c.Run = string(storable([]byte(c.Run), c.Token))
		c.Text = heartbeats.Cut(string(storable(text, c.Token)), heartbeats.MaxText)
	}
	var err error
	if len(calls) > 0 {
		said, err = h.storePing(r.Context(), calls...)
	} else {
		// Who has no token does not learn what an address may be.
		_, _, err = h.d.Integrations.ByToken(r.Context(), cmp.Or(bearer(r), wire.Param(r, "token")))
		if err = fault.When(err, fault.NotFound, errToken); err == nil {
			err = errSignal
		}
		h.noteUnread(r, intake.Heartbeat, wire.Param(r, "token"), nil, err)
	}
	if err != nil {
		h.d.Errors.Write(w, r, err)
		return
	}
	w.Header().Set("Cache-Control", "no-store") // a cache between would swallow pings
	wire.JSON(w, http.StatusOK, struct {
		Heartbeat string            `json:"heartbeat"`
		Outcome   string            `json:"outcome"`
		Signal    heartbeats.Signal `json:"signal"`
	}{said.Name, "received", said.Signal})
}

// errSignal is the refusal of an address with a fourth part that is no signal.
var errSignal = fault.New(fault.NotFound, "after the name of the heartbeat, the path has start, fail, log or an exit code from 0 to 255")

// meanings returns what an address may mean, most likely first: the first that names a heartbeat counts. Its parts are
// token, name and signal, and each may be left out. A token in a header leaves it out of the path. A heartbeat that has
// the name of a signal comes before the heartbeat default with this signal, so that its address keeps its meaning.
func meanings(said heartbeats.Ping, header string, path ...string) (calls []heartbeats.Ping) {
	path = slices.DeleteFunc(slices.Clone(path), func(part string) bool { return part == "" })
	read := func(token string, rest []string) {
		call := said
		call.Token = token
		switch len(rest) {
		case 0:
			calls = append(calls, call)
		case 1:
			named := call
			named.Name = rest[0]
			calls = append(calls, named)
			if call, known := call.As(rest[0]); known {
				calls = append(calls, call)
			}
		case 2:
			call.Name = rest[0]
			if call, known := call.As(rest[1]); known {
				calls = append(calls, call)
			}
		}
	}
	if len(path) == 0 || header != "" && len(path) < 3 {
		read(header, path)
	}
	if len(path) > 0 && (header == "" || len(path) > 1) {
		read(path[0], path[1:])
	}
	return calls
}

// textOf returns the text that a call has, somewhat longer than what is kept: a token in it is replaced before it is
// cut. A body that cannot be read is no reason to refuse the call.
func textOf(r *http.Request) []byte {
	if r.Body == nil || r.Method != http.MethodPost && r.Method != http.MethodPut {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(r.Body, 2*heartbeats.MaxText))
	return bytes.TrimSpace(text)
}

// storePing stores the first of the calls that names a heartbeat, if the integration of its token may send it, and
// records and returns it. A name without a heartbeat is a NotFound fault, except at Opsgenie's address: there the
// integration shows it.
func (h *Hooks) storePing(ctx context.Context, calls ...heartbeats.Ping) (p heartbeats.Ping, err error) {
	var pinged heartbeats.Pinged
	for _, call := range calls {
		var to heartbeats.Pinged
		if call.Token != "" {
			to, err = h.d.Heartbeats.Ping(ctx, call)
			err = later(err)
		}
		if p.Type == "" || to.Integration.ID != 0 || err != nil {
			p, pinged = call, to
		}
		if err != nil || to.Heartbeat != 0 {
			break
		}
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
	return p, err
}
