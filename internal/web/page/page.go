package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Frame is the data of every page. Handlers embed it in the data of their page.
type Frame struct {
	Title      string
	Section    string // the marked entry of the navigation
	User       string // name of the reader; "" = nobody is logged in
	ReadOnly   bool   // the reader may change nothing: no buttons are shown
	Admin      bool   // the reader is an administrator
	Flash      string // a message that is shown once
	Mailbox    bool   // the navigation shows the mailbox of `iris dev`
	Zone       string // time zone that the reader chose; "" = none
	Clock      string // "12" or "24"; "" = 24
	Theme      string // "light" or "dark"; "" = that of the system
	Address    string // of this page, to which a form in the frame returns
	OpenCounts OpenCounts
	Refresh    string // address that the browser goes on to; "" = none
	Scripts    *Scripts
	// Modules are scripts in static/console that the page loads, such as "keys.js".
	Modules []string
	Charts  bool // the page draws charts
}

// OpenCounts are the open incidents that the navigation shows; zero = none are shown.
type OpenCounts struct{ All, Mine int }

// MaxOpen is how far open incidents are counted.
const MaxOpen = 1000

// AllText returns the number of open incidents, or that there are more than are counted.
func (c OpenCounts) AllText() string {
	if c.All >= MaxOpen {
		return strconv.Itoa(MaxOpen-1) + "+"
	}
	return strconv.Itoa(c.All)
}

// Scripts are the scripts of a calendar page, and the CSRF token for their requests.
type Scripts struct {
	Main  string // file in static/oncall
	Grid  bool   // the page draws a calendar
	Token string
}

// Pages renders pages. It is safe for concurrent use.
type Pages struct {
	// Assets serves the static files below /static/.
	Assets   http.Handler
	Sessions *scs.SessionManager
	// LogInAgain asks the reader for the password, or a log-in at a provider, and then sends the form of the request
	// again.
	LogInAgain func(rw http.ResponseWriter, r *http.Request)
	// Version returns a text that changes when live parts may have changed; nil = nobody knows. See Run.
	Version func(ctx context.Context) (string, error)
	// Open counts the open incidents, and those of a person; nil = they are not shown.
	Open    func(ctx context.Context, id users.ID) (OpenCounts, error)
	streams streams
	errors  *wire.Errors
	mailbox bool
	log     *zap.Logger

	templates *template.Template
	names     map[string]string // static file -> address
}

// New reads the folders "templates" and "static" of files. mailbox adds the mailbox of `iris dev` to the navigation.
func New(files fs.FS, sessions *scs.SessionManager, mailbox bool, log *zap.Logger) (*Pages, error) {
	p := &Pages{Sessions: sessions, errors: wire.NewErrors(log), mailbox: mailbox, log: log,
		streams: newStreams()}
	if err := p.readAssets(files); err != nil {
		return nil, err
	}
	var err error
	p.templates, err = template.New("").Funcs(p.functions()).ParseFS(files, "templates/*.html")
	return p, err
}

// functions are what templates can call.
func (p *Pages) functions() template.FuncMap {
	return template.FuncMap{
		"asset": p.Asset,
		"utc":   func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") },
		"clock": func(t time.Time) string { return t.UTC().Format("2 Jan 15:04:05") },
		"short": func(t time.Time) string { return t.UTC().Format("Mon 2 Jan 15:04") },
		"path":  func(name any) string { return url.PathEscape(fmt.Sprint(name)) },
		"day":   func(t time.Time) string { return t.UTC().Format("2 Jan 2006") },
		"ago":   func(t time.Time) string { return humanize.Age(time.Since(t)) },
		"until": until,
		// person and initials are for avatars.
		"person": PersonClass, "initials": Initials,
		"dict": dict,
		"list": func(items ...any) []any { return items },
		// faults and worded are for the components of forms.
		"faults": faults, "worded": worded,
	}
}

// until says how long it is until t.
func until(t time.Time) string {
	if left := time.Until(t); left > 0 {
		return "in " + humanize.Age(left)
	}
	return "now"
}

// dict returns the arguments of a component: names and values in turns.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, errors.New("dict needs pairs of a name and a value")
	}
	d := make(map[string]any, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		d[name] = pairs[i+1]
	}
	return d, nil
}

// requestTimeout limits the database time of one page.
const requestTimeout = 5 * time.Second

// Get mounts a page for GET and HEAD, with and without a trailing slash. The context of its requests ends after 5
// seconds.
func Get(r chi.Router, path string, h http.HandlerFunc) {
	limited := func(rw http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
		defer cancel()
		h(rw, r.WithContext(ctx))
	}
	for _, pattern := range slices.Compact([]string{path, strings.TrimSuffix(path, "/") + "/"}) {
		r.Get(pattern, limited)
		r.Head(pattern, limited)
	}
}

// Mailbox reports whether there is the mailbox of `iris dev`.
func (p *Pages) Mailbox() bool { return p.mailbox }

// Frame returns the frame of a page for the reader. It consumes the session's flash message.
func (p *Pages) Frame(r *http.Request, title, section string) Frame {
	u := Reader(r)
	return Frame{Title: title, Section: section, User: u.Name, ReadOnly: u.ReadOnly, Admin: u.Admin, Zone: u.TimeZone,
		Clock: Clock(r), Theme: Theme(r), Address: address(r), OpenCounts: p.openCounts(r, u), Mailbox: p.mailbox,
		Flash: p.Sessions.PopString(r.Context(), "flash")}
}

// openTimeout is how long a page waits for the counts in its navigation. Later it is shown without them.
const openTimeout = 300 * time.Millisecond

func (p *Pages) openCounts(r *http.Request, u users.User) OpenCounts {
	if p.Open == nil || u.ID == 0 {
		return OpenCounts{}
	}
	ctx, cancel := context.WithTimeout(r.Context(), openTimeout)
	defer cancel()
	counts, err := p.Open(ctx, u.ID)
	if err != nil {
		return OpenCounts{}
	}
	return counts
}

// address returns the address to which a form in the frame of a page returns.
func address(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/"
	}
	return r.URL.RequestURI()
}

// Render executes a template and writes the page. If the template fails, it writes an error page instead.
func (p *Pages) Render(rw http.ResponseWriter, r *http.Request, status int, name string, data any) {
	body, ok := p.execute(rw, r, name, data)
	if !ok {
		return
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = rw.Write(body)
	}
}

// execute executes a template. If it fails, execute has written the answer and returns false.
func (p *Pages) execute(rw http.ResponseWriter, r *http.Request, name string, data any) ([]byte, bool) {
	var b bytes.Buffer
	if err := p.templates.ExecuteTemplate(&b, name, data); err != nil {
		p.errors.Write(rw, r, fmt.Errorf("render the page %s: %w", name, err))
		return nil, false
	}
	return linkProblems(b.Bytes()), true
}

// DatabaseUnavailable says what a reader can expect while the database cannot be reached.
const DatabaseUnavailable = "Nothing is lost. Try again in a moment. Paging continues as soon as the database is back."

// Fail shows an error page that says what the reader can do. A form that failed for a temporary reason can be sent
// again. Unexpected errors are logged in full.
func (p *Pages) Fail(rw http.ResponseWriter, r *http.Request, err error) {
	err = toReader(err)
	status, title, text := http.StatusInternalServerError, "Internal error", "This is a defect of Iris. The server log has the details."
	switch fault.KindOf(err) {
	case fault.NotFound:
		status, title, text = http.StatusNotFound, "Not found", "This page or object does not exist."
	case fault.Invalid:
		status, title, text = http.StatusBadRequest, "Invalid request", fault.Public(err)
	case fault.Conflict:
		status, title, text = http.StatusConflict, "Not possible now", fault.Public(err)
	case fault.LogInAgain:
		p.LogInAgain(rw, r)
		return
	case fault.TooLarge:
		status, title, text = http.StatusRequestEntityTooLarge, "Too large", fault.Public(err)
	case fault.Throttled:
		status, title, text = http.StatusTooManyRequests, "Too many requests", fault.Public(err)
	case fault.Stale:
		status, title, text = http.StatusPreconditionFailed, "Changed in the meantime", "Somebody else has changed this since you opened it. Open it again."
	case fault.Forbidden:
		status, title, text = http.StatusForbidden, "Not allowed", fault.Public(err)
	case fault.Unavailable:
		p.log.Warn("page needs the database", zap.String("path", wire.LogPath(r)), zap.Error(err))
		rw.Header().Set("Retry-After", "5")
		status, title, text = http.StatusServiceUnavailable, "The database cannot be reached", DatabaseUnavailable
	default:
		p.log.Error("page failed", zap.String("path", wire.LogPath(r)), zap.Error(err))
	}
	f := p.Frame(r, title, "")
	if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests || !p.offerAgain(rw, r, f, status, text) {
		p.Problem(rw, r, f, status, text)
	}
}

// Note logs an error that is no fault, which is a defect of Iris. It is for pages that leave out what they cannot read.
func (p *Pages) Note(r *http.Request, err error) {
	if f := (*fault.Error)(nil); err != nil && !errors.As(err, &f) && !errors.Is(r.Context().Err(), context.Canceled) {
		p.log.Error("part of a page failed", zap.String("path", wire.LogPath(r)), zap.Error(err))
	}
}

// Unavailable shows that the database cannot be reached, without asking who the reader is. A form is offered again.
func (p *Pages) Unavailable(rw http.ResponseWriter, r *http.Request) {
	rw.Header().Set("Retry-After", "5")
	f := Frame{Title: "The database cannot be reached"}
	if !p.offerAgain(rw, r, f, http.StatusServiceUnavailable, DatabaseUnavailable) {
		p.Problem(rw, r, f, http.StatusServiceUnavailable, DatabaseUnavailable)
	}
}

// Problem shows an error page in a frame.
func (p *Pages) Problem(rw http.ResponseWriter, r *http.Request, f Frame, status int, text string) {
	p.Render(rw, r, status, "error", struct {
		Frame
		Problem string
	}{f, text})
}

type readerKey struct{}

// WithReader returns a context that names the logged-in person.
func WithReader(ctx context.Context, u users.User) context.Context {
	return context.WithValue(ctx, readerKey{}, u)
}

// Reader returns the logged-in person; the zero user when there is none.
func Reader(r *http.Request) users.User {
	u, _ := r.Context().Value(readerKey{}).(users.User)
	return u
}

// Actor returns the reader of a page as operations see them.
func Actor(r *http.Request) operation.Actor {
	by := wire.Actor(r.Context()).Caller(auth.Openings{})
	by.OnPage = true
	return by
}

// Next returns the cursor of the next page as addresses have it; "" = there is none.
func Next(cursor *string) string {
	if cursor == nil {
		return ""
	}
	return *cursor
}

type clockKey struct{}

// WithClock returns a context with the clock that the reader chose: "12", "24" or "" = none.
func WithClock(ctx context.Context, clock string) context.Context {
	return context.WithValue(ctx, clockKey{}, clock)
}

// Clock returns the clock of the reader: "12", "24" or "" = 24.
func Clock(r *http.Request) string {
	clock, _ := r.Context().Value(clockKey{}).(string)
	return clock
}

// ThemeCookie holds the theme that the reader chose in this browser.
const ThemeCookie = "iris_theme"

// Theme returns the theme of the reader: "light", "dark" or "" = that of the system.
func Theme(r *http.Request) string {
	if c, err := r.Cookie(ThemeCookie); err == nil && (c.Value == "light" || c.Value == "dark") {
		return c.Value
	}
	return ""
}

// zoneCookie holds the time zone of the browser. app.js sets it.
const zoneCookie = "iris_zone"

// Zone returns the time zone for the reader: the one that the reader chose, else the zone of the browser, else UTC.
func Zone(r *http.Request) *time.Location {
	name := Reader(r).TimeZone
	if c, err := r.Cookie(zoneCookie); err == nil && name == "" {
		name = c.Value
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return time.UTC
	}
	return zone
}

// ListLength is how many rows a list shows.
const ListLength = 50

// Storable replaces NUL and invalid UTF-8 in typed text, because PostgreSQL accepts neither.
func Storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
