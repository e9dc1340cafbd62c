package answers

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

//go:embed link.html
var linkHTML string

var linkPage = template.Must(template.New("link").Parse(linkHTML))

// People finds users by id; a NotFound fault if there is no such user.
type People interface {
	ByID(ctx context.Context, id users.ID) (users.User, error)
}

// LinkDeps are the dependencies of signed links.
type LinkDeps struct {
	People People
	Links  *auth.Links
	Asset  func(name string) string // returns the address of a stylesheet or icon
}

// links serves the links in messages.
type links struct {
	LinkDeps
	*answers
	log *zap.Logger
}

func (l *links) routes(r chi.Router) {
	show, follow := l.serve(l.show, l.showDigest), l.serve(l.follow, l.followDigest)
	r.Get("/ack/{token}", show)
	r.Head("/ack/{token}", show) // scanners of mail send it
	r.Post("/ack/{token}", follow)
}

// linkHandler returns the page for a verified link. user is the person of the link.
type linkHandler func(r *http.Request, link auth.Link, user users.User) (linkView, error)

// serve returns a handler that verifies a link and writes its page. incident returns the page of an incident's link,
// digest that of a digest's link.
func (l *links) serve(incident, digest linkHandler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var v linkView
		link, user, err := l.verify(r)
		switch {
		case err != nil:
		case link.IncidentID == 0:
			v, err = digest(r, link, user)
		default:
			v, err = incident(r, link, user)
		}
		if err != nil {
			v = l.failure(link, err)
		}
		l.write(w, v)
	}
}

// linkView is the content of a page.
type linkView struct {
	Status      int // of HTTP; 0 = 200
	Style, Icon string
	Heading     string // of a page about one incident, the title of the alert
	State       string // what is known or was done about the incident; "" if the heading says it
	Chip        string // the class of the state; "" = the state is not marked
	Severity    string
	Age         string // since the incident was opened
	Opened      string // in the time zone of the link's person
	OpenedAt    string // the same in RFC 3339
	Text        string
	Facts       [][2]string
	Button      string   // "" = there is no button
	Replace     users.ID // the owner from whom the button takes the incident over; 0 = nobody
	Incident    int64    // the page links to this incident, for people who can log in; 0 = no link
	Bad         bool     // the page reports a failure
}

// show describes what the link does. It changes nothing, because scanners of mail and previews of chats follow links.
func (l *links) show(r *http.Request, link auth.Link, user users.User) (linkView, error) {
	i, err := l.Incidents.Get(r.Context(), incidents.ID(link.IncidentID))
	if err != nil {
		return linkView{}, err
	}
	v := about(i, user)
	switch {
	case i.Resolved:
		v.state(incidents.StateResolved, resolved,
			"There is nothing left to acknowledge, and nobody is being paged for it.")
	case !i.Active && i.Owner != "":
		v.state(incidents.StateAcknowledged, "Acknowledged by "+i.Owner, nobodyPaged)
	case user.ReadOnly:
		v.state(i.State(), unacknowledged, user.Name+" may only read, and cannot acknowledge it.")
	default:
		v.state(i.State(), unacknowledged, "You acknowledge it as "+user.Name+
			". Paging stops for everybody, and the timeline names you.")
		v.Button = "Acknowledge"
	}
	l.log.Debug("link shown", zap.Int64("incident_id", link.IncidentID))
	return v, nil
}

// follow acknowledges the incident. If somebody else has acknowledged it, the page offers to take it over.
func (l *links) follow(r *http.Request, link auth.Link, user users.User) (linkView, error) {
	i, err := l.Incidents.Get(r.Context(), incidents.ID(link.IncidentID))
	if err != nil {
		return linkView{}, err
	}
	if i.Resolved {
		v := about(i, user)
		v.state(incidents.StateResolved, resolved, "There was nothing left to acknowledge.")
		return v, nil
	}
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	done, err := l.acknowledge(r.Context(), user, incidents.Change{
		IDs: []incidents.ID{i.ID}, Via: incidents.ViaLink, AskFirst: true, Replace: users.ID(replace),
	})
	if err != nil {
		return linkView{}, err
	}
	v := about(i, user)
	if done[0].OwnedBy != 0 {
		v.Status, v.Button, v.Replace = http.StatusConflict, "Take over from "+done[0].PreviousOwner, done[0].OwnedBy
		v.state(incidents.StateAcknowledged, done[0].PreviousOwner+" has acknowledged this incident",
			"Nobody is paged for it any more. Do you want to take it over?")
		return v, nil
	}
	v.state(incidents.StateAcknowledged, "Acknowledged by "+user.Name, nobodyPaged)
	if p := done[0].PreviousOwner; p != "" && p != user.Name {
		v.Text += " Before you, " + p + " had acknowledged it."
	}
	l.record(r.Context(), messages.Answer{Mode: users.Email, Source: "link", UserID: user.ID,
		MessageID: messages.ID(link.MessageID), IncidentID: i.ID,
		Content: "acknowledge", Result: "acknowledged"})
	return v, nil
}

// verify checks the link and finds its person. With an error it still returns the link, unless the link is invalid.
func (l *links) verify(r *http.Request) (auth.Link, users.User, error) {
	link, err := l.Links.Verify(chi.URLParam(r, "token"), auth.Acknowledge, time.Now())
	if err != nil {
		return link, users.User{}, err
	}
	user, err := l.People.ByID(r.Context(), link.UserID)
	if err == nil && !user.Active {
		err = fault.New(fault.Forbidden, "This link belongs to a person who is no longer active in Iris.")
	}
	return link, user, err
}

// failure returns the page for an error.
func (l *links) failure(link auth.Link, err error) linkView {
	v := linkView{Status: http.StatusBadRequest, Bad: true, Heading: "This link cannot be used",
		Incident: link.IncidentID}
	switch fault.KindOf(err) {
	case fault.NotFound:
		v.Status, v.Incident, v.Text = http.StatusNotFound, 0, "The incident or the person of this link does not exist any more."
	case fault.Unavailable:
		v.Status, v.Heading, v.Text = http.StatusServiceUnavailable, "Iris cannot reach its database", "Nothing was changed. Try again in a moment."
	case fault.Internal:
		l.log.Error("link failed", zap.Error(err))
		v.Status, v.Heading, v.Text = http.StatusInternalServerError, "Internal error", "This is a defect of Iris, and nothing was changed. The server log has the details."
	case fault.Forbidden:
		v.Status, v.Text = http.StatusForbidden, sentence(fault.Public(err))
	default:
		v.Text = sentence(fault.Public(err))
	}
	return v
}

// sentence makes a sentence from the text of a fault.
func sentence(s string) string {
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(s[size:], ".") + "."
}

// Texts about one incident.
const (
	resolved       = "This incident is resolved"
	unacknowledged = "Nobody has acknowledged this incident"
	nobodyPaged    = "Nobody is being paged for it any more."
)

// about describes an incident to the person of the link: the alert, how long ago it was opened, and when in the
// person's time zone.
func about(i incidents.Incident, user users.User) linkView {
	zone, err := time.LoadLocation(user.TimeZone)
	if err != nil {
		zone = time.UTC
	}
	opened := i.CreatedAt.In(zone)
	return linkView{
		Heading: i.Title(), Severity: i.Severity, Incident: int64(i.ID),
		Age: humanize.Age(time.Since(i.CreatedAt)), Opened: opened.Format("Mon 2 Jan 15:04 MST"), OpenedAt: opened.Format(time.RFC3339),
		Facts: [][2]string{{"Application", i.Application}, {"Plan", i.Plan}},
	}
}

func (v *linkView) state(state incidents.State, name, text string) {
	v.Chip, v.State, v.Text = string(state), name, text
}

func (l *links) write(w http.ResponseWriter, v linkView) {
	v.Style, v.Icon = l.Asset("console.css"), l.Asset("icon.svg")
	var b bytes.Buffer
	if err := linkPage.Execute(&b, v); err != nil {
		l.log.Error("page cannot be rendered", zap.Error(err))
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer") // the URL is a secret
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(cmp.Or(v.Status, http.StatusOK))
	_, _ = w.Write(b.Bytes())
}
