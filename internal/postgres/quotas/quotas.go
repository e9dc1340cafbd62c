package quotas

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/cache"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/words"
)

// allowancesTTL is how long quotas are trusted without reading them again.
const allowancesTTL = time.Second

// StandardQuota is the quota of applications that have none of their own.
type StandardQuota struct {
	messages.Quota
	Target string // name of who hears of a soft breach, instead of TargetID; "" = nobody
}

// Limits knows which applications have quotas and whether anybody has rules of reprioritisation, so that making
// messages costs nothing more where nobody has. It is safe for concurrent use.
type Limits struct {
	db       *postgres.DB
	Standard *StandardQuota // nil = none
	known    *cache.Cache[struct{}, Allowed]
	counted  KnownKeys[string]
}

// Allowed is what allowances found.
type Allowed struct {
	quotas   map[int64]messages.Quota
	standard *messages.Quota
	iris     int64 // the application that tells of breaches; no standard quota bears on it
	rules    bool  // somebody has rules
	counted  KnownKeys[string]
}

func NewLimits(d *postgres.DB) *Limits {
	return &Limits{db: d, known: cache.New(cache.Config[struct{}, Allowed]{TTL: allowancesTTL}), counted: NewKnownKeys[string]()}
}

func (a *Limits) Current(ctx context.Context) (Allowed, error) {
	return a.known.Get(ctx, struct{}{}, func(ctx context.Context) (out Allowed, err error) {
		err = a.db.Do(ctx, func(q *db.Queries) error {
			out = Allowed{quotas: map[int64]messages.Quota{}, counted: a.counted}
			rows, err := q.Quotas(ctx)
			if err != nil {
				return err
			}
			for _, r := range rows {
				out.quotas[r.ApplicationID] = messages.Quota{
					HardLimit: int(r.HardThreshold), HardWithin: time.Duration(r.HardSeconds) * time.Second,
					SoftLimit: int(r.SoftThreshold), SoftWithin: time.Duration(r.SoftSeconds) * time.Second,
					Plan: r.PlanKey, TargetID: r.TargetID, Wait: time.Duration(r.WaitSeconds) * time.Second,
				}
			}
			if a.Standard != nil {
				if out.iris, err = q.ApplicationNumber(ctx, "iris"); err != nil {
					return err
				}
				standard := a.Standard.Quota
				if standard.TargetID, err = q.TargetNumber(ctx, a.Standard.Target); err != nil {
					return err
				}
				out.standard = &standard
			}
			out.rules, err = q.AnyReprioritisation(ctx)
			return err
		})
		return out, err
	})
}

// Bear reports whether there is anything to keep to.
func (a Allowed) Bear() bool { return len(a.quotas) > 0 || a.standard != nil || a.rules }

func (a Allowed) quota(application int64) (messages.Quota, bool) {
	if q, ok := a.quotas[application]; ok {
		return q, true
	}
	if a.standard != nil && application != a.iris {
		return *a.standard, true
	}
	return messages.Quota{}, false
}

// Apply changes the modes of new messages by the rules of their recipients and the quotas of their applications, counts
// them, and returns the lines for the timelines. Messages that are held, and tracking messages, are left as they are. The
// counts stay locked until the transaction ends.
func (a Allowed) Apply(ctx context.Context, q *db.Queries, news []Message, tally *Tally) ([]Entry, error) {
	if !a.Bear() {
		return nil, nil
	}
	leaving := make([]*Message, 0, len(news))
	for i := range news {
		if m := &news[i]; m.Held.IsZero() && m.Mode != users.Drop {
			if m.At.IsZero() {
				now, err := q.ServerClock(ctx)
				if err != nil {
					return nil, err
				}
				m.At = now
			}
			leaving = append(leaving, m)
		}
	}
	rules, err := a.rulesOf(ctx, q, leaving)
	if err != nil {
		return nil, err
	}
	counts, err := lockCounts(ctx, q, a.counted, a.countKeys(leaving, rules))
	if err != nil {
		return nil, err
	}
	entries, err := reprioritise(leaving, rules, counts, tally)
	if err != nil {
		return nil, err
	}
	dropped, err := a.ration(ctx, q, leaving, counts, tally)
	if err != nil {
		return nil, err
	}
	return append(entries, dropped...), counts.store(ctx, q)
}

type ruled struct{ user, application int64 }

func (a Allowed) rulesOf(ctx context.Context, q *db.Queries, news []*Message) (map[ruled][]messages.Reprioritisation, error) {
	if !a.rules {
		return nil, nil
	}
	p := db.ReprioritisationsParams{UserIds: []int64{}, ApplicationIds: []int64{}}
	for _, m := range news {
		if user, ok := m.Recipient.User(); ok {
			p.UserIds, p.ApplicationIds = append(p.UserIds, int64(user)), append(p.ApplicationIds, m.ApplicationID)
		}
	}
	rows, err := q.Reprioritisations(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read reprioritisations: %w", err)
	}
	out := map[ruled][]messages.Reprioritisation{}
	for _, r := range rows {
		k := ruled{r.UserID, r.ApplicationID}
		out[k] = append(out[k], RuleOf(r))
	}
	return out, nil
}

func ruledOf(m *Message) ruled {
	user, _ := m.Recipient.User()
	return ruled{int64(user), m.ApplicationID}
}

func modeKey(user int64, m users.Mode) string { return fmt.Sprintf("mode:%d/%s", user, m) }
func quotaKey(application int64) string       { return fmt.Sprintf("quota:%d", application) }

// countKeys returns the counts that bear on the messages.
func (a Allowed) countKeys(news []*Message, rules map[ruled][]messages.Reprioritisation) []string {
	var keys []string
	for _, m := range news {
		k := ruledOf(m)
		if slices.ContainsFunc(rules[k], func(r messages.Reprioritisation) bool { return r.From == m.Mode }) {
			for _, r := range rules[k] {
				keys = append(keys, modeKey(k.user, r.From))
			}
		}
		if _, ok := a.quota(m.ApplicationID); ok {
			keys = append(keys, quotaKey(m.ApplicationID))
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// reprioritise follows the rules of people who get too much in a mode.
func reprioritise(news []*Message, rules map[ruled][]messages.Reprioritisation, counts *counts, tally *Tally) ([]Entry, error) {
	var entries []Entry
	for _, m := range news {
		k := ruledOf(m)
		if !slices.ContainsFunc(rules[k], func(r messages.Reprioritisation) bool { return r.From == m.Mode }) {
			continue
		}
		windows := map[users.Mode]*messages.Window{}
		for _, r := range rules[k] {
			w := &messages.Window{}
			if err := counts.read(modeKey(k.user, r.From), w); err != nil {
				return nil, err
			}
			windows[r.From] = w
		}
		old := m.Mode
		m.Mode = messages.Reprioritise(old, rules[k], windows, m.At)
		for mode, w := range windows {
			counts.set(modeKey(k.user, mode), w)
		}
		if m.Mode == old {
			continue
		}
		m.Changes = append(slices.Clip(m.Changes), messages.Change{
			Type: "mode-change", Old: string(old), New: string(m.Mode), Description: messages.ReprioritisationText,
		})
		tally.reprioritised++
		if m.IncidentID != 0 {
			entries = append(entries, Entry{m.IncidentID, escalation.RuledEntry(m.Target, m.Mode, old, m.At)})
		}
	}
	return entries, nil
}

// ration keeps applications to their quotas. The most urgent messages are the last to be dropped.
func (a Allowed) ration(ctx context.Context, q *db.Queries, news []*Message, counts *counts, tally *Tally) ([]Entry, error) {
	byApp := map[int64][]*Message{}
	for _, m := range news {
		if m.Mode != users.Drop {
			byApp[m.ApplicationID] = append(byApp[m.ApplicationID], m)
		}
	}
	var entries []Entry
	for app, list := range byApp {
		quota, ok := a.quota(app)
		if !ok {
			continue
		}
		slices.SortStableFunc(list, func(x, y *Message) int { return cmp.Compare(x.Class, y.Class) })
		var usage messages.Usage
		if err := counts.read(quotaKey(app), &usage); err != nil {
			return nil, err
		}
		now := list[0].At
		dropped := list[usage.Allowed(quota, len(list), now):]
		name, err := tellBreaches(ctx, q, app, quota, &usage, len(dropped) > 0, now, tally)
		if err != nil {
			return nil, err
		}
		counts.set(quotaKey(app), &usage)
		for _, m := range dropped {
			old := m.Mode
			m.Mode = users.Drop
			m.Changes = append(slices.Clip(m.Changes), messages.Change{
				Type: "mode-change", Old: string(old), New: string(users.Drop), Description: messages.QuotaDropText,
			})
			tally.hard++
			if m.IncidentID != 0 {
				entries = append(entries, LimitedEntry(m.IncidentID, m.At,
					"the page to %s by %s is DROPPED: application %s exceeds its hard quota of %d messages within %s",
					m.Target, old, name, quota.HardLimit, words.Duration(quota.HardWithin)))
			}
		}
	}
	return entries, nil
}

// tellBreaches tells those who are responsible for an application of its breaches, by e-mail and by an incident. It returns
// the application's name if there was a breach.
func tellBreaches(ctx context.Context, q *db.Queries, app int64, quota messages.Quota, usage *messages.Usage, hard bool, now time.Time, tally *Tally) (string, error) {
	before := *usage
	soft := usage.TextDue(quota, now)
	if !soft && !hard {
		return "", nil
	}
	name, err := q.ApplicationName(ctx, app)
	if err != nil {
		return "", fmt.Errorf("read application: %w", err)
	}
	if soft {
		subject, body := messages.SoftBreachWords(name, quota)
		told, err := q.TellTarget(ctx, db.TellTargetParams{TargetID: quota.TargetID, Subject: subject, Body: body})
		if err != nil {
			return "", fmt.Errorf("tell of a soft breach: %w", err)
		}
		if told == 0 {
			usage.TextedAt = before.TextedAt // nobody is there: once somebody is, they hear
		}
		tally.soft++
	}
	if !hard {
		return name, nil
	}
	unclaimed := false
	if usage.Incident != 0 {
		if unclaimed, err = q.IsUnclaimed(ctx, usage.Incident); err != nil {
			return "", err
		}
	}
	if usage.WaitsDue(quota, unclaimed, now) {
		tally.waiting++
		return name, q.TellWaiting(ctx, db.TellWaitingParams{IncidentID: usage.Incident,
			Text: fmt.Sprintf("application %s exceeds its hard quota again, and messages are DROPPED; no other incident is opened before somebody acknowledges or resolves this one", name)})
	}
	if !usage.BreachDue(quota, unclaimed, now) {
		return name, nil
	}
	words, err := json.Marshal(map[string]any{"quota_breach": map[string]any{
		"application": name, "limit": quota.HardLimit, "duration": int(quota.HardWithin.Seconds()),
	}})
	if err != nil {
		return "", fmt.Errorf("encode a breach: %w", err)
	}
	opened, err := q.OpenBreach(ctx, db.OpenBreachParams{PlanKey: strings.ToLower(quota.Plan), Context: string(words)})
	if err != nil {
		return "", fmt.Errorf("open the incident of a breach: %w", err)
	}
	if len(opened) > 0 {
		usage.Incident, usage.BreachedAt = opened[0], now
		tally.incidents++
	}
	return name, nil
}

// counts are rows of sliding counts, locked for a transaction.
type counts struct {
	raw     map[string][]byte
	changed map[string]any
}

func lockCounts(ctx context.Context, q *db.Queries, known KnownKeys[string], keys []string) (*counts, error) {
	c := &counts{raw: map[string][]byte{}, changed: map[string]any{}}
	if len(keys) == 0 {
		return c, nil
	}
	var err error
	c.raw, err = lockRows(known, keys, func() error {
		if err := q.MakeCounts(ctx, keys); err != nil {
			return fmt.Errorf("make counts: %w", err)
		}
		return nil
	}, func() (map[string][]byte, error) {
		rows, err := q.LockCounts(ctx, keys)
		if err != nil {
			return nil, fmt.Errorf("lock counts: %w", err)
		}
		raw := make(map[string][]byte, len(rows))
		for _, r := range rows {
			raw[r.Key] = r.State
		}
		return raw, nil
	})
	return c, err
}

// read fills into with what is counted under a key so far.
func (c *counts) read(key string, into any) error {
	raw := c.raw[key]
	if changed, ok := c.changed[key]; ok {
		var err error
		if raw, err = json.Marshal(changed); err != nil {
			return fmt.Errorf("encode counts: %w", err)
		}
	}
	if len(raw) == 0 {
		return nil
	}
	_ = json.Unmarshal(raw, into) // what cannot be read is counted anew: it must not keep anybody from being paged
	return nil
}

func (c *counts) set(key string, state any) { c.changed[key] = state }

func (c *counts) store(ctx context.Context, q *db.Queries) error {
	if len(c.changed) == 0 {
		return nil
	}
	var p db.StoreCountsParams
	for key, state := range c.changed {
		raw, err := json.Marshal(state)
		if err != nil {
			return fmt.Errorf("encode counts: %w", err)
		}
		p.Keys, p.States = append(p.Keys, key), append(p.States, string(raw))
	}
	if err := q.StoreCounts(ctx, p); err != nil {
		return fmt.Errorf("store counts: %w", err)
	}
	return nil
}

func RuleOf(r db.ReprioritisationsRow) messages.Reprioritisation {
	return messages.Reprioritisation{
		From: users.Mode(r.SourceMode), To: users.Mode(r.DestinationMode), Count: int(r.Count),
		Within: time.Duration(r.WindowSeconds) * time.Second, Usable: r.Usable,
	}
}
