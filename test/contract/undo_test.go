package contract

import (
	"fmt"
	"html"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each edit is made, undone, and compared with the calendar before it.
func TestUndoRestoresTheCalendar(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	now := time.Now().Unix()
	s.event("ann", "primary", now-3600, now+day)
	s.event("bob", "primary", now+day, now+2*day)
	linked := decode[m](s.do(bob, post, "/api/v0/events/link", []m{
		{"team": "ops", "role": "shadow", "user": "bob", "start": now + day, "end": now + 2*day}, {"team": "ops",
			"role": "shadow", "user": "bob", "start": now + 2*day, "end": now + 3*day}}).is(201))["link_id"]
	// calendar has the shifts without their numbers, because a deleted shift comes back with a new one. ids has those
	// of the primaries.
	var ids []any
	calendar := func() (all []m) {
		ids = nil
		for _, e := range decode[[]m](s.do(bob, get, "/api/v0/events?team=ops", nil).is(200)) {
			if e["role"] == "primary" {
				ids = append(ids, e["id"])
			}
			delete(e, "id")
			all = append(all, e)
		}
		return all
	}
	for _, edit := range []func() m{
		func() m {
			return m{"action": "create", "team": "ops", "role": "manager", "user": "ann", "start": rfc3339(now + day),
				"end": rfc3339(now + 2*day), "note": "new"}
		},
		func() m {
			return m{"action": "edit", "id": ids[1], "user": "ann", "start": rfc3339(now + 3*day),
				"end": rfc3339(now + 4*day), "note": "moved"}
		},
		func() m {
			return m{"action": "override", "user": "bob", "start": rfc3339(now), "end": rfc3339(now + 3600),
				"event_ids": ids[:1]}
		},
		func() m { return m{"action": "swap_from_now", "events": []m{{"id": ids[0]}, {"id": ids[1]}}} },
		func() m {
			return m{"action": "take", "team": "ops", "role": "primary", "until": rfc3339(now + day + 3600)}
		},
		func() m { return m{"action": "edit_link", "link_id": linked, "user": "ann"} },
		func() m { return m{"action": "delete_link", "link_id": linked} },
		func() m { return m{"action": "delete", "id": ids[1]} },
	} {
		before := calendar()
		body := edit()
		undo := decode[m](s.do(bob, post, "/v1/events/edit", body).is(200))
		require.NotElementsMatch(t, before, calendar(), body)
		undo["action"] = "undo"
		preview := decode[m](s.do(bob, post, "/v1/events/preview", undo).is(200))
		require.Len(t, preview["added"], len(undo["removed"].([]any)), body)
		s.do(viewer, post, "/v1/events/edit", undo).problem(403, "")
		s.do(bob, post, "/v1/events/edit", undo).is(200)
		require.ElementsMatch(t, before, calendar(), body)
		if len(undo["removed"].([]any)) == 0 {
			s.do(bob, post, "/v1/events/edit", undo).problem(412, "") // it is undone already
		}
	}
	require.Contains(t, s.do(bob, get, "/api/v0/audit?team=ops", nil).is(200).body, "edit_undone")
}

func TestUndoLeavesEditsOfOthers(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	now := time.Now().Unix()
	id := s.event("bob", "primary", now+day, now+2*day)
	moved := decode[m](s.do(bob, post, "/v1/events/edit", m{"action": "edit", "id": id, "end": rfc3339(now + 3*day)}).is(200))
	s.do(owner, post, "/v1/events/edit", m{"action": "edit", "id": id, "note": "with care"}).is(200)
	moved["action"] = "undo"
	s.do(bob, post, "/v1/events/edit", moved).problem(412, "")
	s.do(bob, post, "/v1/events/edit", m{"action": "undo"}).problem(400, "changed")
	s.do(bob, post, "/v1/events/edit", m{"action": "undo", "added": "all"}).problem(400, "added")
	s.do(bob, post, "/v1/events/edit", m{"action": "edit", "id": id, "end": now + 3*day}).problem(400, "end")
	s.do(bob, post, "/v1/events/edit", m{"action": "delete", "id": id, "end": rfc3339(now)}).problem(400, "end")
	s.do(bob, post, "/v1/events/edit", m{"action": "delete", "id": id}, "If-Match", `"old"`).problem(412, "")
	forged := moved["changed"].([]any)[0].(m)
	forged["before"].(m)["note"] = "of somebody else"
	s.do(bob, post, "/v1/events/edit", moved).problem(400, "proof")
	delete(moved, "proof")
	s.do(bob, post, "/v1/events/edit", moved).problem(400, "proof")
	preview := decode[m](s.do(bob, post, "/v1/events/preview", m{"action": "delete", "id": id}).is(200))
	preview["action"] = "undo"
	s.do(bob, post, "/v1/events/edit", preview).problem(400, "proof")
}

func TestConflictsAreShownBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	now := time.Now().Unix()
	id := s.event("bob", "primary", now+day, now+2*day)
	away := m{"user": "bob", "start": rfc3339(now + day + 3600), "end": rfc3339(now + day + 7200)}
	of := func(a answer) (roles []any) {
		for _, c := range decode[m](a)["conflicts"].([]any) {
			roles = append(roles, c.(m)["role"])
		}
		return roles
	}
	const at = "/v1/teams/ops/unavailability"
	require.Equal(t, []any{"primary"}, of(s.do(bob, post, at+"?preview=true", away).is(200)))
	s.do(bob, post, at+"?preview=perhaps", away).problem(400, "preview")
	s.do(bob, get, at, nil).says(200, `{"items": [], "next": null}`)
	s.do(bob, post, at, away).is(201)

	shifted := m{"action": "edit", "id": id, "start": rfc3339(now + day + 3600)}
	require.Equal(t, []any{"primary"}, of(s.do(bob, post, "/v1/events/preview", shifted).is(200)))
	shifted["start"] = rfc3339(now + day + 7200)
	require.Empty(t, of(s.do(bob, post, "/v1/events/preview", shifted).is(200)))
	added := m{"action": "create", "team": "ops", "role": "vacation", "user": "bob", "start": rfc3339(now + day),
		"end": rfc3339(now + 2*day)}
	require.Empty(t, of(s.do(bob, post, "/v1/events/preview", added).is(200)), "vacation is not on call")

	// The same mark is in the lists without JavaScript.
	s.event("ann", "secondary", now-60, now+day)
	list := s.do(bob, get, "/oncall/teams/OPS", nil).is(200).body
	require.Regexp(t, `(?s)On call now.*<bdi>ann</bdi>.*Next 14 days.*<bdi>bob</bdi></strong> <span class="chip bad">unavailable`, list)
	own := s.do(bob, get, "/oncall/me", nil).is(200).body
	require.Contains(t, own, "You are not on call.")
	require.Contains(t, own, `<span class="chip bad">unavailable`)
	require.NotContains(t, own, "<bdi>ann</bdi>")
	s.do(bob, get, "/oncall/teams/none", nil).is(404)
}

func TestListOfTeams(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	for i := range 60 {
		s.do(owner, post, "/api/v0/teams", m{"name": fmt.Sprintf("t%02d 🚒", i), "scheduling_timezone": "UTC"}).is(201)
	}
	first := s.do(bob, get, "/oncall/teams", nil).is(200).body
	require.Contains(t, first, `<a href="/oncall/teams/t00%20%F0%9F%9A%92"><bdi>t00 🚒</bdi></a>`)
	more := regexp.MustCompile(`href="(/oncall/teams\?after=[^"]+)">More`).FindStringSubmatch(first)
	require.Len(t, more, 2, first)
	rest := s.do(bob, get, html.UnescapeString(more[1]), nil).is(200).body
	require.Contains(t, rest, "t59 🚒")
	require.NotContains(t, rest, "t00 🚒")
	found := s.do(bob, get, "/oncall/teams?q=bob", nil).is(200).body
	require.Contains(t, found, `<a href="/people/bob">`)
	require.Contains(t, found, "No team has a name with this text.")
}
