package contract

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

// seed is the installation that every server starts from: made once, copied for each.
type seed struct {
	database *pgtest.Original
	keys     map[string]string // of applications, by name
}

var seeded = sync.OnceValues(func() (*seed, error) {
	s := &seed{keys: map[string]string{}}
	var err error
	s.database, err = pgtest.NewOriginal(s.fill)
	return s, err
})

// fill makes ann (owner of demo, member of team ops), bob (member of ops), root (administrator), viewer (may only read), gone
// (switched off), the mailing list all-ops; the applications demo (variables host, message), other, power (may speak for people
// and open incidents as others); template words for demo, plan pager.
func (s *seed) fill(database string) error {
	for _, name := range []string{"ann", "bob", "root", "viewer", "gone"} {
		args := []string{"user", "add", name, "--email", name + "@example.com"}
		if name == "root" {
			args = append(args, "--admin")
		}
		if _, err := iris(database, password+"\n", args...); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"contact", "set", "ann", "sms", "+15551110001"}, {"team", "add", "ops", "--member", "ann", "--member", "bob"}} {
		if _, err := iris(database, "", args...); err != nil {
			return err
		}
	}
	for _, name := range []string{"demo", "other", "power"} {
		args := []string{"app", "add", name}
		if name == "demo" {
			args = append(args, "--variable", "host", "--variable", "message")
		}
		key, err := iris(database, "", args...)
		if err != nil {
			return err
		}
		s.keys[name] = strings.TrimSpace(key)
	}
	ctx := context.Background()
	db, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(ctx) }()
	_, err = db.Exec(ctx, `
		update users set read_only = true where name = 'viewer';
		update users set active = false where name = 'gone';
		update applications set allow_authenticating_users = true, allow_other_app_incidents = true where name = 'power';
		update applications set title_variable = 'host', allow_other_app_incidents = false where name = 'demo';
		insert into application_owners select a.id, u.id from applications a, users u where a.name = 'demo' and u.name = 'ann';
		insert into mailing_lists (name, member_count) values ('all-ops', 2);
		insert into mailing_list_members select l.id, u.id from mailing_lists l, users u where u.name in ('ann', 'bob');
		with t as (insert into templates (name, creator_id) select 'words', id from users where name = 'ann' returning id, name),
			act as (insert into template_active select name, id from t)
			insert into template_contents (template_id, application_id, mode, subject, body)
			select t.id, a.id, 'email', 'S {{ host }}', 'B {{ message }}' from t, applications a where a.name = 'demo';
		with p as (insert into plans (name, creator_id, description, threshold_window, threshold_count, aggregation_window, aggregation_reset)
				select 'pager', id, 'a plan', 900, 10, 300, 300 from users where name = 'ann' returning id, name),
			act as (insert into plan_active select name, id from p)
			insert into plan_notifications (plan_id, step, position, priority, role, target_id, template, wait_seconds, repeat, optional)
			select p.id, 1, 0, 'high', 'user', u.target_id, 'words', 60, 1, false from p, users u where u.name = 'ann';`)
	return err
}

// iris runs the operator's command and returns its standard output.
func iris(database, stdin string, args ...string) (string, error) {
	cmd := exec.Command(filepath.Join(bin, "iris"), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + bin, "IRIS_DATABASE_URL=" + database}
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("iris %s: %w: %s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out), nil
}
