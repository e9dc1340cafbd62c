//go:build mariadb

package imports_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const marks = "select u.name, c.mode, c.verified_destination is not null and c.verified_destination = c.destination from user_contacts c join users u on u.id = c.user_id"

// TestImportedContactsAreVerifiedUnlessShared: an imported contact says who sent a reply unless another person has it,
// also from an earlier import, or it is an application's mailbox.
func TestImportedContactsAreVerifiedUnlessShared(t *testing.T) {
	t.Parallel()
	s := newStage(t, good...)
	// Noadmin has ann's number in another notation, and Bjørn's and carla's names in Slack differ in case only.
	s.mysql(`insert into target_contact (target_id, mode_id, destination) values (13, 26, '+1 (223) 456-7890'), (13, 8, 'PAGE-ME@example.com'),
		(11, 35, '@shared'), (12, 35, 'Shared')`)
	code, report := s.move()
	require.Zero(t, code, report)
	want := []string{
		"Bjørn|email|1", "Bjørn|slack|0", "ann|call|0", "ann|email|1", "ann|slack|1", "ann|sms|0", "carla|email|1", "carla|slack|0",
		"noadmin|call|0", "noadmin|email|0", "noadmin|sms|1",
	}
	require.Equal(t, want, s.ours(marks))
	code, report = s.move()
	require.Zero(t, code, report)
	require.Equal(t, want, s.ours(marks), "a second run changes no mark")

	// Dora of Oncall has the name in Slack that two people share, and the number of noadmin, who keeps it verified.
	calendars := newStage(t, oncallGood...)
	calendars.predecessor, calendars.url, calendars.pg = "oncall", s.url, s.pg
	calendars.mysql(`update user_contact set destination = 'SHARED' where user_id = 113 and mode_id = 35;
		insert into user_contact (user_id, mode_id, destination) values (113, 8, 'dora@example.com')`)
	_, report = calendars.move()
	require.True(t, report.Written)
	want = append(want, "dora|call|0", "dora|email|1", "dora|slack|0")
	require.ElementsMatch(t, want, s.ours(marks))
}
