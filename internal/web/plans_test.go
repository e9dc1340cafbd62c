package web

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// shelf has plans and a simulation of them.
type shelf struct {
	plans []escalation.PlanSteps
	query filters.Query
	asked simulation.TypedQuestion
	sim   simulation.Simulation
	err   error
}

func (s *shelf) List(_ context.Context, q filters.Query) ([]escalation.Plan, error) {
	s.query = q
	var out []escalation.Plan
	for _, p := range s.plans {
		out = append(out, p.Plan)
	}
	return out, nil
}

func (s *shelf) ByID(_ context.Context, id escalation.PlanID) (escalation.PlanSteps, error) {
	for _, p := range s.plans {
		if p.ID == id {
			return p, nil
		}
	}
	return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
}

func (s *shelf) ByName(_ context.Context, name string) (escalation.PlanSteps, error) {
	for _, p := range s.plans {
		if p.Name == name && p.Active {
			return p, nil
		}
	}
	return escalation.PlanSteps{}, fault.New(fault.NotFound, "no such plan")
}

func (s *shelf) Ask(_ context.Context, a simulation.TypedQuestion) (simulation.Simulation, error) {
	s.asked = a
	return s.sim, s.err
}

func stocked(w *world) {
	one := 1
	p := escalation.Plan{ID: 7, Name: "night & day", Description: "who <wakes>", Creator: "ann", Active: true, CreatedAt: time.Now(),
		ThresholdCount: 10, ThresholdWindow: 15 * time.Minute, AggregationWindow: 5 * time.Minute, AggregationReset: time.Minute,
		Steps: []escalation.Step{
			{Notifications: []escalation.Notification{
				{Priority: users.Urgent, Target: &escalation.Target{Role: "oncall-primary", Name: "db"}, Template: "words", Wait: 90 * time.Second, Repeat: 2},
				{Priority: users.Low, DynamicIndex: &one, Template: "lost", Optional: true},
			}},
			{},
		},
	}
	old := p
	old.ID, old.Active = 6, false
	p.Team = users.OwningTeam{ID: 3, Name: "a/b <c>"}
	w.plans.plans = []escalation.PlanSteps{{Plan: p, Lost: map[string]bool{"lost": true}}, {Plan: old}}
	at := time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)
	w.plans.sim = simulation.Simulation{Question: simulation.Question{Plan: 7, At: at}, Plan: p, End: simulation.EndExhausted, EndedAt: at.Add(90 * time.Minute),
		Pages: []simulation.SimulatedPage{{At: at.Add(time.Hour), Wanted: users.Call, Rule: "primary of team <db>", ModeRule: "own choice",
			HeldUntil: at.Add(2 * time.Hour), New: messages.New{Step: 1, Repeat: 1, Target: "cy", Purpose: messages.Fallback, Priority: users.Urgent, Mode: users.SMS}}},
		Timeline: []incidents.Entry{{At: at, Kind: incidents.EntryStep, Text: "step 1: paging cy"}}, Notes: []string{"Odd."}}
}

func TestPlansAreListedAndLinked(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	status, body := b.get("/plans")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "There is no active plan.")
	stocked(w)
	_, body = b.get("/plans?name=night&before=99")
	require.Contains(t, body, `<a href="/plans/7"><bdi>night &amp; day</bdi></a>`)
	require.Contains(t, body, "who &lt;wakes&gt;")
	require.Equal(t, []filters.Condition{
		{Field: "active", Op: filters.Eq, Values: []any{true}}, {Field: "name", Op: filters.Contains, Values: []any{"night"}},
		{Field: "id", Op: filters.Lt, Values: []any{int64(99)}},
	}, w.plans.query.Conditions)
	w.incident.PlanID = 7
	_, body = b.get("/incidents/257")
	require.Contains(t, body, `<a href="/plans/7"><bdi>db-plan</bdi></a>`)
}

func TestPlanPageDescribesAndSimulatesThePlan(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	stocked(w)
	w.ann.TimeZone = "Europe/Zurich"
	for _, path := range []string{"/plans/7", "/plans/night%20&%20day"} {
		status, body := b.get(path + "?at=2026-11-22T02:00&application=shop&assume=ack-after%3D5m&target=user:ann&target=user:bo&target=user:cy")
		require.Equal(t, http.StatusOK, status)
		for _, want := range []string{
			"Page oncall-primary of db, priority urgent, with template words. Again after 1 min 30 s, 2 times. Then wait 1 min 30 s.",
			"Page target number 1 of the incident, priority low, with template lost (which has no active version). Skipped if nobody can be reached.",
			"Nobody is paged; the next step follows at once.",
			"If one person gets more than 10 pages within 15 min, further pages are held and sent together every 5 min. This ends after 1 min without a page.",
			`<a href="/plans/6">6</a>`, `value="2026-11-22T02:00"`, `value="shop"`, `value="ack-after=5m" selected`, `name="target" value="user:bo"`,
			"&#43;1 h", "Sun 22 Nov 2026 03:00:00 &#43;01:00", "repeat 1, fallback, instead of call<", `in a digest at <time datetime="2026-11-22T03:00:00Z" data-as="full">Sun 22 Nov 2026 04:00:00 &#43;01:00</time>`,
			"primary of team &lt;db&gt;; urgent: own choice", `The plan is exhausted at <time datetime="2026-11-22T02:30:00Z" data-as="full">Sun 22 Nov 2026 03:30:00 &#43;01:00</time>, 1 h 30 min after the incident was opened.`,
			"Odd.", "step 1: paging cy", `Owner: team <a href="/teams/a%2Fb%20%3Cc%3E"><bdi>a/b &lt;c&gt;</bdi></a>`,
		} {
			require.Contains(t, body, want)
		}
		require.Equal(t, simulation.TypedQuestion{Plan: "7", Application: "shop", At: "2026-11-22T02:00", Assume: "ack-after=5m", Targets: []string{"user:ann", "user:bo"},
			Zone: w.plans.asked.Zone}, w.plans.asked)
		require.Equal(t, "Europe/Zurich", w.plans.asked.Zone.String())
	}
	_, body := b.get("/plans/7", "HX-Request", "true")
	require.NotContains(t, body, "<html", "only the panel")
	require.Contains(t, body, `<div id="simulation"`)
	require.Empty(t, w.plans.asked.Targets, "the incident brings none")
	status, _ := b.get("/plans/5")
	require.Equal(t, http.StatusNotFound, status)
	w.plans.plans[0].Active = false
	_, body = b.get("/plans/night%20&%20day")
	require.Contains(t, body, "not active", "the newest version")
}

func TestErrorsOfTheSimulationForm(t *testing.T) {
	t.Parallel()
	w, b := setup(t)
	b.login()
	stocked(w)
	w.plans.err = fault.Invalidf("at", `"soon" is no instant`)
	status, body := b.get("/plans/7?at=soon")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "&#34;soon&#34; is no instant")
	status, body = b.get("/plans/7?at=soon", "HX-Request", "true")
	require.Equal(t, http.StatusOK, status, "else the panel would not change")
	require.Contains(t, body, "is no instant")
	w.plans.err = fault.New(fault.Unavailable, "the database cannot be reached")
	status, _ = b.get("/plans/7")
	require.Equal(t, http.StatusServiceUnavailable, status)
}
