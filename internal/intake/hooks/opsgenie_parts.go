package hooks

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
)

// IncidentReads reads what belongs to an incident.
type IncidentReads interface {
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
}

// MessageReads reads the newest messages of an incident, oldest first.
type MessageReads interface {
	Newest(ctx context.Context, id incidents.ID, most int) ([]messages.Message, error)
}

// maxPaged is how many of the newest messages of an incident are read for the recipients.
const maxPaged = 1000

// alertParts returns the parts of an alert by the last segment of the path.
func alertParts() map[string]func(a *alertRequest, on intake.Alert) (any, error) {
	return map[string]func(a *alertRequest, on intake.Alert) (any, error){
		"notes": (*alertRequest).notes, "logs": (*alertRequest).logs, "recipients": (*alertRequest).recipients,
	}
}

// alertLine is a note or a line of the log of an alert. The offset is its position, oldest first, from 1 on.
type alertLine struct {
	Note      string    `json:"note,omitempty"`
	Log       string    `json:"log,omitempty"`
	Type      string    `json:"type,omitempty"`
	Owner     string    `json:"owner"`
	CreatedAt time.Time `json:"createdAt"`
	Offset    string    `json:"offset"`
}

// alertPaging has the addresses of the first and the next page.
type alertPaging struct {
	First string `json:"first"`
	Next  string `json:"next,omitempty"`
}

// notes returns the comments on the incident.
func (a *alertRequest) notes(on intake.Alert) (any, error) {
	found, err := a.d.h.d.Incidents.Comments(a.r.Context(), incidents.ID(on.Incident))
	if err != nil {
		return nil, err
	}
	lines := make([]alertLine, len(found))
	for k, c := range found {
		lines[k] = alertLine{Note: c.Content, Owner: c.Author, CreatedAt: c.CreatedAt.UTC()}
	}
	return a.page(lines)
}

// logs returns the recorded entries of the timeline. Calls of vendors are left out: the sender need not know where
// people are reached.
func (a *alertRequest) logs(on intake.Alert) (any, error) {
	found, err := a.d.h.d.Incidents.Timeline(a.r.Context(), incidents.ID(on.Incident))
	if err != nil {
		return nil, err
	}
	var lines []alertLine
	for _, e := range found {
		if e.ID != 0 {
			lines = append(lines, alertLine{Log: e.Text, Type: string(e.Kind), Owner: e.Actor, CreatedAt: e.At.UTC()})
		}
	}
	return a.page(lines)
}

// page returns the page that the query asks for: newest first unless order is asc.
func (a *alertRequest) page(lines []alertLine) (any, error) {
	query := a.r.URL.Query()
	order, limit, offset := query.Get("order"), pageOfAlerts, 0
	for name, to := range map[string]*int{"limit": &limit, "offset": &offset} {
		n, err := strconv.Atoi(query.Get(name))
		switch {
		case query.Get(name) == "":
		case err != nil || n < 0:
			return nil, fault.Invalidf(name, "%s must be a number from 0 on", name)
		default:
			*to = n
		}
	}
	if order != "" && order != "asc" && order != "desc" {
		return nil, fault.Invalidf("order", "order must be asc or desc")
	}
	if direction := query.Get("direction"); direction != "" && direction != "next" {
		return nil, fault.Invalidf("direction", "direction must be next")
	}
	for k := range lines {
		lines[k].Offset = strconv.Itoa(k + 1)
	}
	if order == "asc" {
		lines = lines[min(offset, len(lines)):]
	} else {
		if offset > 0 {
			lines = lines[:min(offset-1, len(lines))]
		}
		slices.Reverse(lines)
	}
	query.Del("apiKey")
	query.Del("offset")
	u := *a.r.URL
	u.RawQuery = query.Encode()
	a.paging = &alertPaging{First: u.RequestURI()}
	if limit = min(max(limit, 1), maxAlerts); len(lines) > limit {
		lines = lines[:limit]
		query.Set("offset", lines[limit-1].Offset)
		u.RawQuery = query.Encode()
		a.paging.Next = u.RequestURI()
	}
	return list(lines), nil
}

// alertRecipient is a person who was paged.
type alertRecipient struct {
	User      map[string]string `json:"user"`
	State     string            `json:"state"`
	Method    string            `json:"method"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt time.Time         `json:"updatedAt"`
}

// recipients returns who was paged, in the order of the first messages. The state of the owner is action.
func (a *alertRequest) recipients(on intake.Alert) (any, error) {
	found, err := a.d.h.d.Messages.Newest(a.r.Context(), incidents.ID(on.Incident), maxPaged)
	out, places := []alertRecipient{}, map[string]int{}
	for _, m := range found {
		at, known := places[m.Target]
		if !known {
			at, places[m.Target] = len(out), len(out)
			r := alertRecipient{User: map[string]string{"id": m.Target, "username": m.Target}, State: "active",
				CreatedAt: m.CreatedAt.UTC()}
			if m.Target == on.Owner {
				r.State, r.Method = "action", "Acknowledge"
			}
			out = append(out, r)
		}
		out[at].UpdatedAt = m.CreatedAt.UTC()
	}
	return out, err
}
