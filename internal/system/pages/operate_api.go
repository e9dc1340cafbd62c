package pages

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// longestPause bounds pauses of operators, so that a forgotten pause ends.
const longestPause = 24 * time.Hour

// Drains makes members release their buckets, or own buckets again. It returns a NotFound fault for a member that does
// not exist, and a Conflict fault for the last member that could own buckets.
type Drains interface {
	SetDraining(ctx context.Context, processID string, draining bool) error
}

// Pauses pauses accounts of vendors and modes. EndPause of a key that is not paused returns a NotFound fault.
type Pauses interface {
	Pause(ctx context.Context, key string, d time.Duration, reason string) error
	EndPause(ctx context.Context, key string) error
}

// operations returns the routes that change the running system. They are for administrators.
func (d Deps) operations() []routing.Route {
	out := []routing.Route{
		routing.Put("/v1/system/members/{process}/draining", routing.Write, d.drain),
		routing.Put("/v1/system/pauses/{key}", routing.Write, d.pause),
		routing.Delete("/v1/system/pauses/{key}", routing.Write, d.resume),
		routing.Post("/v1/messages/purge", routing.Write, d.purge),
		routing.Post("/v1/messages/{id}/resend", routing.Write, d.resend),
	}
	for i, rt := range out {
		handle := rt.Handle
		out[i].Handle = func(w http.ResponseWriter, r *http.Request) error {
			if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
				return err
			}
			return handle(w, r)
		}
	}
	return out
}

// flag reads a body that has one required flag.
func flag(w http.ResponseWriter, r *http.Request, name string) (bool, error) {
	b, err := jsonbody.ReadKnown(w, r, name)
	if err != nil {
		return false, err
	}
	value, given, err := b.Flag(name)
	if err == nil && !given {
		err = b.Missing(name)
	}
	return value, err
}

func (d Deps) drain(w http.ResponseWriter, r *http.Request) error {
	draining, err := flag(w, r, "draining")
	if err != nil {
		return err
	}
	if err := d.Drains.SetDraining(r.Context(), routing.Param(r, "process"), draining); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, struct {
		Draining bool `json:"draining"`
	}{draining})
}

func (d Deps) pause(w http.ResponseWriter, r *http.Request) error {
	key := routing.Param(r, "key")
	if err := checkKey(key); err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "seconds", "reason")
	if err != nil {
		return err
	}
	seconds, err := b.Whole("seconds", int64(longestPause/time.Second), 0)
	if err != nil {
		return err
	}
	if seconds == 0 {
		return fault.Invalidf("seconds", "give the seconds of the pause, from 1 to %d", longestPause/time.Second)
	}
	why, err := reason(b, "others see it while the pause lasts")
	if err != nil {
		return err
	}
	if err := d.Pauses.Pause(r.Context(), key, time.Duration(seconds)*time.Second, why); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, apiPause{key, float64(seconds), why})
}

// reason reads why a change is made. use says what the text is for.
func reason(b jsonbody.Object, use string) (string, error) {
	text, err := b.Required("reason")
	if text = strings.TrimSpace(text); err == nil && (text == "" || len(text) > 500) {
		err = fault.Invalidf("reason", "give a reason of at most 500 bytes: %s", use)
	}
	return text, err
}

// checkKey refuses a key that is neither a mode nor an account.
func checkKey(key string) error {
	if mode, ok := strings.CutPrefix(key, "mode:"); ok {
		if _, known := users.ParseMode(mode); known {
			return nil
		}
	}
	if account, ok := strings.CutPrefix(key, "account:"); ok && len(key) <= 200 {
		if vendor, _, ok := strings.Cut(account, "/"); ok && vendor != "" {
			return nil
		}
	}
	return fault.Invalidf("key", "%.100q is no mode, such as mode:sms, and no account, such as account:twilio/main",
		key)
}

func (d Deps) resume(w http.ResponseWriter, r *http.Request) error {
	if err := d.Pauses.EndPause(r.Context(), routing.Param(r, "key")); err != nil {
		return err
	}
	return routing.Empty(w, http.StatusNoContent)
}
