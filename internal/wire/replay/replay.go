// Package replay makes requests with an Idempotency-Key act once: sent again, they get the stored answer. The edges that take
// changes share it. It knows no domain.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 255
	// replayedHeader marks an answer that was stored earlier.
	replayedHeader = "Idempotent-Replayed"
)

// Store keeps answers to requests that carry an Idempotency-Key.
type Store interface {
	// Once returns the answer that is stored for the request, or runs work, whose storage all belongs to one transaction with
	// the answer that is kept, and returns nil. When work returns false, nothing stays.
	Once(ctx context.Context, k auth.ReplayKey, work func(context.Context) (auth.Answer, bool)) (*auth.Answer, error)
}

// Keys runs requests once. All parts are required. It is safe for concurrent use.
type Keys struct {
	Store  Store
	Errors *wire.Errors
	// Wake tells the processors of changed buckets; it never blocks.
	Wake func(buckets.Set)
	// Replayed is called when a stored answer is sent.
	Replayed func()
}

// Once makes a request with an Idempotency-Key act once per application, person and path: sent again, it gets the stored
// answer. Only successes are stored; after anything else the key is free, so that the request can be tried again.
func (k *Keys) Once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(idempotencyHeader)
		actor := wire.Actor(r.Context())
		if name == "" || actor.ApplicationID == 0 || actor.MayWrite() != nil {
			next.ServeHTTP(w, r) // nothing to keep, or a refusal that next knows to word
			return
		}
		key, r, err := replayKey(w, r, name, actor)
		if err != nil {
			k.Errors.Write(w, r, err)
			return
		}
		k.runOnce(w, r, key, next)
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
	if len(route) <= maxReplayRoute && wire.Storable(route) {
		return route
	}
	sum := sha256.Sum256([]byte(route))
	return r.Method + " sha256:" + hex.EncodeToString(sum[:])
}

// runOnce runs the request unless its answer is stored, and answers when that is kept.
func (k *Keys) runOnce(w http.ResponseWriter, r *http.Request, key auth.ReplayKey, next http.Handler) {
	rec := &answerRecorder{header: http.Header{}, status: http.StatusOK}
	var later wakeLater
	stored, err := k.Store.Once(r.Context(), key, func(ctx context.Context) (auth.Answer, bool) {
		next.ServeHTTP(rec, r.WithContext(context.WithValue(ctx, wakeLaterKey{}, &later)))
		return auth.Answer{Status: rec.status, Location: rec.header.Get("Location"), Body: rec.body.Bytes()},
			rec.status < http.StatusMultipleChoices
	})
	switch {
	case err != nil:
		k.Errors.Write(w, r, err)
	case stored != nil:
		k.Replayed()
		w.Header().Set(replayedHeader, "true")
		answer(w, *stored)
	default:
		k.Wake(later.buckets)
		maps.Copy(w.Header(), rec.header)
		w.WriteHeader(rec.status)
		_, _ = w.Write(rec.body.Bytes())
	}
}

// wakeLaterKey holds the *wakeLater of a request in its context.
type wakeLaterKey struct{}

// wakeLater collects the buckets that a request changed whose transaction is not over.
type wakeLater struct{ buckets buckets.Set }

// Changed tells the processors of changed buckets as soon as they can see the change.
func (k *Keys) Changed(ctx context.Context, set buckets.Set) {
	if later, ok := ctx.Value(wakeLaterKey{}).(*wakeLater); ok {
		later.buckets.Union(set)
		return
	}
	k.Wake(set)
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
}

func (a *answerRecorder) Header() http.Header         { return a.header }
func (a *answerRecorder) WriteHeader(status int)      { a.status = status }
func (a *answerRecorder) Write(p []byte) (int, error) { return a.body.Write(p) }
