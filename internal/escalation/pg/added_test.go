package pg_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	pgdelivery "github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/silences"
	pgsilences "github.com/iris-oncall/iris/internal/silences/pg"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
)

// team is a database with an open incident on a plan that pages ana.
type team struct {
	*pgtest.Escalating
	id         int64
	incidents  *pgincidents.Incidents
	responders notifications.Responders
}

func newTeam(t *testing.T) *team {
	t.Helper()
	e := pgtest.NewEscalating(t)
	in := pgincidents.New(e.DB)
	x := &team{Escalating: e, incidents: in,
		responders: notifications.Responders{Store: in, Lookups: pgnotifications.New(e.DB), People: pg.NewUsers(e.DB)}}
	x.id = e.Open(e.Plan("pager", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
		Wait: time.Hour}))
	e.Pass()
	return x
}

func (x *team) change() incidents.Change {
	return incidents.Change{IDs: []incidents.ID{incidents.ID(x.id)}, Actor: "ana", Via: incidents.ViaAPI}
}

func (x *team) also(target string) error {
	return x.responders.PageAlso(x.Ctx(), x.change(),
		incidents.AddedPage{Targets: []incidents.Target{{Role: "user", Name: target}}, Priority: "urgent"})
}

func (x *team) acknowledge() {
	x.T.Helper()
	_, err := x.incidents.Acknowledge(x.Ctx(), x.change(), users.User{ID: users.ID(x.People["ana"]), Name: "ana"})
	require.NoError(x.T, err)
	x.Later(time.Minute)
	x.Pass()
}

func (x *team) resolve() {
	x.T.Helper()
	_, err := x.incidents.Resolve(x.Ctx(), x.change(), true)
	require.NoError(x.T, err)
	x.Later(time.Minute)
	x.Pass()
}

// started returns the targets of the messages that delivery may send now.
func (x *team) started() (targets []string) {
	x.T.Helper()
	queue := pgdelivery.New(x.DB)
	claimed := pgtest.TakeMessages(x.Escalating, queue)
	marked, err := queue.MarkSending(x.Ctx(), x.Holder.ProcessID(), pgtest.Starts(claimed))
	require.NoError(x.T, err)
	var ids []messages.ID
	for _, c := range claimed {
		if marked[c.ID] > 0 {
			targets, ids = append(targets, c.Target), append(ids, c.ID)
		}
	}
	open, _, err := queue.StillOpen(x.Ctx(), x.Holder.ProcessID(), ids)
	require.NoError(x.T, err)
	require.Len(x.T, open, len(ids))
	return targets
}

func TestRespondersAreAddedToAnEscalatingIncident(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	require.NoError(t, x.also("bo"))
	require.NoError(t, x.also("cy"))
	x.Pass()
	x.Pass()
	require.Equal(t, []string{"1.-40.0 primary cy call pending", "1.-20.0 primary bo call pending",
		"1.0.0 primary ana sms pending"}, x.Pages(x.id))
	require.Equal(t, []string{"added: ana paged also bo: bo by call (urgent, named by ana)",
		"added: ana paged also cy: cy by call (urgent, named by ana)"}, x.Timeline(x.id)[1:])
	require.Equal(t, "ana added you to the incident",
		x.Text(`select description from message_changes where change_type = 'target-change' order by id limit 1`))
	require.Equal(t, pgtest.Progress{Step: 1, Active: true, HasDue: true, Due: x.Progress(x.id).Due}, x.Progress(x.id),
		"the plan goes on")

	x.acknowledge()
	require.Equal(t, []string{"1.-40.0 primary cy call cancelled", "1.-20.0 primary bo call cancelled",
		"1.0.0 primary ana sms cancelled"}, x.Pages(x.id),
		"an acknowledgement stops them like the other pages")
}

// An incident whose plan has not begun has the messages of people who were added.
func TestAPageAddedBeforeThePlanBeginsDoesNotStopThePlan(t *testing.T) {
	t.Parallel()
	for name, settle := range map[string]bool{"waits": false, "was sent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTeam(t)
			x.id = x.Open(x.Plan("later", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high",
				Wait: time.Hour}))
			x.Exec(`update incidents set due_at = $2 where id = $1`, x.id, x.Now.Add(8*time.Second))
			require.NoError(t, x.also("bo"))
			x.Pass()
			require.Equal(t, []string{"1.-20.0 primary bo call pending"}, x.Pages(x.id), "the plan waits")
			if settle {
				x.Settle(x.id, "sent")
			}
			x.Later(10 * time.Second)
			x.Pass()
			require.Contains(t, x.Pages(x.id), "1.0.0 primary ana sms pending", "the plan begins")
		})
	}
}

// Whatever happened to incidents and their messages before, a read and the commit that follows it agree on the state of
// the messages: after a pass without other changes no active incident is still due. Each seed is a history of its own;
// a failure names it.
func TestReadAndCommitAgreeAfterRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			t.Parallel()
			h := newHistory(t, seed)
			for range 8 {
				h.open()
				for range 1 + h.random.IntN(9) {
					h.event()
				}
			}
		})
	}
}

// history makes random changes to incidents.
type history struct {
	*team
	plan     int64
	other    int64 // another incident, into which merges go
	silences silences.Store
	queue    *pgdelivery.Queue
	random   *rand.Rand
	events   []string
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	x := newTeam(t)
	h := &history{team: x, other: x.id, silences: pgsilences.New(x.DB), queue: pgdelivery.New(x.DB),
		random: rand.New(rand.NewPCG(27, seed))}
	h.plan = x.Plan("random",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute, Repeat: 1},
		pgtest.Intent{Step: 2, Role: "team", Target: "db", Priority: "urgent", Wait: time.Minute})
	if seed%3 == 0 { // pages beyond two a minute become digests
		aggregatePlan(x.Escalating, h.plan, 2)
	}
	return h
}

// open begins a history with a new incident, whose plan may begin later.
func (h *history) open() {
	h.T.Helper()
	h.other, h.id, h.events = h.id, h.Open(h.plan), []string{"open"}
	h.Exec(`update incidents set due_at = $2 where id = $1`, h.id,
		h.Now.Add(time.Duration(h.random.IntN(3))*8*time.Second))
}

// event makes a random change, then lets the runner pass. Changes that the state of the incident does not allow are
// refused and change nothing.
func (h *history) event() {
	h.T.Helper()
	changes := map[string]func() error{
		"pass":       func() error { return nil },
		"later":      func() error { h.Later(9 * time.Second); return nil },
		"much later": func() error { h.Later(time.Minute); return nil },
		"sent":       func() error { h.Settle(h.id, "sent"); return nil },
		"failed":     func() error { h.Settle(h.id, "failed"); return nil },
		"taken":      func() error { pgtest.TakeMessages(h.Escalating, h.queue); return nil },
		"sending":    func() error { h.started(); return nil },
		"add bo":     func() error { return h.also("bo") },
		"reassign":   func() error { return h.responders.Reassign(h.Ctx(), h.change(), "bo") },
		"acknowledge": func() error {
			_, err := h.incidents.Acknowledge(h.Ctx(), h.change(),
				users.User{ID: users.ID(h.People["ana"]), Name: "ana"})
			return err
		},
		"reopen":   h.simple(h.incidents.Reopen),
		"escalate": h.simple(h.incidents.Escalate),
		"restart":  h.simple(h.incidents.Restart),
		"unsnooze": h.simple(h.incidents.EndSnooze),
		"unmerge":  h.simple(h.incidents.Unmerge),
		"snooze": func() error {
			_, err := h.incidents.Snooze(h.Ctx(), h.change(), incidents.SnoozeFor(time.Hour))
			return err
		},
		"merge": func() error {
			_, err := h.incidents.Merge(h.Ctx(), h.change(), incidents.ID(h.other), "")
			return err
		},
		"resolve": func() error {
			_, err := h.incidents.Resolve(h.Ctx(), h.change(), true)
			return err
		},
		"undo the resolve": func() error {
			_, err := h.incidents.Resolve(h.Ctx(), h.change(), false)
			return err
		},
		"silence": func() error {
			_, err := h.silences.Hide(h.Ctx(),
				map[incidents.ID]silences.Hide{incidents.ID(h.id): {Silence: 1, Until: time.Now().Add(time.Hour),
					Reason: "silenced"}})
			return err
		},
		"end of the silence": func() error {
			if h.ID(`select count(*) from incidents where id = $1 and silenced_until is not null`, h.id) == 0 {
				return nil
			}
			return h.silences.Release(h.Ctx(),
				[]silences.Released{{Subject: silences.Subject{ID: incidents.ID(h.id), ApplicationID: h.App,
					PlanID: h.plan}}})
		},
	}
	names := slices.Sorted(maps.Keys(changes))
	name := names[h.random.IntN(len(names))]
	switch err := changes[name](); {
	case err == nil:
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.Invalid):
		name += " (refused)"
	default:
		require.NoError(h.T, err, "%v, %s", h.events, name)
	}
	h.events = append(h.events, name)
	h.Pass() // the first pass may still read added pages
	h.Pass()
	require.Zero(h.T, h.ID(`select count(*) from incidents where active and due_at <= $1`, h.Now), "%v", h.events)
}

func (h *history) simple(change func(context.Context, incidents.Change) ([]incidents.Acknowledged, error)) func() error {
	return func() error {
		_, err := change(h.Ctx(), h.change())
		return err
	}
}

// The undo of a resolve leads to an exhausted incident whose plan did not end.
func TestAnAcknowledgementStopsPagesAddedAfterTheUndoOfAResolve(t *testing.T) {
	t.Parallel()
	for name, started := range map[string]bool{"waits": false, "was sent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newTeam(t)
			x.resolve()
			_, err := x.incidents.Resolve(t.Context(), x.change(), false)
			require.NoError(t, err)
			require.NoError(t, x.also("bo"))
			x.Pass()
			require.Equal(t, []string{"1.-20.0 primary bo call pending", "1.0.0 primary ana sms cancelled"},
				x.Pages(x.id))
			if started {
				require.Equal(t, []string{"bo"}, x.started())
				return
			}
			x.acknowledge()
			require.Equal(t, "1.-20.0 primary bo call cancelled", x.Pages(x.id)[0])
			require.Empty(t, x.started())
		})
	}
}

// A request that an acknowledgement overtakes pages nobody.
func TestAnAcknowledgementStopsAddedPagesThatDoNotExistYet(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	require.NoError(t, x.also("bo"))
	x.acknowledge()
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, x.Pages(x.id))
	require.Contains(t, x.Timeline(x.id),
		"cancelled: ana paged also bo: nobody is paged, because somebody stopped the escalation meanwhile")
}

func TestRespondersAreAddedToAnAcknowledgedIncident(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.acknowledge()
	require.NoError(t, x.also("bo"))
	x.Pass()
	x.acknowledge()
	require.Equal(t, []string{"1.-20.0 direct bo call pending", "1.0.0 primary ana sms cancelled"}, x.Pages(x.id))
	require.Equal(t, []string{"bo"}, x.started())
	require.False(t, x.Progress(x.id).Active, "the incident stays acknowledged")

	// P8: the recipient cannot be reached.
	x.Exec(`update messages set state = 'failed', failed_for_good = true, settled_at = clock_timestamp(), needs_fallback = true where target = 'bo'`)
	x.Pass()
	require.Equal(t, []string{"1.-20.0 direct bo call failed", "1.-20.0 direct owner call pending",
		"1.0.0 primary ana sms cancelled"}, x.Pages(x.id))
	require.Contains(t, x.Timeline(x.id),
		"fallback: step 1: bo could not be reached in any mode; paging owner by call instead (creator of plan pager)")

	x.resolve()
	require.Empty(t, x.started())
	require.Equal(t, "1.-20.0 direct owner call cancelled", x.Pages(x.id)[1], "a resolve stops it")
	err := x.also("cy")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}

// An alert source acknowledged the incident: it has no owner.
func TestRespondersAreAddedToAnIncidentThatItsSourceAcknowledged(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.Exec(`update incidents set active = false, source_acknowledged = true, exhausted_at = null, version = version + 1, due_at = $1`, x.Now)
	x.Pass()
	require.NoError(t, x.also("bo"))
	x.Pass()
	require.Equal(t, []string{"bo"}, x.started())
}

func TestRespondersAreAddedToAnExhaustedIncident(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	x.Settle(x.id, "sent")
	x.Later(2 * time.Hour)
	x.Pass()
	require.False(t, x.Progress(x.id).Active)
	require.NoError(t, x.also("bo"))
	x.Pass()
	require.Equal(t, []string{"bo"}, x.started())
	x.acknowledge()
	require.Equal(t, "1.-20.0 primary bo call sending", x.Pages(x.id)[0])
}

func TestAddedPagesThatAreRefused(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	for field, p := range map[string]incidents.AddedPage{
		"targets":         {},
		"targets[0].role": {Targets: []incidents.Target{{Role: "boss", Name: "bo"}}},
		"targets[0].name": {Targets: []incidents.Target{{Role: "user", Name: "nobody"}}},
		"targets[1]":      {Targets: []incidents.Target{{Role: "user", Name: "bo"}, {Role: "user", Name: "db"}}},
		"priority":        {Targets: []incidents.Target{{Role: "user", Name: "bo"}}, Priority: "loud"},
		"template":        {Targets: []incidents.Target{{Role: "user", Name: "bo"}}, Template: "none"},
	} {
		err := x.responders.PageAlso(t.Context(), x.change(), p)
		require.True(t, fault.Is(err, fault.Invalid), "%s: %v", field, err)
		require.Equal(t, field, fault.FieldOf(err))
	}
	c := x.change()
	c.IDs[0] = 99
	err := x.responders.PageAlso(t.Context(), c,
		incidents.AddedPage{Targets: []incidents.Target{{Role: "user", Name: "bo"}}})
	require.True(t, fault.Is(err, fault.NotFound), "%v", err)
	require.Zero(t, x.ID(`select count(*) from added_pages`))
}

func TestPeopleArePagedByTheirFullNames(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	for name, full := range map[string]string{"bo": "Bo Lind", "cy": "bo", "boss": "Eve Lind", "owner": "EVE LIND"} {
		x.Exec(`update users set full_name = $2 where name = $1`, name, full)
	}
	require.NoError(t, x.also("bO  lInd"))
	require.NoError(t, x.also("bo"), "log-in names come first")
	x.Pass()
	require.Equal(t, []string{"added: ana paged also bo: bo by call (urgent, named by ana)",
		"added: ana paged also bo: bo by call (urgent, named by ana)"}, x.Timeline(x.id)[1:])
	refused := func(typed, want string) {
		t.Helper()
		err := x.also(typed)
		require.True(t, fault.Is(err, fault.Invalid), "%v", err)
		require.Equal(t, "targets[0].name", fault.FieldOf(err))
		require.Equal(t, want, fault.Public(err))
	}
	refused("eve lind", `several people are called "eve lind": choose boss (Eve Lind), owner (EVE LIND)`)
	refused("lind", `nobody is called "lind": did you mean bo (Bo Lind), boss (Eve Lind), owner (EVE LIND)?`)
	refused("nobody", "there is no such target")
	refused(" ", "there is no such target")
	for n := range 6 {
		x.Exec(`insert into users (name, full_name) values ($1, 'Zoe Hart')`, fmt.Sprintf("zoe%d", n))
	}
	refused("hart", `nobody is called "hart": did you mean zoe0 (Zoe Hart), zoe1 (Zoe Hart), zoe2 (Zoe Hart), `+
		`zoe3 (Zoe Hart), zoe4 (Zoe Hart)?`)
	x.Exec(`update users set active = false where name = 'owner'`)
	require.NoError(t, x.also("eve lind"), "only active people count")

	x.acknowledge()
	require.NoError(t, x.responders.Reassign(t.Context(), x.change(), "BO LIND"))
	err := x.responders.Reassign(t.Context(), x.change(), "hart")
	require.Equal(t, "owner", fault.FieldOf(err))
	require.Contains(t, fault.Public(err), "did you mean zoe0")
	require.Error(t, x.responders.Reassign(t.Context(), x.change(), "owner"), "switched off")
}

func TestAnAcknowledgedIncidentGetsAnotherOwner(t *testing.T) {
	t.Parallel()
	x := newTeam(t)
	err := x.responders.Reassign(t.Context(), x.change(), "bo")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
	x.acknowledge()
	require.NoError(t, x.responders.Reassign(t.Context(), x.change(), "bo"))
	require.NoError(t, x.responders.Reassign(t.Context(), x.change(), "bo"), "again changes nothing")
	x.Pass()
	require.Equal(t, x.People["bo"], x.ID(`select owner_id from incidents`))
	require.Equal(t, []string{"1.-20.0 direct bo sms pending", "1.0.0 primary ana sms cancelled"}, x.Pages(x.id))
	lines := x.Timeline(x.id)
	require.Equal(t, []string{"acknowledged: reassigned from ana to bo by ana through the API",
		"added: paging the new owner bo: bo by sms (high, named by ana)"}, lines[len(lines)-2:])
	require.False(t, x.Progress(x.id).Active)
	err = x.responders.Reassign(t.Context(), x.change(), "nobody")
	require.True(t, fault.Is(err, fault.Invalid), "%v", err)
	x.resolve()
	err = x.responders.Reassign(t.Context(), x.change(), "cy")
	require.True(t, fault.Is(err, fault.Conflict), "%v", err)
}
