//go:build mariadb

package imports_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/golden"
	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// TestIrisOddRows compares every line of the report about a database full of odd rows, and what became of their values.
func TestIrisOddRows(t *testing.T) {
	t.Parallel()
	s := newStage(t, odd...)
	code, report := s.move()
	require.Equal(t, 3, code, "written, and something was lost")
	require.True(t, report.Written)
	accounted(t, report)
	told := "Not taken:\n" + strings.Join(reasons(report, imports.NotTaken), "\n") + "\n\nNotes:\n" +
		strings.Join(reasons(report, imports.Note), "\n") + "\n"
	golden.Equal(t, "testdata/iris_odd.txt", told)

	require.Equal(t, []string{
		`2000|2022-01-01 00:00:00|2022-01-01 00:00:00|-|{"unreadable_context":"{\"host\": \"cut o"}|0|0`,
		`2001|2022-01-02 00:00:00|2022-01-02 00:00:00|-|{}|0|0`,
		`2002|1970-01-01 00:00:00|1970-01-01 00:00:00|-|[1, 2]|0|0`,
		`2005|2022-01-01 00:00:00|2022-01-01 00:00:00|-|{}|0|1`,
		`2006|2022-01-01 00:00:00|2022-01-01 00:00:00|ann|{}|0|0`,
		`2007|2022-01-01 00:00:00|2022-01-01 00:00:00|-|{}|0|0`,
		`2008|2022-01-01 00:00:00|2022-01-01 00:00:00|-|{"a": 1, "a": ["nan", "NaN"]}|0|0`,
	}, s.ours("select i.id, i.created_at, i.updated_at, u.name, c.context::text, i.active, i.resolved from incidents i join incident_contexts c on c.incident_id = i.id left join users u on u.id = i.owner_id where i.id >= 2000"))
	require.Equal(t, []string{"zero  byte"}, s.ours("select content from comments where id = 62"))
	require.Equal(t, []string{"Ãœbung|plain"},
		s.ours("select subject, body from template_contents where template_id = 10"), "as it is, not guessed")
	require.Equal(t, []string{"42|trailing|1"},
		s.ours("select target_id, name, active from users where target_id = 42"))
	require.Equal(t, []string{
		"6000|2022|im|whenever|sent|user", "6001|2022||high|dropped|user", "6004|2022|drop|high|sent|user", "6005|2022|email|high|sent|literal",
		"6010|2022||-|sent|user", "6011|2022|email|low|failed|user",
	}, s.ours("select id, extract(year from created_at)::int, mode, priority, state, split_part(recipient, ':', 1) from message_history where id >= 6000"))
	require.Equal(t, []string{"1001|0", "1007|0", "1008|0"},
		s.ours("select id, wait_seconds from plan_notifications where plan_id = 10"))
	require.Equal(t, []string{"2147483647|-"},
		s.ours("select threshold_window, tracking_type from plans where id = 10"))
	require.Empty(t, s.ours("select id from applications where name = 'a:b' or id = 20"))
	require.Equal(t, []string{"0|0"}, s.ours("select count(key_sealed), count(secondary_key_sealed) from applications where name = 'keyless'"))

	require.Equal(t, []string{"nouser|Asia/Tokyo|pasted@example.com"},
		s.ours("select u.name, u.time_zone, c.destination from users u join user_contacts c on c.user_id = u.id where u.name = 'nouser'"))
	require.Empty(t, s.ours("select name from target_roles where name = ''"))

	require.Equal(t, []string{"high|sms", "low|email", "medium|sms", "urgent|call"},
		s.ours("select name, default_mode from priorities"))

	before := s.contents()
	code, report = s.move()
	require.Equal(t, 3, code, "what is lost stays lost")
	require.Zero(t, report.Taken())
	require.Equal(t, before, s.contents(), "a second run changes nothing")
}

// TestIrisModesByAnotherName: an operator maps modes that do not exist here.
func TestIrisModesByAnotherName(t *testing.T) {
	t.Parallel()
	s := newStage(t, odd...)
	code, report := s.move("--mode", "im=webhook", "--mode", "hipchat=email")
	require.Equal(t, 3, code)
	require.NotContains(t, strings.Join(reasons(report, imports.NotTaken), "\n"), "there is no mode")
	require.Equal(t, []string{"webhook|ann-im"},
		s.ours("select mode, destination from user_contacts where destination = 'ann-im'"))
	require.Equal(t, []string{"high|email", "urgent|sms"},
		s.ours("select m.priority, m.mode from user_modes m join users u on u.id = m.user_id where u.name = 'ann'"))
	require.Equal(t, []string{"webhook"}, s.ours("select mode from message_history where id = 6000"))
	require.Equal(t, []string{"webhook"}, s.ours("select tracking_type from plans where id = 12"))
}

// TestIrisTextOfAllKinds: text is imported correctly from columns of any character set.
func TestIrisTextOfAllKinds(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	words := "äöü € “quoted” ÿþ Ž"
	s.mysql("update application set summary_template = '" + words + "' where id = 1")
	for i, set := range []string{"latin1", "utf8", "utf8mb4", "cp1251", "utf16"} {
		text := words
		switch set {
		case "cp1251":
			text = "Привет"
		case "utf8mb4", "utf16":
			text += " 🔥 漢字"
		}
		table := "app_" + set
		s.mysql("create table " + table + " (content text character set " + set + ")")
		s.mysql("insert into " + table + " values ('" + text + "')")
		s.mysql("alter table comment modify content text character set utf8mb4 not null; insert into comment (id, incident_id, created, user_id, content) select " +
			string(rune('0'+i)) + " + 200, 1000, '2024-01-01', 10, content from " + table + "; drop table " + table)
	}
	s.mysql("alter table template_content modify body varchar(200) character set cp1251 not null; insert into template_content (template_id, application_id, mode_id, subject, body) values (3, 1, 8, '" + words + "', 'Привет')")
	s.mysql("alter table plan modify description blob; update plan set description = x'c3a9ff' where id = 1")
	code, report := s.move()
	require.Equal(t, 3, code)
	require.Equal(t, []string{"plans: description: bytes that are not UTF-8 were replaced (2) plan 1 Night; plan 2 Night"}, reasons(report, imports.NotTaken))
	require.Equal(t, []string{words}, s.ours("select summary_template from applications where id = 1"))
	require.Equal(t, s.theirs("select id, content from comment where id >= 200"),
		s.ours("select id, content from comments where id >= 200"))
	require.Len(t, s.ours("select id from comments where id >= 200"), 5)
	require.Equal(t, []string{words + "|Привет"},
		s.ours("select subject, body from template_contents where template_id = 3"))
	require.Equal(t, []string{"é\uFFFD"}, s.ours("select description from plans where id = 1"))
}

// TestIrisOfAnotherVersion: older schemas lack tables and columns; newer ones have more.
func TestIrisOfAnotherVersion(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	s.mysql("set foreign_key_checks = 0; drop table application_custom_sender_address; drop table twilio_retry; drop table device; alter table application drop column secondary_key; alter table incident drop column resolved; alter table incident add column bucket_id int not null default 5")
	code, report := s.move()
	require.Zero(t, code, reasons(report, imports.NotTaken))
	require.Equal(t, []string{"7"}, s.ours("select count(*) from incidents where not resolved"))
}
