// Package replay makes requests with an Idempotency-Key act once. A repeated request gets the stored answer. api and
// irisapi call it. It knows no routes.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/wire"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 255
	// replayedHeader marks an answer that was stored earlier.
	replayedHeader = "Idempotent-Replayed"
)

// Unit is the transaction of one request: all changes of the request, and its answer.
type Unit interface {
	// Context returns a context in which the stores work in the transaction. One goroutine at a time may use it.
	Context(ctx context.Context) context.Context
	// Commit stores the answer and commits.
	Commit(ctx context.Context, a operation.Answer) error
	// Close rolls back an uncommitted transaction. It must be called once.
	Close(ctx context.Context)
}

// Store begins units.
type Store[U Unit] interface {
	// Begin returns the stored answer of a request, or a unit for it if there is none. While another request with the
	// same key runs, Begin waits.
	Begin(ctx context.Context, k operation.ReplayKey) (*operation.Answer, U, error)
}

// Wake wakes the processors of changed buckets after the commit of the work of ctx. It never blocks.
type Wake = func(context.Context, buckets.Set)

// Keys runs each request with an Idempotency-Key once. It is safe for concurrent use.
type Keys[U Unit] struct {
	store    Store[U]
	errors   *wire.Errors
	replayed func()
}

// New returns a Keys. replayed is called when a stored answer is sent.
func New[U Unit](s Store[U], e *wire.Errors, replayed func()) *Keys[U] {
	return &Keys[U]{s, e, replayed}
}

// Once makes a request with an Idempotency-Key act once for an application, person and path. A repeated request gets
// the stored answer. Only successes are stored: after a failure the request can be sent again with the same key.
func (k *Keys[U]) Once(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(idempotencyHeader)
		actor := wire.Actor(r.Context())
		if name == "" || actor.ApplicationID == 0 || actor.MayWrite() != nil {
			next.ServeHTTP(w, r) // there is no key, or next refuses the caller
			return
		}
		key, r, err := replayKey(w, r, name, actor)
		if err != nil {
			k.errors.Write(w, r, err)
			return
		}
		k.runOnce(w, r, key, next)
	})
}

func replayKey(w http.ResponseWriter, r *http.Request, name string, actor auth.Actor) (operation.ReplayKey, *http.Request, error) {
	if len(name) > maxIdempotencyKey || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return operation.ReplayKey{}, r, fault.Invalidf(idempotencyHeader,
			"Idempotency-Key must be 1 to %d visible ASCII characters without spaces", maxIdempotencyKey)
	}
	body, r, err := wire.Body(w, r, wire.MaxBody)
	if err != nil {
		return operation.ReplayKey{}, r, err
	}
	hash := sha256.New()
	hash.Write([]byte(r.URL.RawQuery))
	hash.Write([]byte{0})
	hash.Write(body)
	return operation.ReplayKey{ApplicationID: actor.ApplicationID, Key: name, BodyHash: hash.Sum(nil),
		Route: replayRoute(r, actor)}, r, nil
}

// maxReplayRoute is the longest scope that is stored without a hash, because the length of an index entry is limited.
const maxReplayRoute = 200

// replayRoute returns the scope of a key: method, path, and person or service token. A scope that is long or cannot be
// stored is hashed.
func replayRoute(r *http.Request, actor auth.Actor) string {
	route := r.Method + " " + strings.TrimSuffix(r.URL.Path, "/") + " " + strings.ToLower(actor.Username)
	if actor.Service != "" {
		route += fmt.Sprintf("service token %d", actor.Token)
	}
	if len(route) <= maxReplayRoute && wire.Storable(route) {
		return route
	}
	sum := sha256.Sum256([]byte(route))
	return r.Method + " sha256:" + hex.EncodeToString(sum[:])
}

// maxUnit is the maximum time of a unit, which holds a database connection.
const maxUnit = 15 * time.Second

// runOnce sends the stored answer, or runs the request in a unit and answers after the commit.
func (k *Keys[U]) runOnce(w http.ResponseWriter, r *http.Request, key operation.ReplayKey, next http.Handler) {
	ctx, cancel := context.WithTimeout(r.Context(), maxUnit)
	defer cancel()
	stored, unit, err := k.store.Begin(ctx, key)
	if err != nil {
		k.errors.Write(w, r, err)
		return
	}
	if stored != nil {
		k.replayed()
		w.Header().Set(replayedHeader, "true")
		answer(w, *stored)
		return
	}
	defer unit.Close(ctx)
	rec := &answerRecorder{header: http.Header{}, status: http.StatusOK}
	next.ServeHTTP(rec, r.WithContext(unit.Context(ctx)))
	if rec.status < http.StatusMultipleChoices {
		err := unit.Commit(ctx, operation.Answer{Status: rec.status, Location: rec.header.Get("Location"),
			Body: rec.body.Bytes()})
		if err != nil {
			k.errors.Write(w, r, err)
			return
		}
	}
	maps.Copy(w.Header(), rec.header)
	w.WriteHeader(rec.status)
	_, _ = w.Write(rec.body.Bytes())
}

func answer(w http.ResponseWriter, s operation.Answer) {
	if s.Location != "" {
		w.Header().Set("Location", s.Location)
	}
	wire.Raw(w, s.Status, s.Body)
}

// answerRecorder keeps an answer in memory until it is stored. Answers of POST routes are small.
type answerRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answerRecorder) Header() http.Header         { return a.header }
func (a *answerRecorder) WriteHeader(status int)      { a.status = status }
func (a *answerRecorder) Write(p []byte) (int, error) { return a.body.Write(p) }
