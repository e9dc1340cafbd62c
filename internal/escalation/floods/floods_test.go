package floods_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

var now = time.Date(2026, 3, 4, 2, 0, 0, 0, time.UTC)

const shop, iris = 7, 1

// page returns a page about an incident to a person by SMS.
func page(incident incidents.ID, user users.ID) floods.Message {
	return floods.Message{At: now, Application: "shop", New: messages.New{
		IncidentID: incident, ApplicationID: shop, PlanID: 3, Recipient: messages.ToUser(user), Target: "ana",
		Priority: users.Low, Class: messages.ClassOf(users.Low), Mode: users.SMS,
	}}
}

func modes(news []floods.Message) []users.Mode {
	out := make([]users.Mode, len(news))
	for i, m := range news {
		out[i] = m.Mode
	}
	return out
}

func TestHoldMessagesAboveTheThreshold(t *testing.T) {
	t.Parallel()
	aggregation := &escalation.Aggregation{Threshold: 2, Window: time.Minute, Every: 5 * time.Minute,
		Reset: time.Minute}
	for name, c := range map[string]struct {
		change func(m *floods.Message, i int)
		flood  floods.Flood
		held   []bool
	}{
		"those above the threshold are held": {held: []bool{false, false, true, true}},
		"a plan that does not aggregate": {change: func(m *floods.Message, _ int) { m.Aggregation = nil },
			held: make([]bool, 4)},
		"tracking messages are not held": {change: func(m *floods.Message, _ int) { m.Purpose = messages.TrackingMsg },
			held: make([]bool, 4)},
		"people are counted apart": {change: func(m *floods.Message, i int) { m.Recipient = messages.ToUser(users.ID(1 + i%2)) }, held: make([]bool, 4)},
		"a flood that is held goes on": {flood: floods.Flood{State: floods.State{Holding: true,
			LastAt: now.Add(-time.Second)}}, held: []bool{true, true, true, true}},
		"after a long enough gap it begins again": {flood: floods.Flood{State: floods.State{Holding: true,
			LastAt: now.Add(-time.Hour)}}, held: []bool{false, false, true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var news []floods.Message
			held := 0
			for i := range 4 {
				m := page(incidents.ID(i+1), 1)
				m.Aggregation = aggregation
				if c.change != nil {
					c.change(&m, i)
				}
				news = append(news, m)
				if c.held[i] {
					held++
				}
			}
			known := map[escalation.AggregationKey]*floods.Flood{}
			for _, k := range floods.Keys(news) {
				f := c.flood
				known[k] = &f
			}
			tally := floods.Tally{}
			_, entries := floods.Hold(news, known, tally)
			require.Len(t, entries, held)
			require.Equal(t, held, tally[floods.Held])
			for i, m := range news {
				require.Equal(t, c.held[i], !m.Held.IsZero(), i)
				if c.held[i] {
					require.Equal(t, now, m.Held)
					require.Equal(t, "sent-change", m.Changes[0].Type)
				}
			}
			if held > 0 {
				for _, f := range known {
					require.Equal(t, now.Add(5*time.Minute), f.Release)
				}
			}
		})
	}
}

func TestKeysAreSortedAndUnique(t *testing.T) {
	t.Parallel()
	var news []floods.Message
	for _, user := range []users.ID{9, 2, 9, 5} {
		m := page(1, user)
		m.Aggregation = &escalation.Aggregation{Threshold: 1}
		news = append(news, m)
	}
	var got []users.ID
	for _, k := range floods.Keys(news) {
		got = append(got, k.UserID)
	}
	require.Equal(t, []users.ID{2, 5, 9}, got)
}

func TestDueSooner(t *testing.T) {
	t.Parallel()
	held := page(1, 1)
	held.Held, held.Wait = now, time.Minute
	later := page(2, 1)
	later.Held, later.Wait = now, time.Hour
	changes := []escalation.Change{{ID: 1, DueAt: now.Add(10 * time.Minute)},
		{ID: 2, DueAt: now.Add(10 * time.Minute)}, {ID: 3, DueAt: now}, {ID: 1}}
	got := floods.DueSooner(changes, []floods.Message{held, later, page(3, 1)})
	require.Len(t, got, 1, "only the incident whose held message ends its wait earlier")
	require.Equal(t, incidents.ID(1), got[0].ID)
	require.Equal(t, now.Add(time.Minute), got[0].DueAt)
}

func TestReprioritisationChangesModes(t *testing.T) {
	t.Parallel()
	rule := func(from, to users.Mode, count int, usable bool) messages.Reprioritisation {
		return messages.Reprioritisation{From: from, To: to, Count: count, Within: time.Minute, Usable: usable}
	}
	for name, c := range map[string]struct {
		rules []messages.Reprioritisation
		want  []users.Mode
	}{
		"above the count": {[]messages.Reprioritisation{rule(users.SMS, users.Email, 1, true)},
			[]users.Mode{users.SMS, users.Email, users.Email}},
		"one after the other": {[]messages.Reprioritisation{rule(users.SMS, users.Slack, 1, true),
			rule(users.Slack, users.Email, 1, true)}, []users.Mode{users.SMS, users.Slack, users.Email}},
		"a circle ends": {[]messages.Reprioritisation{rule(users.SMS, users.Slack, 0, true),
			rule(users.Slack, users.SMS, 0, true)}, []users.Mode{users.Slack, users.Slack, users.Slack}},
		"not where nobody is": {[]messages.Reprioritisation{rule(users.SMS, users.Email, 0, false)},
			[]users.Mode{users.SMS, users.SMS, users.SMS}},
		"not from another mode": {[]messages.Reprioritisation{rule(users.Call, users.Email, 0, true)},
			[]users.Mode{users.SMS, users.SMS, users.SMS}},
		"a person may drop pages": {[]messages.Reprioritisation{rule(users.SMS, users.Drop, 2, true)},
			[]users.Mode{users.SMS, users.SMS, users.Drop}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			news := []floods.Message{page(1, 5), page(2, 5), page(3, 5)}
			rules := floods.Rules{{User: 5, Application: shop}: c.rules}
			p := floods.Policy{Rules: true}
			tally := floods.Tally{}
			leaving := floods.Leaving(news)
			entries, breaches := p.Limit(leaving, rules, p.Counts(leaving, rules), tally)
			require.Empty(t, breaches)
			require.Equal(t, c.want, modes(news))
			require.Len(t, entries, tally[floods.Reprioritised])
			for _, m := range news {
				require.Equal(t, m.Mode != users.SMS, len(m.Changes) == 1, "a changed mode has a line in the audit log")
			}
		})
	}
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	hard := messages.Quota{HardLimit: 2, HardWithin: time.Minute, Plan: "owners", Wait: time.Hour}
	soft := messages.Quota{SoftLimit: 1, SoftWithin: time.Minute, TargetID: 4}
	urgent := page(4, 1)
	urgent.Class = messages.ClassOf(users.Urgent)
	held := page(5, 1)
	held.Held = now
	for name, c := range map[string]struct {
		policy  floods.Policy
		app     int64
		dropped []incidents.ID
		mails   int
	}{
		"no quota": {policy: floods.Policy{Quotas: map[int64]messages.Quota{99: hard}},
			app: shop},
		"the least urgent are dropped first": {policy: floods.Policy{Quotas: map[int64]messages.Quota{shop: hard}},
			app: shop, dropped: []incidents.ID{2, 3}},
		"the standard quota": {policy: floods.Policy{Standard: &hard}, app: shop,
			dropped: []incidents.ID{2, 3}},
		"a quota of its own wins": {policy: floods.Policy{Standard: &hard,
			Quotas: map[int64]messages.Quota{shop: soft}}, app: shop, mails: 1},
		"the standard quota exempts one": {policy: floods.Policy{Standard: &hard, Exempt: iris}, app: iris},
		"a soft quota drops nothing":     {policy: floods.Policy{Standard: &soft}, app: shop, mails: 1},
		"nobody to mail about the soft quota": {policy: floods.Policy{Standard: &messages.Quota{SoftLimit: 1,
			SoftWithin: time.Minute}}, app: shop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			news := []floods.Message{page(1, 1), page(2, 1), page(3, 1), urgent, held}
			for i := range news {
				news[i].ApplicationID = c.app
			}
			leaving := floods.Leaving(news)
			require.Len(t, leaving, 4, "held messages do not count")
			tally := floods.Tally{}
			_, breaches := c.policy.Limit(leaving, nil, c.policy.Counts(leaving, nil), tally)
			var dropped []incidents.ID
			for _, m := range news {
				if m.Mode == users.Drop {
					dropped = append(dropped, m.IncidentID)
				}
			}
			require.Equal(t, c.dropped, dropped)
			require.Equal(t, len(c.dropped), tally[floods.QuotaHard])
			mails := 0
			for _, b := range breaches {
				r, err := b.Report("shop", false, tally)
				require.NoError(t, err)
				if r.Mail != nil {
					mails++
				}
				require.Len(t, r.Entries, len(c.dropped))
				require.Equal(t, len(c.dropped) > 0, r.Plan == "owners")
			}
			require.Equal(t, c.mails, mails)
		})
	}
}

func TestBreachesOpenOneIncidentAtATime(t *testing.T) {
	t.Parallel()
	p := floods.Policy{Standard: &messages.Quota{HardLimit: 1, HardWithin: time.Second, Plan: "owners",
		Wait: time.Hour}}
	news := []floods.Message{page(1, 1)}
	counts := p.Counts(floods.Leaving(news), nil)
	tally := floods.Tally{}
	exceed := func(at time.Time) *floods.Breach {
		t.Helper()
		news := []floods.Message{page(1, 1), page(2, 1)}
		for i := range news {
			news[i].At = at
		}
		_, breaches := p.Limit(floods.Leaving(news), nil, counts, tally)
		require.Len(t, breaches, 1)
		return breaches[0]
	}
	report := func(b *floods.Breach, unclaimed bool) floods.Report {
		t.Helper()
		r, err := b.Report("shop", unclaimed, tally)
		require.NoError(t, err)
		return r
	}
	first := exceed(now)
	require.Zero(t, first.Incident())
	r := report(first, false)
	require.Equal(t, "owners", r.Plan)
	require.JSONEq(t, `{"quota_breach":{"application":"shop","limit":1,"duration":1}}`, string(r.Context))
	first.Opened(42, tally)

	again := exceed(now.Add(time.Minute))
	require.Equal(t, incidents.ID(42), again.Incident())
	require.Empty(t, report(again, false).Plan, "within the wait")

	waiting := exceed(now.Add(2 * time.Hour))
	r = report(waiting, true)
	require.Empty(t, r.Plan, "nobody has answered the first one")
	require.NotEmpty(t, r.Line)
	require.Equal(t, "owners", report(exceed(now.Add(3*time.Hour)), false).Plan)
	require.Equal(t, 1, tally[floods.QuotaIncident])
	require.Equal(t, 1, tally[floods.QuotaWaiting])
}

func TestAnUnsentBreachNoticeIsDueAgain(t *testing.T) {
	t.Parallel()
	p := floods.Policy{Standard: &messages.Quota{SoftLimit: 1, SoftWithin: time.Minute, TargetID: 4}}
	counts := p.Counts(floods.Leaving([]floods.Message{page(1, 1)}), nil)
	breaches := func() int {
		_, found := p.Limit(floods.Leaving([]floods.Message{page(1, 1), page(2, 1)}), nil, counts, floods.Tally{})
		for _, b := range found {
			b.NotMailed()
		}
		return len(found)
	}
	require.Equal(t, 1, breaches())
	require.Equal(t, 1, breaches())
}

func TestReleaseHeldMessages(t *testing.T) {
	t.Parallel()
	d := runner.Digest{Batch: "b1", Application: "shop", Plan: "db", Mode: users.Email, Release: runner.Release{At: now,
		Key: escalation.AggregationKey{PlanID: 3, ApplicationID: shop, Priority: users.High, UserID: 5}}}
	open := func(id messages.ID, incident incidents.ID) floods.Page {
		return floods.Page{ID: id, IncidentID: incident, Mode: users.SMS, Target: "ana", Open: true}
	}
	closed := floods.Page{ID: 9, IncidentID: 9}

	none := floods.Release(d, []floods.Page{closed})
	require.Empty(t, none.Pages)
	require.Equal(t, []floods.Page{closed}, none.Cancelled)

	one := floods.Release(d, []floods.Page{closed, open(1, 11)})
	require.False(t, one.IsDigest())
	require.Equal(t, users.SMS, one.Message.Mode, "it is sent as it is")
	require.Equal(t, incidents.ID(11), one.Message.IncidentID)
	require.Len(t, one.Entries(one.Message, floods.Tally{}), 1)

	tally := floods.Tally{}
	several := floods.Release(d, []floods.Page{open(1, 11), open(2, 12), open(3, 11), closed})
	require.True(t, several.IsDigest())
	require.Equal(t, messages.Digest, several.Message.Purpose)
	require.Equal(t, users.Email, several.Message.Mode)
	require.Equal(t, 3, several.Message.BatchSize)
	require.Zero(t, several.Message.IncidentID)
	require.Len(t, several.Entries(several.Message, tally), 2, "a line for each incident")
	require.Equal(t, 1, tally[floods.Digest])
	limited := several.Message
	limited.Changes = []messages.Change{{Old: "email", New: "drop", Description: "quota"}}
	require.Len(t, several.Entries(limited, tally), 4, "and one for each change of the digest")

	d.Mode = ""
	require.Equal(t, users.SMS, floods.Release(d, []floods.Page{open(1, 11), open(2, 12)}).Message.Mode,
		"nobody can be reached: the mode of the newest")
}

// People who open incidents of the application iris have a quota each: nobody uses up that of somebody else.
func TestEachOpenerHasItsQuota(t *testing.T) {
	t.Parallel()
	const iris = 8
	hard := messages.Quota{HardLimit: 1, HardWithin: time.Minute}
	for name, c := range map[string]struct {
		policy  floods.Policy
		dropped []incidents.ID
	}{
		"its own quota": {floods.Policy{Quotas: map[int64]messages.Quota{iris: hard}, People: iris},
			[]incidents.ID{2, 5}},
		"the standard quota": {floods.Policy{Standard: &hard, Exempt: iris, People: iris}, []incidents.ID{2}},
	} {
		news := []floods.Message{page(1, 1), page(2, 1), page(3, 1), page(4, 1), page(5, 1)}
		for i, opener := range []string{"user 1", "user 1", "user 2", "", ""} {
			news[i].ApplicationID, news[i].Opener = iris, opener
		}
		leaving := floods.Leaving(news)
		c.policy.Limit(leaving, nil, c.policy.Counts(leaving, nil), floods.Tally{})
		var dropped []incidents.ID
		for _, m := range news {
			if m.Mode == users.Drop {
				dropped = append(dropped, m.IncidentID)
			}
		}
		require.Equal(t, c.dropped, dropped, name)
	}
}
