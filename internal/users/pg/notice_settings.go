package pg

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
)

// AddNoticeSetting stores a notice setting with its roles and returns its number. It runs in the caller's transaction.
func AddNoticeSetting(ctx context.Context, q *db.Queries, s oncall.NoticeSetting) (int64, error) {
	id, err := q.CreateNoticeSetting(ctx, db.CreateNoticeSettingParams{
		UserID: s.User, TeamID: s.TeamID, Mode: s.Mode, Type: s.Type, TimeBefore: OptionalSeconds(s.Before), OnlyIfInvolved: s.OnlyMine,
	})
	if err != nil {
		return 0, err
	}
	return id, SetNoticeRoles(ctx, q, id, s.Roles)
}

// SetNoticeRoles adds roles to a setting; an Invalid fault when a role does not exist.
func SetNoticeRoles(ctx context.Context, q *db.Queries, id int64, roles []string) error {
	lower := map[string]bool{}
	names := make([]string, 0, len(roles))
	for _, r := range roles {
		if r = strings.ToLower(postgres.Storable(r)); !lower[r] {
			lower[r] = true
			names = append(names, r)
		}
	}
	added, err := q.AddNoticeRoles(ctx, db.AddNoticeRolesParams{SettingID: id, Roles: names})
	if err == nil && added != int64(len(names)) {
		err = fault.Invalidf("roles", "a role does not exist")
	}
	return err
}

// OptionalSeconds returns whole seconds for a nullable column; nil stays nil.
func OptionalSeconds(d *time.Duration) *int {
	if d == nil {
		return nil
	}
	s := int(*d / time.Second)
	return &s
}
