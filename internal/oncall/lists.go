package oncall

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// RoleMailingList is the role of everybody on a mailing list.
const RoleMailingList = "mailing-list"

// List is a mailing list: a name for many people, as a target.
type List struct {
	TargetID int64
	Name     string
	Active   bool
	Members  []users.ID // in the order of their ids, active or not
	// Size is the number of members in the directory that the list comes from. It may be larger than len(Members).
	Size int
	// Limit is the size from which the list resolves to nobody; 0 = no limit. LimitLists sets it.
	Limit int
}

// size is the larger of Size and the number of known members.
func (l List) size() int { return max(l.Size, len(l.Members)) }

// LimitLists returns a reader over dir whose mailing lists of limit members or more resolve to nobody: paging everybody
// does not reach the person who should act. A limit of 0 or less means no limit.
func LimitLists(dir TargetReader, limit int) TargetReader {
	if limit <= 0 {
		return dir
	}
	return limited{dir, limit}
}

type limited struct {
	TargetReader
	limit int
}

// Lists implements TargetReader.
func (d limited) Lists(ctx context.Context, targetIDs []int64) (map[int64]List, error) {
	found, err := d.TargetReader.Lists(ctx, targetIDs)
	for id, l := range found {
		l.Limit = d.limit
		found[id] = l
	}
	return found, err
}

// list answers with the active members of a mailing list.
func (r *Resolver) list(ctx context.Context, q Query) (Answer, error) {
	found, err := r.lists.Get(ctx, q.TargetID)
	if err != nil {
		return Answer{}, fmt.Errorf("read mailing list %s: %w", named(q), err)
	}
	l, ok := found[q.TargetID]
	switch {
	case !ok:
		return Answer{}, fault.Newf(fault.NotFound, "mailing list %s does not exist", named(q))
	case !l.Active:
		return Answer{Rule: fmt.Sprintf("mailing list %s is not active", l.Name)}, nil
	case l.Limit > 0 && l.size() >= l.Limit:
		return Answer{Rule: fmt.Sprintf("mailing list %s is too large: it has %d members, and lists of %d or more are not unrolled",
			l.Name, l.size(), l.Limit)}, nil
	}
	active, err := r.active(ctx, l.Members)
	if err != nil {
		return Answer{}, err
	}
	if len(active) == 0 {
		return Answer{Rule: fmt.Sprintf("mailing list %s has no active member", l.Name)}, nil
	}
	return Answer{Users: active, Rule: fmt.Sprintf("everybody on mailing list %s", l.Name)}, nil
}

// prefetchLists reads the lists and returns the members of those below the limit.
func (r *Resolver) prefetchLists(ctx context.Context, ids []int64) ([]users.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := r.lists.Get(ctx, ids...)
	if err != nil {
		return nil, fmt.Errorf("read mailing lists: %w", err)
	}
	var members []users.ID
	for _, l := range found {
		if l.Active && (l.Limit == 0 || l.size() < l.Limit) {
			members = append(members, l.Members...)
		}
	}
	return members, nil
}
