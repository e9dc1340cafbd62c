package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// canonicalNamesSince is the migration that adds users.canonical_name.
const canonicalNamesSince = 30

// canonicalConflicts groups names that have the same canonical form, sorted; names without a conflict are left out.
func canonicalConflicts(names []string) []string {
	groups := map[string][]string{}
	for _, n := range names {
		key := users.CanonicalName(n)
		groups[key] = append(groups[key], n)
	}
	var out []string
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if group := groups[key]; len(group) > 1 {
			slices.Sort(group)
			out = append(out, fmt.Sprintf("%+q", group))
		}
	}
	return out
}

// refuseNameConflicts returns a Conflict fault that lists users whose names have the same canonical form, if the migration
// that makes it unique has not been applied. It changes nothing.
func refuseNameConflicts(ctx context.Context, conn *sql.DB, have int64) error {
	if have == 0 || have >= canonicalNamesSince {
		return nil
	}
	rows, err := conn.QueryContext(ctx, "select name from users order by name")
	if err != nil {
		return MapError(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return MapError(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		return MapError(err)
	}
	if conflicts := canonicalConflicts(names); len(conflicts) > 0 {
		return fault.Newf(fault.Conflict, "nothing was migrated: these users have names that are the same to people (NFKC, ignoring case): %s. "+
			"Rename or delete all but one of each, then migrate again", strings.Join(conflicts, "; "))
	}
	return nil
}

// FillCanonicalNames computes the canonical names that are missing. conflicts are the names whose canonical form another user
// has.
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
			p.Ids, p.Names, p.CanonicalNames = append(p.Ids, int64(m.ID)), append(p.Names, m.Name), append(p.CanonicalNames, key)
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
		log.Error("users have the canonical name of another user: rename one of each pair", zap.Strings("users", conflicts))
	}
}
