package answers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// shownIncidents is how many incidents of a digest its page names.
const shownIncidents = 50

// digestIncidents are the incidents of a digest: all of them, and those that are neither acknowledged nor resolved.
type digestIncidents struct{ all, waiting []incidents.ID }

const (
	nothingLeft     = "Nothing left to acknowledge"
	nothingLeftText = "Every incident of this digest is acknowledged or resolved."
)

// showDigest describes what the link of a digest does. It changes nothing.
func (l *links) showDigest(r *http.Request, link auth.Link, user users.User) (v linkView, err error) {
	d, err := l.digest(r.Context(), link)
	if err != nil {
		return v, err
	}
	n := len(d.waiting)
	switch {
	case n == 0:
		v.Heading, v.Text = nothingLeft, nothingLeftText
	case user.ReadOnly:
		v.Heading, v.Text = "Nobody has acknowledged "+countIncidents(n), user.Name+
			" may only read, and cannot acknowledge."
	default:
		v.Heading = "Acknowledge " + countIncidents(n) + "?"
		v.Text = "You acknowledge as " + user.Name +
			" every incident below that nobody has acknowledged. Paging for them stops for everybody, and their timelines name you."
		v.Button = "Acknowledge"
		if n > 1 {
			v.Button = "Acknowledge all"
		}
	}
	l.log.Debug("link shown", zap.Int64("message_id", link.MessageID))
	v.Facts, err = l.digestFacts(r.Context(), d)
	return v, err
}

// followDigest acknowledges the waiting incidents of a digest. A repetition changes nothing. An incident that another
// person acknowledges at the same time keeps its owner.
func (l *links) followDigest(r *http.Request, link auth.Link, user users.User) (v linkView, err error) {
	ctx := r.Context()
	d, err := l.digest(ctx, link)
	if err != nil {
		return v, err
	}
	n := 0
	if len(d.waiting) > 0 {
		done, err := l.acknowledge(ctx, user, incidents.Change{IDs: d.waiting, Via: incidents.ViaLink, AskFirst: true})
		if err != nil {
			return v, err
		}
		for _, a := range done {
			if a.Found && a.OwnedBy == 0 {
				n++
			}
		}
	}
	v.Heading, v.Text = nothingLeft, nothingLeftText
	if n > 0 {
		v.Heading, v.Text = countIncidents(n)+" acknowledged by "+user.Name, "Nobody is being paged for them any more."
		if n == 1 {
			v.Text = "Nobody is being paged for it any more."
		}
		l.record(ctx, messages.Answer{Mode: users.Email, Source: "link", UserID: user.ID,
			MessageID: messages.ID(link.MessageID),
			Content:   "acknowledge", Result: "acknowledged"})
	}
	v.Facts, err = l.digestFacts(ctx, digestIncidents{all: d.all})
	return v, err
}

func (l *links) digest(ctx context.Context, link auth.Link) (d digestIncidents, err error) {
	m, err := l.Store.Asked(ctx, messages.ID(link.MessageID))
	if err != nil {
		return d, err
	}
	if m.Batch != "" {
		if d.all, err = l.Store.Batch(ctx, m.Batch); err != nil {
			return d, err
		}
	}
	if len(d.all) == 0 {
		return d, fault.New(fault.NotFound, "no such digest")
	}
	d.waiting, err = l.Store.Waiting(ctx, d.all)
	return d, err
}

// digestFacts lists the incidents of a digest, waiting ones first.
func (l *links) digestFacts(ctx context.Context, d digestIncidents) ([][2]string, error) {
	ids := slices.Clone(d.waiting)
	for _, id := range d.all {
		if !slices.Contains(d.waiting, id) {
			ids = append(ids, id)
		}
	}
	var out [][2]string
	for _, id := range ids[:min(len(ids), shownIncidents)] {
		i, err := l.Incidents.Get(ctx, id)
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

func countIncidents(n int) string {
	if n == 1 {
		return "1 incident"
	}
	return fmt.Sprintf("%d incidents", n)
}
