package responses

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

//go:embed link.html
var linkHTML string

var linkPage = template.Must(template.New("link").Parse(linkHTML))

type linkView struct {
	Style, Icon string
	Heading     string
	Text        string
	Facts       [][2]string
	Button      string // "" = nothing to press
	Replace     users.ID
	Incident    int64 // linked for people who can log in; 0 = not shown
	Bad         bool
}

// showLink shows what the link will do. It changes nothing, because mail scanners and chat previews follow links.
func (s *Responses) showLink(w http.ResponseWriter, r *http.Request) {
	link, user, ok := s.linked(w, r)
	if !ok {
		return
	}
	if link.IncidentID == 0 {
		s.showDigest(w, r, link, user)
		return
	}
	i, err := s.d.Incidents.Get(r.Context(), incidents.ID(link.IncidentID))
	if err != nil {
		s.linkFailed(w, link, err)
		return
	}
	v := linkView{Facts: facts(i)}
	switch {
	case i.Resolved:
		v.Heading, v.Text = "This incident is resolved", "There is nothing left to acknowledge, and nobody is being paged for it."
	case !i.Active && i.Owner != "":
		v.Heading, v.Text = "Acknowledged by "+i.Owner, "Nobody is being paged for it any more."
	case user.ReadOnly:
		v.Heading, v.Text = "This incident waits for somebody", user.Name+" may only read, and cannot acknowledge it."
	default:
		v.Heading = "Acknowledge this incident?"
		v.Text = "You acknowledge it as " + user.Name + ". Paging stops for everybody, and the timeline says that it was you."
		v.Button = "Acknowledge"
	}
	s.d.Log.Debug("link shown", zap.Int64("incident_id", link.IncidentID))
	s.page(w, http.StatusOK, v)
}

// followLink acknowledges.
func (s *Responses) followLink(w http.ResponseWriter, r *http.Request) {
	link, user, ok := s.linked(w, r)
	if !ok {
		return
	}
	if link.IncidentID == 0 {
		s.followDigest(w, r, link, user)
		return
	}
	i, err := s.d.Incidents.Get(r.Context(), incidents.ID(link.IncidentID))
	if err != nil {
		s.linkFailed(w, link, err)
		return
	}
	if i.Resolved {
		s.page(w, http.StatusOK, linkView{Heading: "This incident is resolved", Text: "There was nothing left to acknowledge.", Facts: facts(i)})
		return
	}
	kept := messages.Answer{Mode: users.Email, Source: "link", UserID: user.ID, MessageID: messages.ID(link.MessageID), IncidentID: i.ID, Content: "acknowledge"}
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	done, err := s.takeOver(r.Context(), user, incidents.Change{
		IDs: []incidents.ID{i.ID}, Actor: user.Name, Via: incidents.ViaLink, AskFirst: true, Replace: users.ID(replace),
	})
	if err != nil {
		s.linkFailed(w, link, err)
		return
	}
	if done[0].OwnedBy != 0 {
		s.page(w, http.StatusConflict, linkView{
			Heading: done[0].PreviousOwner + " has acknowledged this incident", Text: "Nobody is paged for it any more. Do you want to take it over?",
			Facts: facts(i), Button: "Take over from " + done[0].PreviousOwner, Replace: done[0].OwnedBy,
		})
		return
	}
	v := linkView{Heading: "Acknowledged by " + user.Name, Text: "Nobody is being paged for it any more.", Facts: facts(i)}
	if p := done[0].PreviousOwner; p != "" && p != user.Name {
		v.Text += " Before you, " + p + " had acknowledged it."
	}
	kept.Result = "acknowledged"
	s.keep(r.Context(), kept)
	s.page(w, http.StatusOK, v)
}

// linked checks the link and finds its person. When that fails, it has written the answer and returns false.
func (s *Responses) linked(w http.ResponseWriter, r *http.Request) (auth.Link, users.User, bool) {
	link, err := s.d.Links.Verify(chi.URLParam(r, "token"), auth.Acknowledge, time.Now())
	if err != nil {
		s.linkFailed(w, link, err)
		return link, users.User{}, false
	}
	user, err := s.d.People.ByID(r.Context(), link.UserID)
	if err == nil && !user.Active {
		err = fault.New(fault.Forbidden, "The person this link was made for is no longer active.")
	}
	if err != nil {
		s.linkFailed(w, link, err)
		return link, user, false
	}
	return link, user, true
}

func (s *Responses) linkFailed(w http.ResponseWriter, link auth.Link, err error) {
	v := linkView{Bad: true, Heading: "This link cannot be used", Incident: link.IncidentID}
	status := http.StatusBadRequest
	switch fault.KindOf(err) {
	case fault.NotFound:
		status, v.Incident, v.Text = http.StatusNotFound, 0, "The incident or the person it was made for does not exist any more."
	case fault.Unavailable:
		status, v.Heading, v.Text = http.StatusServiceUnavailable, "Iris cannot reach its database", "Nothing was changed. Try again in a moment."
	case fault.Internal:
		s.d.Log.Error("link failed", zap.Error(err))
		status, v.Heading, v.Text = http.StatusInternalServerError, "Something went wrong", "Nothing was changed. The server's log says more."
	case fault.Forbidden:
		status, v.Text = http.StatusForbidden, sentence(fault.Public(err))
	default:
		v.Text = sentence(fault.Public(err))
	}
	s.page(w, status, v)
}

// sentence makes a sentence of a fault's text.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

func facts(i incidents.Incident) [][2]string {
	return [][2]string{
		{"Incident", "#" + strconv.FormatInt(int64(i.ID), 10)}, {"What", i.Title()}, {"Application", i.Application}, {"Plan", i.Plan},
		{"Opened", i.CreatedAt.UTC().Format("2006-01-02 15:04:05 UTC")},
	}
}

func (s *Responses) page(w http.ResponseWriter, status int, v linkView) {
	v.Style, v.Icon = s.d.Asset("app.css"), s.d.Asset("icon.svg")
	var b bytes.Buffer
	if err := linkPage.Execute(&b, v); err != nil {
		s.d.Log.Error("page cannot be rendered", zap.Error(err))
		http.Error(w, "This page cannot be shown.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer") // the URL is the secret
	h.Set("Cache-Control", "no-store")
	h.Set("X-Robots-Tag", "noindex")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
}
