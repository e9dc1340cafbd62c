package oncall

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// TargetReader reads people and teams in batches. The answer leaves out what does not exist. It is called from many
// goroutines.
type TargetReader interface {
	// Teams by public target number, active or not, with their members in fixed order, active or not.
	Teams(ctx context.Context, targetIDs []int64) (map[int64]Team, error)
	// UsersByTarget by public target number, active or not.
	UsersByTarget(ctx context.Context, targetIDs []int64) (map[int64]users.User, error)
	// Lists by public target number, active or not.
	Lists(ctx context.Context, targetIDs []int64) (map[int64]List, error)
	// UsersByID by internal number, active or not.
	UsersByID(ctx context.Context, ids []users.ID) (map[users.ID]users.User, error)
}

// Resolver answers who is meant by a role of a target. Paging, API and simulator share it (promise P9). It is safe for
// concurrent use.
//
//   - user: the user.
//   - team: all active members of the team, in fixed order.
//   - mailing-list: all active members of the list, unless it is too large.
//   - manager, director: from the calendar, else the team's own manager or director.
//   - oncall (= primary), oncall-primary, oncall-secondary, oncall-anything: from the calendar. If the calendar has no
//     answer, from the team's fixed order: primary is the first active member, secondary the second, tertiary the
//     third. A short team wraps, so that the one member of a team has every role. A person who holds another of the
//     three roles at that time is skipped while somebody else is left: nobody is paged as their own secondary. Any
//     other role is the first.
//   - round-robin: one active member of the team, another one for the next incident and for the next page of the same
//     incident.
//   - next-on-call: who is primary after the present one, from the calendar, else from the team's fixed order.
//
// Inactive users are never in an answer.
type Resolver struct {
	calendar Calendar
	teams    *Recent[int64, Team]
	targets  *Recent[int64, users.User]
	lists    *Recent[int64, List]
	people   *Recent[users.ID, users.User]
	dummy    FindUser // nil = normal answers; see Dummy
}

// DefaultKeep is how long the resolver caches people and teams.
const DefaultKeep = time.Second

// NewResolver returns a resolver over dir. With a nil calendar it answers from the fixed order. keep is how long people
// and teams are cached; 0 = not at all.
func NewResolver(dir TargetReader, calendar Calendar, keep time.Duration) *Resolver {
	return &Resolver{
		calendar: calendar,
		teams:    NewRecent(keep, dir.Teams),
		targets:  NewRecent(keep, dir.UsersByTarget),
		lists:    NewRecent(keep, dir.Lists),
		people:   NewRecent(keep, dir.UsersByID),
	}
}

// Prefetch reads at once what Resolve will need for the queries. It is an optimisation: Resolve repeats reads that
// failed and returns their errors.
func (r *Resolver) Prefetch(ctx context.Context, queries []Query) error {
	if r.dummy != nil {
		return nil
	}
	var teamIDs, userIDs, listIDs []int64
	for _, q := range queries {
		switch q.Role {
		case RoleUser:
			userIDs = append(userIDs, q.TargetID)
		case RoleMailingList:
			listIDs = append(listIDs, q.TargetID)
		default:
			teamIDs = append(teamIDs, q.TargetID)
		}
	}
	if len(userIDs) > 0 {
		if _, err := r.targets.Get(ctx, userIDs...); err != nil {
			return fmt.Errorf("read users: %w", err)
		}
	}
	ids, err := r.prefetchLists(ctx, listIDs)
	if err != nil {
		return err
	}
	heads, err := r.prefetchTeams(ctx, teamIDs)
	if err != nil {
		return err
	}
	if ids = append(ids, heads...); len(ids) == 0 {
		return nil
	}
	if _, err := r.people.Get(ctx, ids...); err != nil {
		return fmt.Errorf("read members: %w", err)
	}
	return nil
}

// prefetchTeams reads the teams and returns their members and leads.
func (r *Resolver) prefetchTeams(ctx context.Context, teamIDs []int64) ([]users.ID, error) {
	if len(teamIDs) == 0 {
		return nil, nil
	}
	teams, err := r.teams.Get(ctx, teamIDs...)
	if err != nil {
		return nil, fmt.Errorf("read teams: %w", err)
	}
	if calendar, ok := r.calendar.(interface {
		Prefetch(ctx context.Context, teams []int64) error
	}); ok {
		if err := calendar.Prefetch(ctx, teamNumbers(teams)); err != nil {
			return nil, fmt.Errorf("read calendars: %w", err)
		}
	}
	var ids []users.ID
	for _, t := range teams {
		ids = append(ids, t.Members...)
		for _, id := range []users.ID{t.ManagerID, t.DirectorID} {
			if id != 0 {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

func teamNumbers(teams map[int64]Team) []int64 {
	out := make([]int64, 0, len(teams))
	for _, t := range teams {
		out = append(out, t.ID)
	}
	return out
}

// Roles that need no calendar.
const (
	RoleUser     = "user"
	RoleTeam     = "team"
	RoleManager  = "manager"
	RoleDirector = "director"
	// RoleRoundRobin and RoleNextOnCall are roles of teams that /v0 does not list.
	RoleRoundRobin = "round-robin"
	RoleNextOnCall = "next-on-call"

	oncallPrefix = "oncall-"
)

// Resolve answers q at t. An answer without users means nobody; its Rule says why. A NotFound or Invalid fault says,
// for the timeline, why there is no answer. After any other error a retry may help.
func (r *Resolver) Resolve(ctx context.Context, q Query, t time.Time) (Answer, error) {
	if r.dummy != nil {
		return r.always(ctx, q)
	}
	role := strings.ToLower(strings.TrimSpace(q.Role))
	switch role {
	case RoleUser:
		return r.user(ctx, q)
	case RoleMailingList:
		return r.list(ctx, q)
	}
	duty, onCall := strings.CutPrefix(role, oncallPrefix)
	switch {
	case role == "oncall":
		duty, onCall = "primary", true
	case onCall && duty == "":
		onCall = false
	}
	if !onCall && !slices.Contains([]string{RoleTeam, RoleManager, RoleDirector, RoleRoundRobin, RoleNextOnCall}, role) {
		return Answer{}, fault.Invalidf("role", "the role %q of %s is not known", q.Role, named(q))
	}
	teams, err := r.teams.Get(ctx, q.TargetID)
	if err != nil {
		return Answer{}, fmt.Errorf("read team %s: %w", named(q), err)
	}
	team, ok := teams[q.TargetID]
	if !ok {
		return Answer{}, fault.Newf(fault.NotFound, "team %s does not exist", named(q))
	}
	if !team.Active {
		return Answer{Rule: fmt.Sprintf("team %s is not active", team.Name)}, nil
	}
	switch role {
	case RoleTeam:
		return r.members(ctx, team)
	case RoleRoundRobin:
		return r.roundRobin(ctx, team, q)
	case RoleNextOnCall:
		return r.nextOnCall(ctx, team, q.OnlyShifts, t)
	}
	if !onCall {
		duty = role
	}
	return r.holder(ctx, team, duty, q.OnlyShifts, t, func() (Answer, error) {
		if onCall {
			return r.inFixedOrder(ctx, team, duty, t)
		}
		return r.lead(ctx, team, role)
	})
}

// holder asks the calendar for the holder of a role. If it has no answer, holder adds the reason to the answer of
// otherwise. With onlyShifts, a gap in the calendar is answered with nobody.
func (r *Resolver) holder(ctx context.Context, team Team, duty string, onlyShifts bool, t time.Time, otherwise func() (Answer, error)) (Answer, error) {
	answer, ok, err := r.fromCalendar(ctx, team, duty, t)
	if ok || err != nil {
		return answer, err
	}
	if onlyShifts && answer.Gap {
		return Answer{Rule: fmt.Sprintf("nobody is %s of team %s: %s", duty, team.Name, answer.Rule), Gap: true}, nil
	}
	why := answer.Rule
	answer, err = otherwise()
	if why != "" {
		answer.Rule += " (" + why + ")"
	}
	return answer, err
}

func named(q Query) string {
	if q.Name != "" {
		return q.Name
	}
	return fmt.Sprintf("number %d", q.TargetID)
}

func (r *Resolver) user(ctx context.Context, q Query) (Answer, error) {
	found, err := r.targets.Get(ctx, q.TargetID)
	if err != nil {
		return Answer{}, fmt.Errorf("read user %s: %w", named(q), err)
	}
	u, ok := found[q.TargetID]
	if !ok {
		return Answer{}, fault.Newf(fault.NotFound, "user %s does not exist", named(q))
	}
	if !u.Active {
		return Answer{Rule: fmt.Sprintf("user %s is not active", u.Name)}, nil
	}
	return Answer{Users: []users.ID{u.ID}, Rule: "named in the plan"}, nil
}

// fromCalendar asks the calendar and leaves out inactive users. ok is false if the calendar has no answer; the answer's
// rule may say why.
func (r *Resolver) fromCalendar(ctx context.Context, team Team, duty string, t time.Time) (Answer, bool, error) {
	if r.calendar == nil {
		return Answer{}, false, nil
	}
	answer, ok, err := r.calendar.OnCall(ctx, team, duty, t)
	return r.activeOf(ctx, team, duty, answer, ok, err)
}

// activeOf leaves inactive users out of an answer of the calendar.
func (r *Resolver) activeOf(ctx context.Context, team Team, duty string, answer Answer, ok bool, err error) (Answer, bool, error) {
	if err != nil {
		return Answer{}, false, fmt.Errorf("read the calendar of team %s: %w", team.Name, err)
	}
	if !ok {
		return answer, false, nil
	}
	active, err := r.active(ctx, answer.Users)
	if err != nil {
		return Answer{}, false, err
	}
	switch {
	case len(active) == 0 && len(answer.Users) > 0:
		answer.Rule = fmt.Sprintf("who is %s of team %s is not active", duty, team.Name)
	case len(active) == 0 && answer.Rule == "":
		answer.Rule = fmt.Sprintf("nobody is %s of team %s", duty, team.Name)
	case answer.Rule == "":
		answer.Rule = fmt.Sprintf("%s of team %s", duty, team.Name)
	}
	answer.Users = active
	return answer, true, nil
}

// active returns the active users of ids, in the same order, without duplicates.
func (r *Resolver) active(ctx context.Context, ids []users.ID) ([]users.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := r.people.Get(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read members: %w", err)
	}
	var out []users.ID
	for _, id := range ids {
		if found[id].Active && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out, nil
}

func (r *Resolver) members(ctx context.Context, team Team) (Answer, error) {
	active, err := r.active(ctx, team.Members)
	if err != nil {
		return Answer{}, err
	}
	if len(active) == 0 {
		return Answer{Rule: fmt.Sprintf("team %s has no active member", team.Name)}, nil
	}
	return Answer{Users: active, Rule: fmt.Sprintf("everybody in team %s", team.Name)}, nil
}

// lead answers with the team's own manager or director.
func (r *Resolver) lead(ctx context.Context, team Team, role string) (Answer, error) {
	id := team.ManagerID
	if role == RoleDirector {
		id = team.DirectorID
	}
	if id == 0 {
		return Answer{Rule: fmt.Sprintf("team %s has no %s", team.Name, role)}, nil
	}
	active, err := r.active(ctx, []users.ID{id})
	if err != nil {
		return Answer{}, err
	}
	if len(active) == 0 {
		return Answer{Rule: fmt.Sprintf("the %s of team %s is not active", role, team.Name)}, nil
	}
	return Answer{Users: active, Rule: fmt.Sprintf("%s of team %s", role, team.Name)}, nil
}

// places maps a role to the index of its holder in the fixed order.
var places = map[string]int{RolePrimary: 0, RoleSecondary: 1, roleTertiary: 2}

const roleTertiary = "tertiary"

var ordinals = []string{"first", "second", "third"}

func ordinal(place int) string {
	if place < len(ordinals) {
		return ordinals[place]
	}
	return fmt.Sprintf("number %d", place+1)
}

func (r *Resolver) inFixedOrder(ctx context.Context, team Team, duty string, t time.Time) (Answer, error) {
	active, err := r.active(ctx, team.Members)
	if err != nil {
		return Answer{}, err
	}
	if len(active) == 0 {
		return Answer{Rule: fmt.Sprintf("nobody is %s: team %s has no active member", duty, team.Name)}, nil
	}
	others, err := r.otherHolders(ctx, team, duty, t)
	if err != nil {
		return Answer{}, err
	}
	usual := places[duty] % len(active)
	place, why := usual, ""
	for i := range active {
		if next := (usual + i) % len(active); !slices.Contains(others, active[next]) {
			place = next
			break
		}
	}
	if place != usual {
		why = fmt.Sprintf(", because the %s is already on call in another role", ordinal(usual))
	}
	return Answer{
		Users: []users.ID{active[place]},
		Rule:  fmt.Sprintf("%s of team %s: %s in its fixed order%s", duty, team.Name, ordinal(place), why),
	}, nil
}

// otherHolders returns the holders of the other paged roles: for the secondary the primary, for the tertiary both, and
// for the primary the calendar's secondary.
func (r *Resolver) otherHolders(ctx context.Context, team Team, duty string, t time.Time) ([]users.ID, error) {
	switch duty {
	case RolePrimary:
		answer, _, err := r.fromCalendar(ctx, team, RoleSecondary, t)
		return answer.Users, err
	case RoleSecondary, roleTertiary:
		var out []users.ID
		for _, above := range []string{RolePrimary, RoleSecondary} {
			if above == duty {
				break
			}
			answer, ok, err := r.fromCalendar(ctx, team, above, t)
			if !ok && err == nil {
				answer, err = r.inFixedOrder(ctx, team, above, t)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, answer.Users...)
		}
		return out, nil
	}
	return nil, nil
}
