package wire

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

const (
	// smallBody is the size up to which bodies share the part for small ones, so that an alert never waits for large
	// bodies of others.
	smallBody = 256 << 10
	// unknownBody is what a body of unknown length takes when it is larger than a small one: the largest body that a
	// route takes.
	unknownBody = 16 << 20
	// bodyWait is how long a body waits for its part.
	bodyWait = 5 * time.Second
	// bodyRetry is when the sender of a refused body should try again.
	bodyRetry = 5 * time.Second
)

// Bodies limits the bytes of request bodies and mails that are in work at a time, from the first read until the answer.
// Decoding takes many times the size of a body, so that a few large ones would use up the memory. Small and large
// bodies have a part of the limit's size each. A body waits for room, and is refused after some seconds with an
// Unavailable fault. It is safe for concurrent use.
type Bodies struct {
	small, large *semaphore.Weighted
	limit        int64
	wait         time.Duration
	refused      func(size string)
}

// The sizes of bodies, for the counter of refusals.
const (
	SmallBody = "small"
	LargeBody = "large"
)

// NewBodies returns Bodies with a limit in bytes. refused is called for each refusal.
func NewBodies(limit int64, refused func(size string)) *Bodies {
	return &Bodies{small: semaphore.NewWeighted(limit), large: semaphore.NewWeighted(limit), limit: limit,
		wait: bodyWait, refused: refused}
}

type roomKey struct{}

// Middleware counts the bodies of requests.
func (b *Bodies) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		room := &room{of: b, declared: r.ContentLength}
		defer room.leave()
		r = r.WithContext(context.WithValue(r.Context(), roomKey{}, room))
		ctx := r.Context()
		r.Body = &roomyBody{ReadCloser: r.Body,
			grow: func(read int64) error { return room.grow(ctx, room.expected(read)) }}
		next.ServeHTTP(w, r)
	})
}

// Grow takes room for a body that became larger, because it was unpacked to so many bytes. It returns an Unavailable
// fault if there is none.
func Grow(ctx context.Context, size int) error {
	if room, counted := ctx.Value(roomKey{}).(*room); counted {
		return room.grow(ctx, int64(size))
	}
	return nil
}

// Take takes room for a body of so many bytes that came without a request, such as a mail. The caller calls leave after
// its work. It returns an Unavailable fault if there is no room.
func (b *Bodies) Take(ctx context.Context, size int) (leave func(), err error) {
	room := &room{of: b}
	return room.leave, room.grow(ctx, int64(size))
}

// room is what one request takes.
type room struct {
	of       *Bodies
	declared int64 // -1 = unknown

	mu    sync.Mutex
	part  *semaphore.Weighted // nil = nothing is taken
	taken int64
}

// expected returns the size of the body of which so many bytes are about to be read.
func (r *room) expected(read int64) int64 {
	switch {
	case r.declared >= 0:
		return max(r.declared, 1)
	case read <= smallBody:
		return smallBody
	}
	return unknownBody
}

// grow takes room for a body of so many bytes, unless it has more.
func (r *room) grow(ctx context.Context, size int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	weight := min(size, r.of.limit)
	if r.taken >= weight {
		return nil
	}
	part, name := r.of.small, SmallBody
	if size > smallBody {
		part, name = r.of.large, LargeBody
	}
	r.release() // before it waits, so that no two bodies wait for each other
	ctx, cancel := context.WithTimeout(ctx, r.of.wait)
	defer cancel()
	if err := part.Acquire(ctx, weight); err != nil {
		r.of.refused(name)
		return &fault.Error{Kind: fault.Unavailable, RetryAfter: bodyRetry, Err: err,
			Message: "Too many large requests are in work; send it again after some seconds, or send less at a time"}
	}
	r.part, r.taken = part, weight
	return nil
}

func (r *room) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release()
}

func (r *room) release() {
	if r.part != nil {
		r.part.Release(r.taken)
		r.part, r.taken = nil, 0
	}
}

// roomyBody takes room before it reads. A body that was refused stays so.
type roomyBody struct {
	io.ReadCloser
	grow    func(read int64) error
	read    int64
	refusal error
}

func (b *roomyBody) Read(p []byte) (int, error) {
	if b.refusal == nil {
		b.refusal = b.grow(b.read + 1)
	}
	if b.refusal != nil {
		return 0, b.refusal
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err
}
