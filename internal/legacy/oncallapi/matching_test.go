package oncallapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// tag returns the ETag of a path.
func (f *fixture) tag(path string) string {
	f.Helper()
	rec := f.do(bob, "GET", path, "")
	require.Equal(f, http.StatusOK, rec.Code, rec.Body)
	tag := rec.Header().Get("ETag")
	require.Regexp(f, `^"[0-9a-f]{24}"$`, tag)
	return tag
}

func TestEditOfAChangedObjectIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	shift := fmt.Sprintf("/api/v0/events/%d", f.event("ann", "primary", 5, 2))
	schedule := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`,
		week))
	rotation := func(name string) string {
		return `{"name":"` + name + `","role":"primary","roster":"ops-roster","layers":[{"start":"2026-11-23T09:00","every":1,"unit":"days","members":[{"user":"ann"}]}]}`
	}
	id := decode[struct{ ID int64 }](f, ann, "POST", "/v1/teams/ops/rotations", rotation("a")).ID
	for path, edit := range map[string]func(n int) string{
		shift: func(n int) string { return fmt.Sprintf(`{"note":"n%d"}`, n) },
		schedule: func(n int) string {
			return fmt.Sprintf(`{"auto_populate_threshold":%d}`,
				10+n)
		},
		fmt.Sprintf("/v1/rotations/%d", id): func(n int) string { return rotation(fmt.Sprint("r", n)) },
	} {
		seen := f.tag(path)
		require.Equal(t, seen, f.tag(path), "looking changes nothing")
		require.Equal(t, 200, f.do(ann, "PUT", path, edit(1), "If-Match", seen).Code, path)
		require.NotEqual(t, seen, f.tag(path))
		refused := f.do(ann, "PUT", path, edit(2), "If-Match", seen)
		require.Equal(t, http.StatusPreconditionFailed, refused.Code, path)
		require.Contains(t, refused.Body.String(), "somebody changed this meanwhile")
		require.Equal(t, 200, f.do(ann, "PUT", path, edit(3), "If-Match", `"other", W/`+f.tag(path)).Code,
			"any of several, also as a proxy weakens it")
		require.Equal(t, 200, f.do(ann, "PUT", path, edit(4), "If-Match", "*").Code)
		require.Equal(t, 200, f.do(ann, "PUT", path, edit(5)).Code, "clients of Oncall send none")
	}
	seen := f.tag(schedule)
	f.ok(ann, "POST", schedule+"/populate", fmt.Sprintf(`{"start":%d}`, f.hour(24)))
	require.Equal(t, seen, f.tag(schedule), "a populate is no edit")

	require.Equal(t, http.StatusPreconditionFailed, f.do(ann, "DELETE", shift, "", "If-Match", `"stale"`).Code)
	require.Equal(t, 200, f.do(ann, "DELETE", shift, "", "If-Match", f.tag(shift)).Code)
}

// crossing runs a function after a request has read an object and before the request stores its change.
type crossing struct {
	planning.ScheduleChanges
	meanwhile func()
}

func (c *crossing) Update(ctx context.Context, id oncall.ScheduleID, e scheduling.Edit, by oncall.By) error {
	if run := c.meanwhile; run != nil {
		c.meanwhile = nil
		run()
	}
	return c.ScheduleChanges.Update(ctx, id, e, by)
}

type crossingNotices struct {
	personal.NoticeStore
	meanwhile func()
}

func (c *crossingNotices) Update(ctx context.Context, id int64, p oncall.NoticePatch) error {
	if run := c.meanwhile; run != nil {
		c.meanwhile = nil
		run()
	}
	return c.NoticeStore.Update(ctx, id, p)
}

// Two people change different fields of one schedule, shift or setting at the same time: both changes are stored.
func TestConcurrentEditsOfDifferentFieldsAreBothStored(t *testing.T) {
	t.Parallel()
	var schedules *crossing
	var notices *crossingNotices
	f := newFixture(t, func(d *deps) {
		schedules, notices = &crossing{ScheduleChanges: d.Planning.Changes}, &crossingNotices{NoticeStore: d.Personal.Notices}
		d.Planning.Changes, d.Personal.Notices = schedules, notices
	})
	schedule := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`,
		week))
	schedules.meanwhile = func() {
		f.want(200, "", root, "PUT", schedule,
			`{"role":"secondary","scheduler":{"name":"round-robin","data":["bob","ann"]}}`)
	}
	f.want(200, "", ann, "PUT", schedule, `{"auto_populate_threshold":42}`)
	got := decode[struct {
		Role      string
		Threshold int `json:"auto_populate_threshold"`
		Scheduler struct{ Data []string }
	}](f, bob, "GET", schedule, "")
	require.Equal(t, []any{"secondary", 42, []string{"bob", "ann"}}, []any{got.Role, got.Threshold, got.Scheduler.Data})

	schedules.meanwhile = func() { f.exec(`update schedules set team_id = (select id from teams where name = 'empty')`) }
	f.want(403, says("Unauthorized", `Action not allowed: "ann" is not an admin for "empty"`), ann, "PUT", schedule,
		`{"auto_populate_threshold":43}`)

	id := decode[struct{ ID int64 }](f, bob, "POST", "/api/v0/users/bob/notifications",
		`{"team":"ops","roles":["primary"],"mode":"email","type":"oncall_reminder","time_before":3600}`).ID
	setting := fmt.Sprintf("/api/v0/notifications/%d", id)
	notices.meanwhile = func() {
		f.want(200, "", bob, "PUT", setting,
			`{"mode":"sms","roles":["primary","secondary"]}`)
	}
	f.want(200, "", bob, "PUT", setting, `{"time_before":7200}`)
	all, err := pg.NewNotices(f.db, nil).ByUser(t.Context(),
		users.ID(f.count(`select id from users where name = 'bob'`)))
	require.NoError(t, err)
	require.Equal(t, users.SMS, all[0].Mode)
	require.Equal(t, []string{"primary", "secondary"}, all[0].Roles)
	require.InDelta(t, 7200, all[0].Before.Seconds(), 0)
	notices.meanwhile = func() { f.want(200, "", bob, "DELETE", setting, "") }
	f.want(404, says("404 Not Found", ""), bob, "PUT", setting, `{"time_before":60}`)
	f.want(404, says("404 Not Found", ""), bob, "PUT", setting, `{"roles":["boss"]}`)
}
