package pg

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// FillCanonicalNames computes the canonical names that are missing. conflicts are the names whose canonical form
// another user has.
func FillCanonicalNames(ctx context.Context, q *db.Queries) (filled int64, conflicts []string, err error) {
	missing, err := q.UsersWithoutCanonicalName(ctx)
	if err != nil || len(missing) == 0 {
		return 0, nil, err
	}
	var p db.SetCanonicalNamesParams
	seen := map[string]bool{}
	for _, m := range missing {
		if key := users.CanonicalName(m.Name); !seen[key] {
			seen[key] = true
			p.Ids, p.Names, p.CanonicalNames = append(p.Ids, int64(m.ID)), append(p.Names,
				m.Name), append(p.CanonicalNames, key)
		}
	}
	set, err := q.SetCanonicalNames(ctx, p)
	if err != nil {
		return 0, nil, err
	}
	done := map[int64]bool{}
	for _, id := range set {
		done[int64(id)] = true
	}
	for _, m := range missing {
		if !done[int64(m.ID)] {
			conflicts = append(conflicts, m.Name)
		}
	}
	return int64(len(set)), conflicts, nil
}

// LogNameConflicts logs users whose canonical name another user has.
func LogNameConflicts(log *zap.Logger, conflicts []string) {
	if len(conflicts) > 0 {
		log.Error("users have the canonical name of another user: rename one of each pair",
			zap.Strings("users", conflicts))
	}
}
