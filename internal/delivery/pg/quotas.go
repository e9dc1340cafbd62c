// This file stores new messages under quotas. It loads and locks the counts of people and applications, calls package
// floods to decide, and stores the result. It also stores the floods of plans that aggregate. Package escalation/pg and
// package notifications call it within their transactions. It makes no decisions.

package pg

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// policyTTL is how old the policy may be.
const policyTTL = time.Second

// StandardQuota is the quota of applications that have none of their own.
type StandardQuota struct {
	messages.Quota
	Target string // name of the target that is notified of a soft breach, instead of TargetID; "" = none
}

// Quotas reads which quotas and rules apply. Without any, messages need no further statements. It is safe for
// concurrent use.
type Quotas struct {
	db       *postgres.DB
	standard *StandardQuota // nil = none
	perDay   int            // calls and texts of a person on one day; 0 = no limit
	policy   *cache.Cache[struct{}, Policy]
	counted  KnownKeys[string]
}

// NewQuotas returns the quotas of d. standard is the quota of applications that have none of their own; nil = none.
func NewQuotas(d *postgres.DB, standard *StandardQuota) *Quotas {
	return &Quotas{db: d, standard: standard, policy: cache.New(cache.Config[struct{}, Policy]{TTL: policyTTL}),
		counted: NewKnownKeys[string]()}
}

// WithDailyLimit sets how many calls and texts a person without a limit of their own gets on one day; 0 = no limit.
func (a *Quotas) WithDailyLimit(n int) *Quotas {
	a.perDay = n
	return a
}

// Policy holds the quotas and rules that apply now.
type Policy struct {
	floods.Policy
	counted KnownKeys[string]
}

// Current returns the policy, which may be a second old.
func (a *Quotas) Current(ctx context.Context) (Policy, error) {
	return a.policy.Get(ctx, struct{}{}, func(ctx context.Context) (out Policy, err error) {
		err = a.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
			out.Policy, err = a.read(ctx, q)
			return err
		})
		out.counted = a.counted
		return out, err
	})
}

func (a *Quotas) read(ctx context.Context, q *postgresdb.Queries) (p floods.Policy, err error) {
	rows, err := q.Quotas(ctx)
	if err != nil {
		return p, err
	}
	p.Quotas = map[int64]messages.Quota{}
	for _, r := range rows {
		p.Quotas[r.ApplicationID] = messages.Quota{
			HardLimit: r.HardThreshold, HardWithin: postgres.FromSeconds(r.HardSeconds),
			SoftLimit: r.SoftThreshold, SoftWithin: postgres.FromSeconds(r.SoftSeconds),
			Plan: r.PlanKey, TargetID: r.TargetID, Wait: postgres.FromSeconds(r.WaitSeconds),
		}
	}
	if len(p.Quotas) > 0 || a.standard != nil {
		if p.People, err = q.ApplicationNumber(ctx, "iris"); err != nil {
			return p, err
		}
	}
	if a.standard != nil {
		p.Exempt = p.People
		standard := a.standard.Quota
		if standard.TargetID, err = q.TargetNumber(ctx, a.standard.Target); err != nil {
			return p, err
		}
		p.Standard = &standard
	}
	if p.Rules, err = q.AnyReprioritisation(ctx); err != nil {
		return p, err
	}
	p.PerDay = a.perDay
	p.Quiet, err = q.AnyQuietLimit(ctx)
	p.Quiet = p.Quiet || p.PerDay > 0
	return p, err
}

// Apply changes the modes of new messages by the policy, counts them, reports breaches, and returns lines for the
// timelines. The counts stay locked until the transaction ends.
func (p Policy) Apply(ctx context.Context, q *postgresdb.Queries, news []floods.Message, tally floods.Tally) ([]floods.Entry, error) {
	if !p.Applies() {
		return nil, nil
	}
	leaving := floods.Leaving(news)
	if err := setTimes(ctx, q, leaving); err != nil {
		return nil, err
	}
	if err := p.setOpeners(ctx, q, leaving); err != nil {
		return nil, err
	}
	rules, err := p.rulesOf(ctx, q, leaving)
	if err != nil {
		return nil, err
	}
	counts := p.Counts(leaving, rules)
	if err := lockCounts(ctx, q, p.counted, counts); err != nil {
		return nil, err
	}
	entries, breaches := p.Limit(leaving, rules, counts, tally)
	for _, b := range breaches {
		more, err := report(ctx, q, b, tally)
		if err != nil {
			return nil, err
		}
		entries = append(entries, more...)
	}
	return entries, storeCounts(ctx, q, counts)
}

// setTimes sets the time of messages that have none to the time of the database.
func setTimes(ctx context.Context, q *postgresdb.Queries, news []*floods.Message) error {
	var now time.Time
	for _, m := range news {
		if !m.At.IsZero() {
			continue
		}
		if now.IsZero() {
			var err error
			if now, err = q.ServerClock(ctx); err != nil {
				return err
			}
		}
		m.At = now
	}
	return nil
}

// setOpeners reads who opened the incidents of messages of the application iris, if a quota holds for these.
func (p Policy) setOpeners(ctx context.Context, q *postgresdb.Queries, news []*floods.Message) error {
	if _, limited := p.Quota(floods.Spender{Application: p.People, Opener: "user"}); !limited {
		return nil
	}
	var ids []int64
	for _, m := range news {
		if m.ApplicationID == p.People && m.IncidentID != 0 {
			ids = append(ids, int64(m.IncidentID))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := q.OpenersOf(ctx, ids)
	if err != nil {
		return fmt.Errorf("read who opened incidents: %w", err)
	}
	openers := make(map[incidents.ID]string, len(rows))
	for _, r := range rows {
		openers[r.ID] = r.Opener
	}
	for _, m := range news {
		m.Opener = openers[m.IncidentID]
	}
	return nil
}

func (p Policy) rulesOf(ctx context.Context, q *postgresdb.Queries, news []*floods.Message) (floods.Rules, error) {
	if !p.Rules {
		return nil, nil
	}
	var keys []users.ResponderKey
	for _, m := range news {
		if k := floods.RecipientOf(m); k.User != 0 {
			keys = append(keys, k)
		}
	}
	return ReadRules(ctx, q, keys)
}

// ReadRules returns the rules of reprioritisation of people, as they apply to messages of applications.
func ReadRules(ctx context.Context, q *postgresdb.Queries, keys []users.ResponderKey) (floods.Rules, error) {
	p := postgresdb.ReprioritisationsParams{UserIds: make([]int64, len(keys)), ApplicationIds: make([]int64, len(keys))}
	for i, k := range keys {
		p.UserIds[i], p.ApplicationIds[i] = int64(k.User), k.Application
	}
	rows, err := q.Reprioritisations(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read reprioritisations: %w", err)
	}
	out := floods.Rules{}
	for _, r := range rows {
		k := users.ResponderKey{User: users.ID(r.UserID), Application: r.ApplicationID}
		out[k] = append(out[k], messages.Reprioritisation{
			From: r.SourceMode, To: r.DestinationMode, Count: r.Count,
			Within: postgres.FromSeconds(r.WindowSeconds), Usable: r.Usable,
		})
	}
	return out, nil
}

// report notifies the target of a quota of a breach, by e-mail and by an incident. It returns lines for the timelines.
func report(ctx context.Context, q *postgresdb.Queries, b *floods.Breach, tally floods.Tally) ([]floods.Entry, error) {
	name, err := q.ApplicationName(ctx, b.Application)
	if err != nil {
		return nil, fmt.Errorf("read application: %w", err)
	}
	unclaimed := false
	if id := b.Incident(); id != 0 {
		if unclaimed, err = q.IsUnclaimed(ctx, id); err != nil {
			return nil, err
		}
	}
	r, err := b.Report(name, unclaimed, tally)
	if err != nil {
		return nil, err
	}
	if r.Mail != nil {
		sent, err := q.TellTarget(ctx, postgresdb.TellTargetParams{TargetID: r.Mail.TargetID, Subject: r.Mail.Subject,
			Body: r.Mail.Body})
		if err != nil {
			return nil, fmt.Errorf("mail about a soft breach: %w", err)
		}
		if sent == 0 {
			b.NotMailed()
		}
	}
	if r.Line != "" {
		if err := q.TellWaiting(ctx, postgresdb.TellWaitingParams{IncidentID: b.Incident(), Text: r.Line}); err != nil {
			return nil, err
		}
	}
	if r.Plan == "" {
		return r.Entries, nil
	}
	opened, err := q.OpenBreach(ctx, postgresdb.OpenBreachParams{PlanKey: strings.ToLower(r.Plan),
		Context: string(r.Context)})
	if err != nil {
		return nil, fmt.Errorf("open the incident of a breach: %w", err)
	}
	if len(opened) > 0 {
		b.Opened(incidents.ID(opened[0]), tally)
	}
	return r.Entries, nil
}

// CountTally adds decisions to the metrics. Call it after the commit.
func CountTally(d *postgres.DB, t floods.Tally) {
	for decision, n := range t {
		d.CountFlood(string(decision), n)
	}
}
