package pg

import (
	"context"
	"encoding/json"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// PageAlso stores a request for an added page. The owner of the bucket makes its messages. It implements
// notifications.ResponderStore.
func (i *Incidents) PageAlso(ctx context.Context, c incidents.Change, a escalation.Addition) error {
	return Found(i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		if a.Template != "" {
			active, err := q.TemplateIsActive(ctx, postgres.Storable(a.Template))
			if err != nil {
				return err
			}
			if !active {
				return fault.Invalidf("template", "there is no active template %.100q", a.Template)
			}
		}
		for _, b := range before {
			if _, err := StatusOf(b.row).After(incidents.PageAlso); err != nil {
				return err
			}
			if StatusOf(b.row).State() == incidents.StateExhausted && b.row.ExhaustedAt == nil { // after the undo of a resolve, for example
				var err error
				if b.row.ExhaustedAt, err = q.MarkExhausted(ctx, b.row.ID); err != nil {
					return err
				}
			}
			if err := addPage(ctx, q, c, b, a); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Reassign gives an acknowledged incident another owner, and stores the request for a page to that person. It
// implements notifications.ResponderStore.
func (i *Incidents) Reassign(ctx context.Context, c incidents.Change, owner users.User, a escalation.Addition) error {
	return Found(i.change(ctx, c, func(ctx context.Context, q *db.Queries, before []changing) error {
		for _, b := range before {
			if b.ownerID() == owner.ID && !b.row.Resolved {
				continue
			}
			text, ownerID := "reassigned to "+owner.Name+byWay(c, ""), int64(owner.ID)
			if b.owner != "" {
				text = "reassigned from " + b.owner + " to " + owner.Name + byWay(c, "")
			}
			if err := transit(ctx, q, c, incidents.Reassign, db.SetStatesParams{OwnerID: &ownerID}, []changing{b}, []string{text}); err != nil {
				return err
			}
			if err := addPage(ctx, q, c, b, a); err != nil {
				return err
			}
		}
		return nil
	}))
}

// Found returns a NotFound fault if the only incident of a change does not exist.
func Found(done []incidents.Acknowledged, err error) error {
	if err == nil && (len(done) != 1 || !done[0].Found) {
		return fault.New(fault.NotFound, "there is no such incident")
	}
	return err
}

func addPage(ctx context.Context, q *db.Queries, c incidents.Change, b changing, a escalation.Addition) error {
	targets, err := json.Marshal(a.Targets)
	if err != nil {
		return err
	}
	stopped := !b.row.Active && (b.row.ExhaustedAt == nil ||
		b.row.OwnerID != nil) // by somebody, not by the end of the plan
	n, err := q.AddPage(ctx, db.AddPageParams{IncidentID: int64(b.row.ID), Kind: string(a.Kind), Targets: targets,
		Priority: string(a.Priority),
		Template: a.Template, Actor: postgres.Storable(c.Actor), Stopped: stopped})
	if err == nil && n > escalation.MaxAdded {
		err = fault.Newf(fault.Conflict, "the incident has %d added pages already", escalation.MaxAdded)
	}
	return err
}
