package postgres

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

const (
	// Notifications that come at the same time are stored together: a commit costs the same for one and for many.
	notificationBatch = 200
	notificationRuns  = 2
)

// Notifications accepts out-of-band notifications. It is safe for concurrent use.
type Notifications struct {
	db      *DB
	gather  *gather[messages.Notification, int64]
	targets *recently[roleTarget, escalation.Lookup]
}

type roleTarget struct{ role, target string }

// targetTTL is how long it is believed that a target exists.
const targetTTL = time.Second

// NewNotifications returns the adapter over d.
func NewNotifications(d *DB) *Notifications {
	n := &Notifications{db: d, targets: newRecently[roleTarget, escalation.Lookup](targetTTL)}
	n.gather = &gather[messages.Notification, int64]{run: n.insert, maxSize: notificationBatch, maxRuns: notificationRuns}
	return n
}

// Create stores the notification and its messages in one transaction and returns the number of the request, whose
// bucket is that number modulo buckets.Count. Several calls at the same time share a transaction; one that cannot be
// stored fails alone. After an error that is not a fault of kind Invalid the notification may have been stored.
func (n *Notifications) Create(ctx context.Context, nt messages.Notification) (int64, error) {
	id, err := n.gather.do(ctx, nt)
	return id, mapError(err)
}

// Lookup finds what a role and a target's name mean together, ignoring case; what was found may be up to a second old.
func (n *Notifications) Lookup(ctx context.Context, role, name string) (escalation.Lookup, error) {
	var missing escalation.Lookup
	found, err := n.targets.get(ctx, roleTarget{role, name}, func(ctx context.Context) (l escalation.Lookup, err error) {
		err = n.db.Do(ctx, func(q *db.Queries) error {
			row, err := q.ResolveTarget(ctx, db.ResolveTargetParams{Role: storable(strings.ToLower(role)),
				Target: storable(strings.TrimRight(name, " "))})
			if err != nil {
				return err
			}
			l = escalation.Lookup{Role: row.Role, TargetID: row.TargetID, Exists: row.OtherKind != ""}
			return nil
		})
		if err == nil && l.TargetID == 0 {
			return l, errNoTarget{l} // what is missing is not remembered
		}
		return l, err
	})
	if no := (errNoTarget{}); errors.As(err, &no) {
		return no.found, nil
	}
	if fault.Is(err, fault.NotFound) {
		return missing, nil
	}
	return found, err
}

type errNoTarget struct{ found escalation.Lookup }

func (errNoTarget) Error() string { return "no such target" }

func (n *Notifications) insert(ctx context.Context, batch []messages.Notification) (ids []int64, err error) {
	p := notificationParams(batch)
	err = n.db.Do(ctx, func(q *db.Queries) error {
		rows, err := q.InsertNotifications(ctx, p)
		if err != nil {
			return err
		}
		if len(rows) != len(batch) {
			return fault.Newf(fault.Internal, "stored %d notifications of %d", len(rows), len(batch))
		}
		ids = make([]int64, len(rows))
		for i, r := range rows {
			ids[i] = r.ID
		}
		return nil
	})
	return ids, err
}

func notificationParams(batch []messages.Notification) db.InsertNotificationsParams {
	var p db.InsertNotificationsParams
	for i, nt := range batch {
		p.Places = append(p.Places, int32(i))
		p.ApplicationIds = append(p.ApplicationIds, nt.ApplicationID)
		p.Subjects = append(p.Subjects, nt.Subject)
		p.Bodies = append(p.Bodies, nt.Body)
		p.EmailHtmls = append(p.EmailHtmls, nt.EmailHTML)
		p.Templates = append(p.Templates, nt.Template)
		p.Contexts = append(p.Contexts, string(nt.Context))
		p.Senders = append(p.Senders, nt.Sender)
		p.Priorities = append(p.Priorities, string(nt.Priority))
		p.Lifetimes = append(p.Lifetimes, nt.Lifetime.Seconds())
		p.Bares = append(p.Bares, nt.Bare)
		for _, r := range nt.Recipients {
			p.Turns = append(p.Turns, int32(len(p.Turns)))
			p.OwnerPlaces = append(p.OwnerPlaces, int32(i))
			p.Recipients = append(p.Recipients, string(r.Recipient))
			p.UserIds = append(p.UserIds, int64(r.UserID))
			p.Targets = append(p.Targets, r.Target)
			p.Modes = append(p.Modes, string(r.Mode))
			p.Literals = append(p.Literals, r.Literal)
			p.ModeChanges = append(p.ModeChanges, r.Changed)
		}
	}
	return p
}
