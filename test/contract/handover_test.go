package contract

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Walks the doors through which a member gives the shift of somebody else to another person.
func TestAMemberWhoChangesShiftsOfOthersNotifiesThem(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	at := now + day
	sides := func(a, b int64) []m { return []m{{"id": a}, {"id": b}} }
	for _, door := range []struct {
		method, path string
		body         func(anns, bobs int64) m
	}{
		{post, "/v1/events/swap", func(a, b int64) m { return m{"events": sides(a, b)} }},
		{post, "/v1/events/edit", func(a, b int64) m { return m{"action": "swap", "events": sides(a, b)} }},
		{post, "/v1/events/edit", func(a, b int64) m { return m{"action": "swap_from_now", "events": sides(a, b)} }},
		{post, "/v1/events/edit", func(a, _ int64) m {
			return m{"action": "override", "event_ids": []int64{a}, "start": rfc3339(at), "end": rfc3339(at + day/2), "user": "bob"}
		}},
		{post, "/v1/events/edit", func(a, _ int64) m { return m{"action": "edit", "id": a, "user": "bob"} }},
		{post, "/api/v0/events/swap", func(a, b int64) m { return m{"events": sides(a, b)} }},
		{post, "/api/v0/events/override", func(a, _ int64) m {
			return m{"start": at, "end": at + day/2, "event_ids": []int64{a}, "user": "bob"}
		}},
		{put, "/api/v0/events/%d", func(int64, int64) m { return m{"user": "bob"} }},
	} {
		anns, bobs := s.event("ann", "primary", at, at+day), s.event("bob", "primary", at+day, at+2*day)
		path := door.path
		if door.method == put {
			path = fmt.Sprintf(path, anns)
		}
		before := s.number(toldAnn)
		require.Less(t, s.do(bob, door.method, path, door.body(anns, bobs)).status, 300)
		require.Equal(t, before+1, s.number(toldAnn), "%s %s", door.method, path)
		at += 3 * day
	}
	anns, bobs := s.event("ann", "primary", at, at+day), s.event("bob", "primary", at+day, at+2*day)
	before := s.number("select count(*) from notices where kind = 'shifts_handed_over'")
	s.do(owner, post, "/v1/events/swap", m{"events": sides(anns, bobs)}).is(204)
	require.Equal(t, before, s.number("select count(*) from notices where kind = 'shifts_handed_over'"),
		"an administrator of the team plans")
}

const toldAnn = `select count(*) from notices n where n.kind = 'shifts_handed_over'
	and n.user_ids = array[(select id from users where name = 'ann')] and n.by_id = (select id from users where name = 'bob')`
