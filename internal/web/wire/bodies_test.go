package wire

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// held is a handler that reads bodies, says so, and answers when it may.
type held struct {
	bodies        *Bodies
	began, finish chan struct{}
	refused       []string
}

func newHeld(limit int64) *held {
	h := &held{began: make(chan struct{}), finish: make(chan struct{})}
	h.bodies = NewBodies(limit, func(size string) { h.refused = append(h.refused, size) })
	h.bodies.wait = time.Millisecond
	return h
}

// read reads a body, and returns the error. unknown leaves out its length.
func (h *held) read(body []byte, unknown bool, then func(r *http.Request)) (err error) {
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	if unknown {
		r.ContentLength = -1
	}
	h.bodies.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got []byte
		if got, r, err = Body(w, r, 16<<20); err == nil && !bytes.Equal(got, body) {
			err = io.ErrUnexpectedEOF
		}
		if then != nil {
			then(r)
		}
	})).ServeHTTP(httptest.NewRecorder(), r)
	return err
}

func (h *held) hold(*http.Request) {
	h.began <- struct{}{}
	<-h.finish
}

func TestLargeBodiesWaitAndSmallOnesDoNot(t *testing.T) {
	t.Parallel()
	for _, unknown := range []bool{false, true} {
		h := newHeld(20 << 20)
		large, small := make([]byte, 15<<20), []byte(`{"title":"disk full"}`)
		done := make(chan error)
		go func() { done <- h.read(large, unknown, h.hold) }()
		<-h.began
		err := h.read(large, unknown, nil)
		require.True(t, fault.Is(err, fault.Unavailable), err)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, 5*time.Second, f.RetryAfter)
		require.Equal(t, []string{LargeBody}, h.refused)
		require.NoError(t, h.read(small, unknown, nil), "a small body has a part of its own")
		close(h.finish)
		require.NoError(t, <-done)
		require.NoError(t, h.read(large, unknown, nil), "the part is given back")
	}
}

func TestAnUnpackedBodyTakesRoom(t *testing.T) {
	t.Parallel()
	h := newHeld(20 << 20)
	done := make(chan error)
	go func() { done <- h.read(make([]byte, 15<<20), false, h.hold) }()
	<-h.began
	var grown error
	require.NoError(t, h.read(make([]byte, 1000), false, func(r *http.Request) { grown = Grow(r.Context(), 15<<20) }))
	require.True(t, fault.Is(grown, fault.Unavailable))
	close(h.finish)
	require.NoError(t, <-done)
	require.NoError(t, h.read(make([]byte, 1000), false, func(r *http.Request) { grown = Grow(r.Context(), 15<<20) }))
	require.NoError(t, grown)
	require.NoError(t, Grow(t.Context(), 1<<30), "without a limit there is room")
}

func TestMailsAndRequestsShareTheRoom(t *testing.T) {
	t.Parallel()
	h := newHeld(20 << 20)
	leave, err := h.bodies.Take(t.Context(), 15<<20)
	require.NoError(t, err)
	err = h.read(make([]byte, 15<<20), false, nil)
	require.True(t, fault.Is(err, fault.Unavailable), err)
	_, err = h.bodies.Take(t.Context(), 15<<20)
	require.True(t, fault.Is(err, fault.Unavailable), err)
	small, err := h.bodies.Take(t.Context(), 1000)
	require.NoError(t, err, "a small mail has a part of its own")
	small()
	leave()
	require.NoError(t, h.read(make([]byte, 15<<20), false, nil), "the part is given back")
}

func TestABodyLargerThanTheLimitIsReadAlone(t *testing.T) {
	t.Parallel()
	h := newHeld(1 << 20)
	require.NoError(t, h.read(make([]byte, 2<<20), false, nil))
	require.NoError(t, h.read(make([]byte, 2<<20), true, nil))
}
