package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
)

// crowd makes ten teams of twenty people. Each person has a shift that begins within a day and one that ends within two
// hours, and reminders of both: four hundred reminders are due at the same time.
const crowd = `
insert into users (name, full_name) select 'u' || n, 'Person ' || n from generate_series(1, 200) n;
insert into user_contacts (user_id, mode, destination) select id, 'email', name || '@example.com' from users where name ~ '^u\d';
insert into teams (name) select 'team' || n from generate_series(1, 10) n;
insert into team_members (team_id, user_id, position)
	select t.id, u.id, u.id from users u join teams t on t.name = 'team' || (1 + substr(u.name, 2)::int % 10) where u.name ~ '^u\d';
insert into notice_settings (user_id, team_id, mode, type, time_before, changed_at)
	select m.user_id, m.team_id, 'email', v.type, v.before, now() - interval '1 year' from team_members m join users u on u.id = m.user_id and u.name ~ '^u\d',
		(values ('oncall_reminder', 86400), ('offcall_reminder', 7200)) v (type, before);
insert into notice_setting_roles (setting_id, role_id) select n.id, r.id from notice_settings n, oncall_roles r where r.name in ('primary', 'secondary') on conflict do nothing;
insert into shifts (team_id, role_id, user_id, starts_at, ends_at, changed_at)
	select m.team_id, r.id, m.user_id, now() + v.start, now() + v.stop, now() - interval '1 month' from team_members m join users u on u.id = m.user_id and u.name ~ '^u\d',
		(values ('primary', interval '20 hours', interval '30 hours'), ('secondary', interval '-30 hours', interval '1 hour')) v (role, start, stop)
	join oncall_roles r on r.name = v.role;
`

// One of two processors is killed while reminders and notices of all types are sent. All of them reach people. No
// message is made twice, and a mail is sent again only if its first attempt is in doubt.
func TestRemindersSurviveAKilledProcessor(t *testing.T) {
	t.Parallel()
	s := newStage(t, options{processors: 2})
	s.allOwned(15*time.Second, 2)
	s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters", map[string]any{"name": "all"}, nil)
	for _, name := range []string{"ann", "bob"} {
		s.edit("ann", http.MethodPost, "/api/v0/teams/ops/rosters/all/users", map[string]any{"name": name}, nil)
	}
	for _, kind := range []string{"event_created", "event_edited", "event_deleted", "event_swapped", "event_substituted"} {
		s.edit("bob", http.MethodPost, "/api/v0/users/bob/notifications",
			map[string]any{"team": "ops", "roles": []string{"primary"}, "mode": "email", "type": kind,
				"only_if_involved": false}, nil)
	}
	s.vendors.SMTP.Behave(pretend.Behaviour{Do: pretend.Fine, DelayMS: 100})
	_, err := s.db.Exec(t.Context(), crowd)
	require.NoError(t, err)
	now := time.Now().Unix()
	shift := func(user string, start, end int64) (id int64) {
		s.edit("ann", http.MethodPost, "/api/v0/events", map[string]any{"team": "ops", "user": user, "role": "primary",
			"start": start, "end": end}, &id)
		return id
	}
	a, b, c := shift("ann", now+3600, now+7200), shift("bob", now+7200, now+9600), shift("ann", now+9600, now+9900)
	s.edit("ann", http.MethodPut, fmt.Sprintf("/api/v0/events/%d", a), map[string]any{"note": "hm"}, nil)
	s.edit("ann", http.MethodPost, "/api/v0/events/swap",
		map[string]any{"events": []map[string]any{{"id": a}, {"id": b}}}, nil)
	s.edit("ann", http.MethodPost, "/api/v0/events/override",
		map[string]any{"event_ids": []int64{b}, "start": now + 7300, "end": now + 7400, "user": "bob"}, nil)
	s.edit("ann", http.MethodDelete, fmt.Sprintf("/api/v0/events/%d", c), nil, nil)

	reminders := func(of string) map[string]int {
		found := map[string]int{}
		for _, e := range s.vendors.Log().Accepted() {
			if e.Mode == "email" && strings.Contains(e.Subject, of) {
				found[e.To+" "+e.Subject]++
			}
		}
		return found
	}
	s.eventually(60*time.Second, "the first reminders to leave",
		func() bool { return len(reminders("shift for team")) > 20 })
	s.processors[0].signal(syscall.SIGKILL)
	s.eventually(120*time.Second, "everybody to be reminded of everything", func() bool {
		return len(reminders("begins in 1 day")) == 200 && len(reminders("ends in 2 hours")) == 200
	})
	for subject, n := range map[string]int{"New: primary shift": 2, "Changed: ": 1, "Swapped: ": 1, "Covered: ": 1, "Deleted: ": 1} {
		s.eventually(30*time.Second, subject, func() bool { return len(reminders(subject)) == n })
	}
	s.settled(90 * time.Second)
	require.Equal(t, 407, s.count(`select count(*) from (select id from messages union select id from message_history) m`), "each message exists once")
	require.Zero(t, s.count("select count(*) from notices"))
	s.check(nil)
}
