package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 255
	// replayedHeader marks an answer that was stored earlier.
	replayedHeader = "Idempotent-Replayed"
	// afterwards bounds what is done for a key after the request itself.
	afterwards = 5 * time.Second
)

// once makes a request with an Idempotency-Key act once per application, person and path: sent again, it gets the stored
// answer. Only successes are stored; after anything else the key is free, so that the request can be tried again.
func (a *API) once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(idempotencyHeader)
		actor := wire.Actor(r.Context())
		if name == "" || actor.ApplicationID == 0 || actor.MayWrite() != nil {
			next.ServeHTTP(w, r) // nothing to keep, or a refusal that next knows to word
			return
		}
		key, r, err := replayKey(w, r, name, actor)
		if err != nil {
			a.Errors.Write(w, r, err)
			return
		}
		stored, err := a.Replays.Claim(r.Context(), key)
		switch {
		case err != nil:
			a.Errors.Write(w, r, err)
		case stored != nil:
			a.metrics.replayed.Inc()
			w.Header().Set(replayedHeader, "true")
			if stored.Opened != 0 {
				created(w, stored.Opened, "incidents")
				return
			}
			answer(w, *stored)
		default:
			a.runOnce(w, r, key, next)
		}
	})
}

func replayKey(w http.ResponseWriter, r *http.Request, name string, actor auth.Actor) (auth.ReplayKey, *http.Request, error) {
	if len(name) > maxIdempotencyKey || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return auth.ReplayKey{}, r, fault.Invalidf(idempotencyHeader,
			"Idempotency-Key must be 1 to %d visible ASCII characters without spaces", maxIdempotencyKey)
	}
	body, r, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return auth.ReplayKey{}, r, err
	}
	hash := sha256.New()
	hash.Write([]byte(r.URL.RawQuery))
	hash.Write([]byte{0})
	hash.Write(body)
	return auth.ReplayKey{ApplicationID: actor.ApplicationID, Key: name, BodyHash: hash.Sum(nil),
		Route: replayRoute(r, actor)}, r, nil
}

// maxReplayRoute is the length up to which a route is kept as it is; an index entry has a limit.
const maxReplayRoute = 200

// replayRoute names what a key counts for: method, path and person. What is long, or cannot be stored, is hashed.
func replayRoute(r *http.Request, actor auth.Actor) string {
	route := r.Method + " " + strings.TrimSuffix(r.URL.Path, "/") + " " + strings.ToLower(actor.Username)
	if len(route) <= maxReplayRoute && storable(route) {
		return route
	}
	sum := sha256.Sum256([]byte(route))
	return r.Method + " sha256:" + hex.EncodeToString(sum[:])
}

// runOnce runs the request that took the key, and keeps its answer before giving it.
func (a *API) runOnce(w http.ResponseWriter, r *http.Request, key auth.ReplayKey, next http.Handler) {
	rec := &answerRecorder{header: w.Header(), status: http.StatusOK}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), afterwards)
		defer cancel()
		var err error
		if rec.done && rec.status < http.StatusMultipleChoices {
			err = a.Replays.Store(ctx, key, auth.Answer{Status: rec.status, Location: rec.header.Get("Location"), Body: rec.body.Bytes()})
		} else {
			err = a.Replays.Release(ctx, key)
		}
		if err != nil {
			a.Log.Warn("answer for an idempotency key could not be kept", zap.Error(err))
		}
		if rec.done {
			w.WriteHeader(rec.status)
			_, _ = w.Write(rec.body.Bytes())
		}
	}()
	next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), keyInContext{}, key)))
	rec.done = true
}

// keyInContext holds the auth.ReplayKey that a request runs under in its context.
type keyInContext struct{}

// underKey returns the key that the request runs under, for what is opened by it; nil when it has none.
func underKey(ctx context.Context) *incidents.Once {
	key, ok := ctx.Value(keyInContext{}).(auth.ReplayKey)
	if !ok {
		return nil
	}
	return &incidents.Once{ApplicationID: key.ApplicationID, Route: key.Route, Key: key.Key, BodyHash: key.BodyHash}
}

func answer(w http.ResponseWriter, s auth.Answer) {
	if s.Location != "" {
		w.Header().Set("Location", s.Location)
	}
	wire.Raw(w, s.Status, s.Body)
}

// answerRecorder holds an answer back until it is kept. Answers of POST routes are small.
type answerRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	done   bool // the handler returned
}

func (a *answerRecorder) Header() http.Header         { return a.header }
func (a *answerRecorder) WriteHeader(status int)      { a.status = status }
func (a *answerRecorder) Write(p []byte) (int, error) { return a.body.Write(p) }
