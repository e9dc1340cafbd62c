package wire

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Errors writes error answers. No other code turns fault kinds into status codes and bodies. It is safe for concurrent
// use.
type Errors struct {
	log   *zap.Logger
	quiet *repeats
}

// NewErrors returns an Errors that logs the details that clients do not get.
func NewErrors(log *zap.Logger) *Errors { return &Errors{log: log.Named("wire"), quiet: &repeats{}} }

// StatusClientClosed is logged when the client closed the connection before the answer. No client receives it.
const StatusClientClosed = 499

// Status returns the status code for an error.
func Status(err error) int {
	switch fault.KindOf(err) {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	case fault.Mismatch:
		return http.StatusUnprocessableEntity
	case fault.Stale:
		return http.StatusPreconditionFailed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Forbidden, fault.LogInAgain:
		return http.StatusForbidden
	case fault.Throttled:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// Write answers r with err: below /v0/ as Iris does, below /api/ as Oncall does, below /pagerduty as PagerDuty does, elsewhere with RFC 9457, or with a
// page for a browser. Every 503 has Retry-After. An error that is not a fault is logged in full and answered as an
// internal error.
func (e *Errors) Write(w http.ResponseWriter, r *http.Request, err error) {
	var known *fault.Error
	if !errors.As(err, &known) {
		known = &fault.Error{Kind: fault.Internal, Message: "internal error"}
		if ctxErr := r.Context().Err(); ctxErr != nil && errors.Is(ctxErr, context.Canceled) {
			w.WriteHeader(StatusClientClosed)
			return
		}
	}
	status := Status(known)
	e.Observe(w, r, err)
	switch {
	case below(r, "/v0"):
		writeIris(w, status, known)
	case forOncall(r):
		writeOncall(w, status, known)
	case below(r, "/pagerduty"):
		writePagerDuty(w, status, fault.Public(known))
	default:
		writeProblem(w, r, status, known)
	}
}

// Observe logs an error with a status of 500 or more, and sets Retry-After. It writes no answer: it is for edges with
// forms of their own.
func (e *Errors) Observe(w http.ResponseWriter, r *http.Request, err error) {
	status := Status(err)
	if status >= http.StatusInternalServerError {
		e.report(r, status, err)
	}
	var known *fault.Error
	var wait time.Duration
	if errors.As(err, &known) {
		wait = known.RetryAfter
	}
	if wait <= 0 && status == http.StatusServiceUnavailable {
		wait = unavailableFor
	}
	if wait > 0 {
		w.Header().Set("Retry-After", RetryAfter(wait))
	}
}

// unavailableFor is the Retry-After of a 503 whose fault has no time.
const unavailableFor = 5 * time.Second

// forOncall reports whether the path belongs to Oncall's API or log-in.
func forOncall(r *http.Request) bool {
	return below(r, "/api") || r.Method == http.MethodPost && (r.URL.Path == "/login" || r.URL.Path == "/logout")
}

func (e *Errors) report(r *http.Request, status int, err error) {
	level := zap.ErrorLevel
	if status == http.StatusServiceUnavailable {
		level = zap.WarnLevel
		if e.quiet.again(err.Error(), e.log) {
			return
		}
	}
	e.log.Log(level, "request failed", zap.String("method", r.Method), zap.String("path", LogPath(r)),
		zap.Int("status", status), zap.String("request_id", audit.From(r.Context()).Request), zap.Error(err))
}

// RetryAfter formats a duration for the Retry-After header: whole seconds, at least one.
func RetryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}

// NotFound answers an unknown path with 404, in the form that the path's clients expect.
func (e *Errors) NotFound(w http.ResponseWriter, r *http.Request) {
	e.Write(w, r, fault.New(fault.NotFound, "not found"))
}

// MethodNotAllowed answers a known path with an unknown method with 405. The router sets the Allow header.
func (e *Errors) MethodNotAllowed(w http.ResponseWriter, r *http.Request) {
	const status = http.StatusMethodNotAllowed
	switch {
	case below(r, "/v0"):
		Empty(w, status)
	case forOncall(r):
		writeOncall(w, status, &fault.Error{})
	case below(r, "/pagerduty"):
		writePagerDuty(w, status, "method not allowed")
	default:
		writeProblem(w, r, status, fault.New(fault.Invalid, "method not allowed"))
	}
}

func below(r *http.Request, root string) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, root)
	return ok && (rest == "" || rest[0] == '/')
}

type titled struct {
	Title       string  `json:"title"`
	Description *string `json:"description,omitempty"`
}

func shape(f *fault.Error) titled {
	t := titled{Title: f.Message}
	if f.Detail != "" || f.EmptyDetail {
		t.Description = &f.Detail
	}
	return t
}

// writeIris writes title and, if there is one, description. A 404 has no body; a 500 is plain text.
func writeIris(w http.ResponseWriter, status int, f *fault.Error) {
	switch status {
	case http.StatusNotFound:
		Empty(w, status)
	case http.StatusInternalServerError:
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(status)
		_, _ = w.Write([]byte("Internal Server Error"))
	default:
		JSON(w, status, shape(f))
	}
}

// writeOncall writes title and description. The status line replaces a missing title, and the title of every 404, 405
// and 500.
func writeOncall(w http.ResponseWriter, status int, f *fault.Error) {
	t := shape(f)
	line := strconv.Itoa(status) + " " + http.StatusText(status)
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusInternalServerError:
		t = titled{Title: line}
	}
	if t.Title == "" {
		t.Title = line
	}
	JSON(w, status, t)
}

// pagerDutyCodes are the codes of PagerDuty's errors that differ from the status.
var pagerDutyCodes = map[int]int{http.StatusBadRequest: 2001, http.StatusUnauthorized: 2006, http.StatusForbidden: 2010,
	http.StatusNotFound: 2100, http.StatusTooManyRequests: 2020}

// writePagerDuty writes an error as PagerDuty's REST API does.
func writePagerDuty(w http.ResponseWriter, status int, reason string) {
	code, known := pagerDutyCodes[status]
	if !known {
		code = status
	}
	JSON(w, status, map[string]any{"error": map[string]any{"message": http.StatusText(status), "code": code, "errors": []string{reason}}})
}

// problem is an RFC 9457 document.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Field has the name of the wrong field. It is older than Errors and stays for clients.
	Field  string  `json:"field,omitempty"`
	Errors []wrong `json:"errors,omitempty"`
}

// wrong is an error in one part of a request: in a place of the body (a JSON Pointer, RFC 6901, as a URI fragment) or
// in a parameter of the query.
type wrong struct {
	Pointer   string `json:"pointer,omitempty"`
	Parameter string `json:"parameter,omitempty"`
	Detail    string `json:"detail"`
}

// wrongs returns the places that a fault names, as a list.
func wrongs(r *http.Request, f *fault.Error, detail string) (out []wrong) {
	if f.Field == "" && len(f.Others) == 0 {
		return nil
	}
	for _, one := range append([]fault.Field{{Name: f.Field, Message: detail}}, f.Others...) {
		if r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodDelete {
			out = append(out, wrong{Parameter: one.Name, Detail: one.Message})
			continue
		}
		out = append(out, wrong{Pointer: pointer(one.Name), Detail: one.Message})
	}
	return out
}

// pointer turns a field like layers[0].start into #/layers/0/start.
func pointer(field string) string {
	return "#/" + strings.NewReplacer("~", "~0", "/", "~1", ".", "/", "[", "/", "]", "").Replace(field)
}

func writeProblem(w http.ResponseWriter, r *http.Request, status int, f *fault.Error) {
	if acceptsPage(r) {
		writePage(w, status, f)
		return
	}
	p := problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fault.Public(f),
		Field: f.Field}
	if f == operation.ErrUnknown || f == auth.ErrNotLoggedIn { // their texts are for clients of Iris and Oncall
		p.Detail = noCredentials
	}
	if f.Kind == fault.LogInAgain {
		p.Type = "urn:iris:problem:log-in-again"
	}
	p.Errors = wrongs(r, f, p.Detail)
	body, err := json.Marshal(p)
	if err != nil {
		body = []byte(`{"type":"about:blank"}`)
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// noCredentials says how a caller without credentials gets some.
const noCredentials = "The request has no credentials: send Authorization: Bearer TOKEN. People make a token in the " +
	"console under Tokens, or with the command iris login; a team has service tokens. Programs may also sign with the key " +
	"of an application."

// errorPage is the error page for browsers. It loads no other file, because the server may be failing.
var errorPage = template.Must(template.New("error").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}} · Iris</title><style>{{.Style}}</style></head>
<body><main><p class="brand">Iris</p><h1>{{.Title}}</h1><p>{{.Text}}</p><p><a href="/incidents">To the incidents</a></p></main></body></html>
`))

// errorStyle is a short form of the pages' style. The content security policy of errorPage allows only this style, by
// its hash.
const errorStyle = `:root{color-scheme:light dark}body{margin:0;font:16px/1.5 system-ui,sans-serif;background:Canvas;color:CanvasText}` +
	`main{max-width:34rem;margin:12vh auto 0;padding:0 1.25rem;overflow-wrap:anywhere}.brand{font-weight:700;color:light-dark(#3257c4,#8fb0ff);margin:0}` +
	`h1{font-size:1.6rem;margin:.5rem 0}a{color:LinkText}`

var errorPolicy = func() string {
	sum := sha256.Sum256([]byte(errorStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; frame-ancestors 'none'; base-uri 'none'"
}()

func writePage(w http.ResponseWriter, status int, f *fault.Error) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", errorPolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = errorPage.Execute(w, struct {
		Title, Text string
		Style       template.CSS
	}{http.StatusText(status), fault.Public(f), errorStyle})
}

// Empty answers with a status and an empty body with the Content-Type of JSON, as Iris does.
func Empty(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
}

// SecurityHeaders adds the security headers of the predecessors to every answer, including 404 and 405.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Frame-Options", "SAMEORIGIN")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-XSS-Protection", "1; mode=block")
		next.ServeHTTP(w, r)
	})
}

// StrictTransport makes browsers use only TLS for a year, if the public URL is https. With http it does nothing,
// because browsers could then no longer reach the server.
func StrictTransport(publicURL string) func(http.Handler) http.Handler {
	secure := strings.HasPrefix(strings.ToLower(publicURL), "https://")
	return func(next http.Handler) http.Handler {
		if !secure {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Strict-Transport-Security", "max-age=31536000; includeSubDomains")
			next.ServeHTTP(w, r)
		})
	}
}
