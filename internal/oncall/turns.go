package oncall

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// turn returns the place of the member whose turn it is, of n > 0 members. Of each n consecutive incidents, from a
// multiple of n, each member gets one; the order begins anywhere in each such block, and round moves it on. It needs no
// stored counter, so a burst of incidents waits for no row, and every process gives the same answer. The number modulo
// n would be no fair choice: alerts that always fire together would page the same member each time.
func turn(incident int64, round, n int) int {
	number, members := uint64(max(incident, 0)), uint64(n)
	return int((number%members + mix(number/members)%members + uint64(max(round, 0))) % members)
}

// mix is the finaliser of SplitMix64: neighbouring numbers give unrelated results.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// roundRobin answers with the member whose turn it is.
func (r *Resolver) roundRobin(ctx context.Context, team Team, q Query) (Answer, error) {
	answer, err := r.members(ctx, team)
	if err != nil || len(answer.Users) == 0 {
		return answer, err
	}
	place := turn(q.Turn, q.Round, len(answer.Users))
	return Answer{
		Users: answer.Users[place : place+1],
		Rule:  fmt.Sprintf("round-robin in team %s: %d of %d", team.Name, place+1, len(answer.Users)),
	}, nil
}

// nextOnCall answers with who is primary after the present one. If the calendar does not know, it is the member after
// the present primary in the fixed order.
func (r *Resolver) nextOnCall(ctx context.Context, team Team, onlyShifts bool, t time.Time) (Answer, error) {
	if r.calendar != nil {
		answer, ok, err := r.calendar.NextOnCall(ctx, team, RolePrimary, t)
		answer, ok, err = r.activeOf(ctx, team, "next "+RolePrimary, answer, ok, err)
		if err != nil || ok && len(answer.Users) > 0 {
			return answer, err
		}
	}
	present, err := r.holder(ctx, team, RolePrimary, onlyShifts, t,
		func() (Answer, error) { return r.inFixedOrder(ctx, team, RolePrimary, t) })
	if err != nil || present.Gap {
		return present, err
	}
	active, err := r.active(ctx, team.Members)
	if err != nil {
		return Answer{}, err
	}
	if len(active) == 0 {
		return Answer{Rule: fmt.Sprintf("nobody is next on call: team %s has no active member", team.Name)}, nil
	}
	place := 0
	if len(present.Users) > 0 {
		place = (slices.Index(active, present.Users[0]) + 1) % len(active)
	}
	return Answer{
		Users: active[place : place+1],
		Rule:  fmt.Sprintf("next on call of team %s: after the primary in its fixed order", team.Name),
	}, nil
}
