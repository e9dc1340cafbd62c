// Package replay makes requests with an Idempotency-Key act once. A repeated request gets the stored answer. api and irisapi call
// it. It knows no routes.
package replay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

const (
	idempotencyHeader = "Idempotency-Key"
	maxIdempotencyKey = 255
	// replayedHeader marks an answer that was stored earlier.
	replayedHeader = "Idempotent-Replayed"
)

// Transaction is the transaction of one request. It has all changes of the request, and its answer.
type Transaction interface {
	// Commit stores the answer and commits.
	Commit(ctx context.Context, a auth.Answer) error
	// Close rolls back an uncommitted transaction. It must be called once.
	Close(ctx context.Context)
}

// Store begins transactions.
type Store[T Transaction] interface {
	// Begin returns the stored answer of a request, or a transaction for it if there is none. While another request with the same key
	// runs, Begin waits.
	Begin(ctx context.Context, k auth.ReplayKey) (*auth.Answer, T, error)
}

// Unit is the unit of work of one request: a transaction, and the parts of an edge that work in this transaction. Only one
// goroutine at a time may use the parts.
type Unit[P any] struct {
	Transaction
	Parts P
}

// Begin returns the stored answer of a request, or a unit of work for it if there is none.
type Begin[P any] func(ctx context.Context, k auth.ReplayKey) (*auth.Answer, *Unit[P], error)

// Units returns the Begin of an edge. parts returns the parts of the edge that work in a transaction.
func Units[T Transaction, P any](s Store[T], parts func(T) P) Begin[P] {
	return func(ctx context.Context, k auth.ReplayKey) (*auth.Answer, *Unit[P], error) {
		stored, tx, err := s.Begin(ctx, k)
		if err != nil || stored != nil {
			return stored, nil, err
		}
		return nil, &Unit[P]{Transaction: tx, Parts: parts(tx)}, nil
	}
}

// Keys runs each request with an Idempotency-Key once. All parts are required. It is safe for concurrent use.
type Keys[P any] struct {
	Begin  Begin[P]
	Errors *wire.Errors
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(buckets.Set)
	// Replayed is called when a stored answer is sent.
	Replayed func()
}

// Wake records the buckets that a request changed. Their processors are notified after the commit.
type Wake = func(buckets.Set)

// Over returns the handler of a request that works on the parts of a unit of work. The handler must call wake with the buckets that
// it changed.
type Over[P any] func(parts P, wake Wake) http.Handler

// Once makes a request with an Idempotency-Key act once for an application, person and path. A repeated request gets the stored
// answer. Only successes are stored: after a failure the request can be sent again with the same key. next serves requests without
// a key.
func (k *Keys[P]) Once(next http.Handler, over Over[P]) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := r.Header.Get(idempotencyHeader)
		actor := wire.Actor(r.Context())
		if name == "" || actor.ApplicationID == 0 || actor.MayWrite() != nil {
			next.ServeHTTP(w, r) // there is no key, or next refuses the caller
			return
		}
		key, r, err := replayKey(w, r, name, actor)
		if err != nil {
			k.Errors.Write(w, r, err)
			return
		}
		k.runOnce(w, r, key, over)
	})
}

// Table returns the function Once of a routing.Mount. table returns the routes of the edge, which work on the parts of a unit.
func (k *Keys[P]) Table(table func(parts P, wake Wake) []routing.Route) func(routing.Route, routing.Serve) http.Handler {
	return func(rt routing.Route, serve routing.Serve) http.Handler {
		return k.Once(serve(rt), func(parts P, wake Wake) http.Handler {
			routes := table(parts, wake)
			return serve(routes[slices.IndexFunc(routes, func(other routing.Route) bool {
				return other.Method == rt.Method && other.Path == rt.Path
			})])
		})
	}
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

// maxReplayRoute is the longest scope that is stored without a hash, because the length of an index entry is limited.
const maxReplayRoute = 200

// replayRoute returns the scope of a key: method, path, and person or service token. A scope that is long or cannot be stored is hashed.
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

// maxUnit is the maximum time of a unit of work, which holds a database connection.
const maxUnit = 15 * time.Second

// runOnce sends the stored answer, or runs the request in a unit of work and answers after the commit.
func (k *Keys[P]) runOnce(w http.ResponseWriter, r *http.Request, key auth.ReplayKey, over Over[P]) {
	ctx, cancel := context.WithTimeout(r.Context(), maxUnit)
	defer cancel()
	stored, unit, err := k.Begin(ctx, key)
	if err != nil {
		k.Errors.Write(w, r, err)
		return
	}
	if stored != nil {
		k.Replayed()
		w.Header().Set(replayedHeader, "true")
		answer(w, *stored)
		return
	}
	defer unit.Close(ctx)
	rec := &answerRecorder{header: http.Header{}, status: http.StatusOK}
	var changed buckets.Set
	over(unit.Parts, func(set buckets.Set) { changed.Union(set) }).ServeHTTP(rec, r.WithContext(ctx))
	if rec.status < http.StatusMultipleChoices {
		err := unit.Commit(ctx, auth.Answer{Status: rec.status, Location: rec.header.Get("Location"), Body: rec.body.Bytes()})
		if err != nil {
			k.Errors.Write(w, r, err)
			return
		}
		k.Wake(changed)
	}
	maps.Copy(w.Header(), rec.header)
	w.WriteHeader(rec.status)
	_, _ = w.Write(rec.body.Bytes())
}

func answer(w http.ResponseWriter, s auth.Answer) {
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
