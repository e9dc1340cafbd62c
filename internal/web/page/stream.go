package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
)

const (
	// lookEvery is the time between two looks at the version while streams are open. A stream sends at most one event
	// in this time.
	lookEvery = time.Second
	// anywayEvery is how often a stream looks at its page although the version is the same: the session may have ended,
	// and a page may show more than the version covers.
	anywayEvery = 5 * time.Second
	// beatEvery is how often a stream sends a comment, so that proxies keep the connection.
	beatEvery = 15 * time.Second
	// writeWithin bounds the time to send an event. A client that does not read is cut off.
	writeWithin = 10 * time.Second
	// streamsEach is how many streams a person may have. Browsers close that of a hidden tab.
	streamsEach = 12
)

// streams are the open streams of a process.
type streams struct {
	stopped chan struct{} // closed when the process stops
	mu      *sync.Mutex
	open    map[chan struct{}]string // wake-ups of each stream, and whose it is
}

func newStreams() streams {
	return streams{stopped: make(chan struct{}), mu: &sync.Mutex{}, open: map[chan struct{}]string{}}
}

// join adds a stream of a person, which is woken through the channel; false if the person has too many.
func (s streams) join(person string) (woken chan struct{}, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, whose := range s.open {
		if whose == person {
			n++
		}
	}
	if n >= streamsEach {
		return nil, false
	}
	woken = make(chan struct{}, 1)
	s.open[woken] = person
	return woken, true
}

func (s streams) leave(woken chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, woken)
}

func (s streams) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open) == 0
}

func (s streams) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for woken := range s.open {
		select {
		case woken <- struct{}{}:
		default: // it has not looked yet
		}
	}
}

// Run wakes the streams when the version changes, until ctx ends. Then all streams end. The version is read once for
// all streams, and not at all without one. Call Run once.
func (p *Pages) Run(ctx context.Context) error {
	defer close(p.streams.stopped)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last string
	again := false // the change may not have been committed when the version was read: look once more
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if p.Version == nil || p.streams.idle() {
			continue
		}
		limited, cancel := context.WithTimeout(ctx, requestTimeout)
		version, err := p.Version(limited)
		cancel()
		if err != nil {
			continue // each stream finds out by itself, and tells its browser
		}
		changed := version != last
		if changed || again {
			p.streams.wake()
		}
		again, last = changed, version
	}
}

// Stream is a middleware that serves the live part of each page as a stream of events too, for requests that accept
// text/event-stream. It must be outside of the middleware that loads sessions. The parameter seen is the hash of the
// part that the browser shows.
//
// An event "part" changes the part, and an event "login" says that the session has ended, with the address of the
// log-in. The stream ends when the page cannot be shown; the browser then requests the page, which says why. A stream
// and a refresh do not extend the session: it ends after the idle time although a page is open.
func (p *Pages) Stream(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		streamed := r.Header.Get("Accept") == "text/event-stream"
		if r.Method == http.MethodGet && (streamed || r.Header.Get("X-Seen") != "") {
			r = r.WithContext(auth.WithBackground(r.Context()))
		}
		if r.Method != http.MethodGet || !streamed {
			next.ServeHTTP(rw, r)
			return
		}
		query := r.URL.Query()
		known := query.Get("seen")
		query.Del("seen")
		r.URL.RawQuery = query.Encode()
		p.stream(rw, r, next, known)
	})
}

func (p *Pages) stream(rw http.ResponseWriter, r *http.Request, page http.Handler, known string) {
	out := events{rw: rw, to: http.NewResponseController(rw)}
	seen, answer := view(r, page, "")
	if seen.live == nil {
		out.end(answer)
		return
	}
	woken, ok := p.streams.join(seen.person)
	if !ok {
		http.Error(rw, "You have too many open pages that refresh themselves.", http.StatusTooManyRequests)
		return
	}
	defer p.streams.leave(woken)
	if out.begin() != nil {
		return
	}
	shown := split(string(seen.live.Body))
	if seen.live.Seen != known && out.send("part", shown.since(part{}, seen.live.Seen)) != nil {
		return
	}
	known = seen.live.Seen
	beat, anyway := time.NewTicker(beatEvery), time.NewTicker(anywayEvery)
	defer beat.Stop()
	defer anyway.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-p.streams.stopped:
			return
		case <-beat.C:
			if out.write(": still here\n\n") != nil {
				return
			}
			continue
		case <-woken:
		case <-anyway.C:
			seen.version = ""
		}
		if seen, answer = view(r, page, seen.version); seen.unchanged {
			continue
		} else if seen.live == nil {
			out.end(answer)
			return
		}
		anyway.Reset(anywayEvery)
		if seen.live.Seen == known {
			continue
		}
		now := split(string(seen.live.Body))
		if out.send("part", now.since(shown, seen.live.Seen)) != nil {
			return
		}
		shown, known = now, seen.live.Seen
	}
}

// events writes a stream of events.
type events struct {
	rw    http.ResponseWriter
	to    *http.ResponseController
	begun bool
}

// begin sends the header. The timeouts of other requests do not apply to a stream.
func (e *events) begin() error {
	e.begun = true
	if err := e.to.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	h := e.rw.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	return e.write(": begins\n\n")
}

func (e *events) write(text string) error {
	if err := e.to.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	if _, err := e.rw.Write([]byte(text)); err != nil {
		return err
	}
	return e.to.Flush()
}

func (e *events) send(event string, data any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b) // one line
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(data); err != nil {
		return err
	}
	return e.write(fmt.Sprintf("event: %s\ndata: %s\n", event, b.String()))
}

// end ends a stream whose page could not be shown. If the session has ended, the browser learns where the log-in is.
func (e *events) end(why *answer) {
	login := why.header.Get("HX-Redirect")
	if login == "" && !e.begun {
		status := http.StatusNotAcceptable // the page has no live part
		if why.status >= http.StatusBadRequest {
			status = why.status
		}
		e.rw.WriteHeader(status)
		return
	}
	if login != "" && (e.begun || e.begin() == nil) {
		_ = e.send("login", login)
	}
}
