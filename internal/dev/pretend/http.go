package pretend

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// refusal is why a request is refused, as the vendor says it.
type refusal struct {
	status     int
	code       string
	text       string
	retryAfter int
}

// dialect is how a vendor over HTTP reads requests and writes answers.
type dialect interface {
	// read checks the request, credentials first, and describes it.
	read(r *http.Request, body []byte) (Entry, *refusal)
	// answer writes the answer to an accepted e.
	answer(w http.ResponseWriter, e Entry)
	// refuse writes a refusal.
	refuse(w http.ResponseWriter, r refusal)
}

// web is a pretend vendor over HTTP.
type web struct {
	*conduct
	name      string
	addr      string // "" = a free port on 127.0.0.1
	dialect   dialect
	lookups   string        // begins the paths of requests that send no message; "" = every request is a message
	rejection refusal       // the default of Reject
	accepted  func(e Entry) // called after a message was accepted and stored; nil = nothing happens then
	ln        net.Listener
	server    *http.Server
	wg        sync.WaitGroup
}

const maxRequest = 2 << 20

// Start listens.
func (s *web) Start() error {
	ln, err := net.Listen("tcp", cmp.Or(s.addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	s.ln = &pickyListener{Listener: ln, conduct: s.conduct}
	s.server = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	s.wg.Go(func() { _ = s.server.Serve(s.ln) })
	return nil
}

// Close closes the listener and all connections. It waits for requests and callbacks that still run.
func (s *web) Close() {
	s.end()
	if s.server != nil {
		_ = s.server.Close()
	}
	s.wg.Wait()
}

// URL is the base address of the server.
func (s *web) URL() string { return "http://" + s.ln.Addr().String() }

// pickyListener closes new connections while RefuseConnections applies.
type pickyListener struct {
	net.Listener
	conduct *conduct
	greet   string // said before closing
}

func (l *pickyListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		b := l.conduct.next("", func(b Behaviour) bool { return b.Do == RefuseConnections })
		if b.Do != RefuseConnections {
			return c, nil
		}
		_, _ = io.WriteString(c, l.greet)
		reset(c, l.greet == "")
	}
}

// reset closes c. With hard, the other side sees a reset and not an orderly end.
func reset(c net.Conn, hard bool) {
	if t, ok := c.(*net.TCPConn); ok && hard {
		_ = t.SetLinger(0)
	}
	_ = c.Close()
}

func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	question := s.lookups != "" && strings.HasPrefix(r.URL.Path, s.lookups)
	if b := s.next("", func(b Behaviour) bool { return b.Do == BreakBefore && b.To == "" && !question }); b.Do == BreakBefore {
		s.log.add(Entry{Vendor: s.name, At: at, AnsweredAt: time.Now(), Reason: string(BreakBefore)})
		s.breakOff(w, true)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
		}
		return
	}
	e, refused := s.dialect.read(r, body)
	e.Vendor, e.At = s.name, at
	if refused == nil && !question {
		if wait, ok := s.room(time.Now()); !ok {
			refused = &refusal{status: http.StatusTooManyRequests, text: "too many requests",
				retryAfter: retryAfter(wait)}
		}
	}
	if refused != nil {
		s.refused(w, e, *refused)
		return
	}
	var b Behaviour
	if question {
		b = s.next("lookup", func(b Behaviour) bool { return b.To == "lookup" })
	} else {
		b = s.next(e.To, nil)
	}
	s.behaves(w, r, e, b)
}

func (s *web) behaves(w http.ResponseWriter, r *http.Request, e Entry, b Behaviour) {
	if !s.pause(r.Context(), b) {
		return
	}
	if b.Do != Fine {
		e.Reason = string(b.Do)
	}
	switch b.Do {
	case BreakBefore, Hang:
		e.AnsweredAt = time.Now()
		s.log.add(e)
		if b.Do == Hang {
			s.hang(r.Context())
		}
		s.breakOff(w, b.Do == BreakBefore)
	case HangAfter, BreakAfter:
		s.accept(&e, 0)
		if b.Do == HangAfter {
			s.hang(r.Context())
		}
		s.breakOff(w, false)
	case Garbage:
		s.accept(&e, http.StatusOK)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "\x00\xff<html>{]")
	case Fail:
		s.refused(w, e, refusal{status: cmp.Or(b.Status, http.StatusServiceUnavailable),
			text: cmp.Or(b.Text, "out of order"), retryAfter: b.RetryAfter})
	case Throttle:
		s.refused(w, e, refusal{status: http.StatusTooManyRequests, text: cmp.Or(b.Text, "too many requests"),
			retryAfter: b.RetryAfter})
	case Reject:
		d := s.rejection
		s.refused(w, e, refusal{status: cmp.Or(b.Status, d.status), code: cmp.Or(b.Code, d.code),
			text: cmp.Or(b.Text, d.text)})
	case Redirect:
		e.Status, e.Answered, e.AnsweredAt = http.StatusTemporaryRedirect, true, time.Now()
		s.log.add(e)
		http.Redirect(w, r, b.Location, http.StatusTemporaryRedirect)
	default:
		e.Answered = true
		s.accept(&e, http.StatusOK)
		s.dialect.answer(w, e)
	}
}

func (s *web) accept(e *Entry, status int) {
	e.Accepted, e.Status, e.AnsweredAt = e.Mode != "lookup", status, time.Now()
	e.ID = s.log.add(*e)
	if e.Accepted && s.accepted != nil {
		s.accepted(*e)
	}
}

func (s *web) refused(w http.ResponseWriter, e Entry, r refusal) {
	e.Status, e.Reason, e.Answered, e.AnsweredAt = r.status, r.text, true, time.Now()
	if r.code != "" {
		e.Reason = r.code + ": " + r.text
	}
	s.log.add(e)
	if r.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
	s.dialect.refuse(w, r)
}

// breakOff closes the connection of a request.
func (s *web) breakOff(w http.ResponseWriter, hard bool) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	reset(c, hard)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// post sends a request as a vendor's callback. It returns the answer's status and text.
func (s *web) post(ctx context.Context, req *http.Request) (int, string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	resp, err := callbacks.Do(req.WithContext(ctx))
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, string(text), err
}

// callbacks follows no redirects, as the vendors do not for signed requests, and uses no proxy.
var callbacks = &http.Client{
	Transport:     &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 5 * time.Second},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}
