package pages

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Messages changes the queue.
type Messages interface {
	// Purge drops pending messages, as many as it can in a few seconds.
	Purge(ctx context.Context, f system.Purge) (system.Purged, error)
	// Resend makes a message again and returns the new one and its bucket. A message that cannot be sent again is a
	// Conflict fault.
	Resend(ctx context.Context, id messages.ID, actor string) (made messages.ID, bucket int, err error)
}

// maxAge bounds older_than_seconds.
const maxAge = 366 * 24 * time.Hour

// purge drops pending messages. At least one condition is required, so that nobody drops everything by mistake.
func (d Deps) purge(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "application", "mode", "incident_id", "out_of_band", "older_than_seconds",
		"reason")
	if err != nil {
		return err
	}
	f, err := readPurge(b)
	if err != nil {
		return err
	}
	f.Actor = wire.Actor(r.Context()).String()
	purged, err := d.Messages.Purge(r.Context(), f)
	if err != nil {
		return err
	}
	d.Wake(r.Context(), buckets.All())
	return routing.Answer(w, http.StatusOK, purged)
}

func readPurge(b jsonbody.Object) (f system.Purge, err error) {
	if f.Application, err = b.Text("application"); err != nil {
		return f, err
	}
	mode, err := b.Text("mode")
	if err != nil {
		return f, err
	}
	var known bool
	if f.Mode, known = users.ParseMode(mode); mode != "" && !known {
		return f, fault.Invalidf("mode", "there is no mode %.40q", mode)
	}
	if f.IncidentID, err = b.Whole("incident_id", math.MaxInt64, 0); err != nil {
		return f, err
	}
	if f.IncidentID == 0 && b.Given("incident_id") {
		return f, b.Fault("incident_id",
			"there is no incident 0: leave incident_id out for the messages of all incidents")
	}
	if f.OutOfBand, _, err = b.Flag("out_of_band"); err != nil {
		return f, err
	}
	seconds, err := b.Whole("older_than_seconds", int64(maxAge/time.Second), 0)
	if err != nil {
		return f, err
	}
	f.OlderThan = time.Duration(seconds) * time.Second
	if f.Application == "" && f.Mode == "" && f.IncidentID == 0 && !f.OutOfBand {
		return f, fault.Invalidf("application",
			"give at least one of application, mode, incident_id and out_of_band: all waiting messages cannot be dropped together")
	}
	f.Why, err = reason(b, "it is shown on the timelines of the incidents")
	return f, err
}

// resend makes a message again.
func (d Deps) resend(w http.ResponseWriter, r *http.Request) error {
	n, err := strconv.ParseInt(wire.Param(r, "id"), 10, 64)
	if err != nil || n <= 0 {
		return fault.New(fault.NotFound, "there is no such message")
	}
	made, bucket, err := d.Messages.Resend(r.Context(), messages.ID(n), wire.Actor(r.Context()).String())
	if err != nil {
		return err
	}
	d.Wake(r.Context(), buckets.Of(bucket))
	w.Header().Set("Location", "/v1/messages/"+strconv.FormatInt(int64(made), 10))
	return routing.Answer(w, http.StatusCreated, struct {
		ID messages.ID `json:"id"`
	}{made})
}
