package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

func addNoticeSetting(ctx context.Context, q *db.Queries, s oncall.NoticeSetting) (int64, error) {
	id, err := q.CreateNoticeSetting(ctx, db.CreateNoticeSettingParams{
		UserID: int64(s.User), TeamID: s.TeamID, Mode: string(s.Mode), Type: s.Type, TimeBefore: optionalSeconds(s.Before), OnlyIfInvolved: s.OnlyMine,
	})
	if err != nil {
		return 0, err
	}
	return id, setNoticeRoles(ctx, q, id, s.Roles)
}

func setNoticeRoles(ctx context.Context, q *db.Queries, id int64, roles []string) error {
	lower := map[string]bool{}
	names := make([]string, 0, len(roles))
	for _, r := range roles {
		if r = strings.ToLower(storable(r)); !lower[r] {
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

func optionalSeconds(d *time.Duration) *int32 {
	if d == nil {
		return nil
	}
	s := int32(*d / time.Second)
	return &s
}
