package responses

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// shownIncidents is how many incidents of a digest its page names.
const shownIncidents = 50

// digestOf is the content of a digest's link: all its incidents, and those that nobody has acknowledged or resolved.
type digestOf struct{ all, waiting []incidents.ID }

// showDigest shows what the link of a digest will do. It changes nothing.
func (s *Responses) showDigest(w http.ResponseWriter, r *http.Request, link auth.Link, user users.User) {
	d, err := s.digest(r.Context(), link)
	var v linkView
	if err == nil {
		v.Facts, err = s.digestFacts(r.Context(), d)
	}
	if err != nil {
		s.linkFailed(w, link, err)
		return
	}
	n := len(d.waiting)
	switch {
	case n == 0:
		v.Heading, v.Text = "Nothing waits any more", "Every incident of this digest is acknowledged or resolved."
	case user.ReadOnly:
		v.Heading, v.Text = count(n, "waits", "wait")+" for somebody", user.Name+" may only read, and cannot acknowledge."
	default:
		v.Heading = "Acknowledge " + count(n, "", "") + "?"
		v.Text = "You acknowledge as " + user.Name + " every incident below that still waits for somebody. Paging for them stops for everybody, and their timelines say that it was you."
		v.Button = "Acknowledge"
		if n > 1 {
			v.Button = "Acknowledge all"
		}
	}
	s.d.Log.Debug("link shown", zap.Int64("message_id", link.MessageID))
	s.page(w, http.StatusOK, v)
}

// followDigest acknowledges the open incidents of a digest. A repetition changes nothing.
func (s *Responses) followDigest(w http.ResponseWriter, r *http.Request, link auth.Link, user users.User) {
	ctx := r.Context()
	d, err := s.digest(ctx, link)
	if err == nil && len(d.waiting) > 0 {
		_, err = s.takeOver(ctx, user, incidents.Change{IDs: d.waiting, Actor: user.Name, Via: incidents.ViaLink, AskFirst: true})
	}
	v := linkView{Heading: "Nothing waits any more", Text: "Every incident of this digest is acknowledged or resolved."}
	if n := len(d.waiting); err == nil && n > 0 {
		v.Heading, v.Text = count(n, "", "")+" acknowledged by "+user.Name, "Nobody is being paged for them any more."
		if n == 1 {
			v.Text = "Nobody is being paged for it any more."
		}
		s.keep(ctx, messages.Answer{Mode: users.Email, Source: "link", UserID: user.ID, MessageID: messages.ID(link.MessageID),
			Content: "acknowledge", Result: "acknowledged"})
	}
	if err == nil {
		v.Facts, err = s.digestFacts(ctx, digestOf{all: d.all})
	}
	if err != nil {
		s.linkFailed(w, link, err)
		return
	}
	s.page(w, http.StatusOK, v)
}

func (s *Responses) digest(ctx context.Context, link auth.Link) (d digestOf, err error) {
	m, err := s.d.Pages.Asked(ctx, messages.ID(link.MessageID))
	if err != nil {
		return d, err
	}
	if m.Batch != "" {
		if d.all, err = s.d.Pages.Batch(ctx, m.Batch); err != nil {
			return d, err
		}
	}
	if len(d.all) == 0 {
		return d, fault.New(fault.NotFound, "no such digest")
	}
	d.waiting, err = s.d.Pages.Waiting(ctx, d.all)
	return d, err
}

// digestFacts lists the incidents of a digest, open ones first.
func (s *Responses) digestFacts(ctx context.Context, d digestOf) ([][2]string, error) {
	ids := slices.Clone(d.waiting)
	for _, id := range d.all {
		if !slices.Contains(d.waiting, id) {
			ids = append(ids, id)
		}
	}
	var out [][2]string
	for _, id := range ids[:min(len(ids), shownIncidents)] {
		i, err := s.d.Incidents.Get(ctx, id)
		if fault.Is(err, fault.NotFound) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		text := i.Title()
		switch {
		case i.Resolved:
			text += " (resolved)"
		case i.Owner != "":
			text += " (acknowledged by " + i.Owner + ")"
		}
		out = append(out, [2]string{"Incident #" + strconv.FormatInt(int64(id), 10), text})
	}
	if more := len(ids) - shownIncidents; more > 0 {
		out = append(out, [2]string{"More", "and " + strconv.Itoa(more) + " more"})
	}
	return out, nil
}

// count returns a text with a number of incidents and a verb.
func count(n int, one, many string) string {
	text, verb := fmt.Sprintf("%d incidents", n), many
	if n == 1 {
		text, verb = "1 incident", one
	}
	if verb != "" {
		text += " " + verb
	}
	return text
}
