package pg

import (
	"context"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// Notifications that come at the same time are stored together: a commit costs the same for one and for many.
	notificationBatch = 200
	notificationRuns  = 1 // batches stored at the same time: two would halve their size
)

// Notifications accepts out-of-band notifications. It is safe for concurrent use.
type Notifications struct {
	db      *postgres.DB
	quotas  *pg.Quotas
	batches *postgres.Batches[messages.Notification, int64]
	targets *targets
}

// New returns the adapter over d.
func New(d *postgres.DB) *Notifications {
	n := &Notifications{db: d, quotas: pg.NewQuotas(d, nil), targets: newTargets(d)}
	n.batches = postgres.NewBatches(d, notificationBatch, notificationRuns, n.insert)
	return n
}

// WithQuota sets the quota of applications that have none of their own; nil is none. It must be called before the first
// notification is created.
func (n *Notifications) WithQuota(q *pg.StandardQuota) *Notifications {
	n.quotas = pg.NewQuotas(n.db, q)
	return n
}

// Create stores the notification and its messages in one transaction and returns the number of the request, whose
// bucket is that number modulo buckets.Count. Several calls at the same time share a transaction; one that cannot be
// stored fails alone. After an error that is not a fault of kind Invalid the notification may have been stored.
func (n *Notifications) Create(ctx context.Context, nt messages.Notification) (int64, error) {
	id, err := n.batches.Do(ctx, nt)
	if err == nil && id == 0 {
		return 0, postgres.ErrApplicationChanged
	}
	return id, postgres.MapError(err)
}

// Lookup finds the target of a role and a name, ignoring case. The answer may be up to a second old.
func (n *Notifications) Lookup(ctx context.Context, role, name string) (escalation.Lookup, error) {
	return n.targets.lookup(ctx, role, name)
}

// Category finds a category of an application by name, ignoring case; a NotFound fault when there is none.
func (n *Notifications) Category(ctx context.Context, applicationID int64, name string) (messages.Category, error) {
	row, err := postgres.Query(ctx, n.db, (*postgresdb.Queries).CategoryByName, postgresdb.CategoryByNameParams{
		ApplicationID: applicationID, Name: postgres.Storable(name),
	})
	return messages.Category(row), err
}

// CategoryChoices returns the modes that people chose for a category. People without a choice are missing.
func (n *Notifications) CategoryChoices(ctx context.Context, category int64, people []users.ID) (map[users.ID]users.Mode, error) {
	p := postgresdb.CategoryModesParams{CategoryID: category, UserIds: postgres.Numbers(people)}
	out := map[users.ID]users.Mode{}
	rows, err := postgres.Query(ctx, n.db, (*postgresdb.Queries).CategoryModes, p)
	for _, r := range rows {
		out[r.UserID] = r.Mode
	}
	return out, err
}

func (n *Notifications) insert(ctx context.Context, batch []messages.Notification) (ids []int64, err error) {
	policy, err := n.quotas.Current(ctx)
	if err != nil {
		return nil, err
	}
	if !policy.Applies() {
		p := notificationParams(batch)
		err = n.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			ids, err = insertNotifications(ctx, q, p)
			return err
		})
		return ids, err
	}
	var tally floods.Tally
	err = n.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		tally = floods.Tally{}
		ids, err = Store(ctx, q, policy, batch, tally)
		return err
	})
	if err == nil {
		pg.CountTally(n.db, tally)
	}
	return ids, err
}

// DB returns the database of the notifications.
func (n *Notifications) DB() *postgres.DB { return n.db }

// Policy returns the quotas and rules that apply to notifications, which may be a second old.
func (n *Notifications) Policy(ctx context.Context) (pg.Policy, error) {
	return n.quotas.Current(ctx)
}

// Store applies the policy to the messages of notifications and stores them in the caller's transaction. It returns the
// numbers of the requests and counts the decisions of the policy in tally.
func Store(ctx context.Context, q *postgresdb.Queries, policy pg.Policy, batch []messages.Notification, tally floods.Tally) ([]int64, error) {
	if policy.Applies() {
		var err error
		if batch, err = limitNotifications(ctx, q, policy, batch, tally); err != nil {
			return nil, err
		}
	}
	return insertNotifications(ctx, q, notificationParams(batch))
}

// limitNotifications counts the messages of notifications and changes their modes by the rules of people and the quotas
// of applications.
func limitNotifications(ctx context.Context, q *postgresdb.Queries, policy pg.Policy, batch []messages.Notification, tally floods.Tally) ([]messages.Notification, error) {
	var news []floods.Message
	for _, nt := range batch {
		for _, r := range nt.Recipients {
			news = append(news, floods.Message{New: messages.New{
				ApplicationID: nt.ApplicationID, Recipient: r.Recipient, Target: r.Target, Mode: r.Mode, Class: messages.ClassOutOfBand,
				Purpose: r.Purpose,
			}})
		}
	}
	if _, err := policy.Apply(ctx, q, news, tally); err != nil {
		return nil, err
	}
	out := slices.Clone(batch)
	at := 0
	for i := range out {
		out[i].Recipients = slices.Clone(out[i].Recipients)
		for k := range out[i].Recipients {
			r := &out[i].Recipients[k]
			r.Mode, r.Changes = news[at].Mode, append(slices.Clip(r.Changes), news[at].Changes...)
			at++
		}
	}
	return out, nil
}

// insertNotifications returns the number of each request; 0 if the application does not have the version that it must
// have.
func insertNotifications(ctx context.Context, q *postgresdb.Queries, p postgresdb.InsertNotificationsParams) ([]int64, error) {
	rows, err := q.InsertNotifications(ctx, p)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(p.Places))
	for _, r := range rows {
		ids[r.Place] = r.ID
	}
	return ids, nil
}

func notificationParams(batch []messages.Notification) postgresdb.InsertNotificationsParams {
	var p postgresdb.InsertNotificationsParams
	for i, nt := range batch {
		p.Places = append(p.Places, i)
		p.ApplicationIds = append(p.ApplicationIds, nt.ApplicationID)
		p.Versions = append(p.Versions, nt.Version)
		p.Subjects = append(p.Subjects, nt.Subject)
		p.Bodies = append(p.Bodies, nt.Body)
		p.EmailHtmls = append(p.EmailHtmls, nt.EmailHTML)
		p.Templates = append(p.Templates, nt.Template)
		p.Contexts = append(p.Contexts, string(nt.Context))
		p.Senders = append(p.Senders, nt.Sender)
		p.Priorities = append(p.Priorities, string(nt.Priority))
		p.Lifetimes = append(p.Lifetimes, nt.Lifetime.Seconds())
		p.Bares = append(p.Bares, nt.Bare)
		p.ShownTos = append(p.ShownTos, postgres.Storable(strings.Join(nt.ShownTo, ", ")))
		for _, r := range nt.Recipients {
			p.Turns = append(p.Turns, len(p.Turns))
			p.OwnerPlaces = append(p.OwnerPlaces, i)
			p.Recipients = append(p.Recipients, string(r.Recipient))
			p.UserIds = append(p.UserIds, int64(r.UserID))
			p.Targets = append(p.Targets, r.Target)
			p.Modes = append(p.Modes, string(r.Mode))
			p.Literals = append(p.Literals, r.Literal)
			p.Purposes = append(p.Purposes, string(r.Purpose))
			p.ModeChanges = append(p.ModeChanges, r.Changed || len(r.Changes) > 0)
			for _, c := range r.Changes {
				p.ChangePlaces = append(p.ChangePlaces, i)
				p.ChangeRecipients = append(p.ChangeRecipients, string(r.Recipient))
				p.ChangeOlds = append(p.ChangeOlds, c.Old)
				p.ChangeNews = append(p.ChangeNews, c.New)
				p.ChangeDescriptions = append(p.ChangeDescriptions, c.Description)
			}
		}
	}
	p.ChangePlaces, p.ChangeRecipients = postgres.NonNil(p.ChangePlaces), postgres.NonNil(p.ChangeRecipients)
	p.ChangeOlds, p.ChangeNews, p.ChangeDescriptions = postgres.NonNil(p.ChangeOlds), postgres.NonNil(p.ChangeNews), postgres.NonNil(p.ChangeDescriptions)
	return p
}
