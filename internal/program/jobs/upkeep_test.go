package jobs

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

func TestAPassThatPanicsFails(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	passes, told := 0, []error{}
	pass := func(context.Context) error {
		switch passes++; passes {
		case 1:
			panic("poison")
		case 2:
			return nil
		case 3:
			return errors.New("away")
		}
		cancel()
		return nil
	}
	require.NoError(t, repeat(ctx, time.Millisecond, pass, func(err error) { told = append(told, err) }))
	require.Len(t, told, 2)
	require.ErrorContains(t, told[0], "internal error: poison")
	require.Contains(t, fmt.Sprintf("%+v", told[0]), "upkeep_test.go", "with the stack")
	require.EqualError(t, told[1], "away")
}

// A job that begins at once does not wait for its interval, and logs a failure of the first pass.
func TestAtOnceBeginsAtTheStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	core, logs := observer.New(zap.WarnLevel)
	pass := func(context.Context) error { return errors.New("away") }
	done := make(chan error)
	go func() { done <- atOnce(time.Hour, pass, "cannot be read", zap.New(core))(ctx) }()
	require.Eventually(t, func() bool { return logs.Len() == 1 }, time.Minute, time.Millisecond)
	require.Equal(t, "cannot be read", logs.All()[0].Message)
	cancel()
	require.NoError(t, <-done)
}

// A team whose populate panics is marked as failed. The process continues, and the other teams are populated.
func TestPopulatorContinuesAfterAPanic(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	_, err := db.Pool().Exec(t.Context(), populateSeed)
	require.NoError(t, err)
	p := testPopulator(t, db, owner{epoch: 7})
	p.wake = func(buckets.Set) { panic("poison") } // called for the team without people
	require.NoError(t, p.pass(t.Context()))
	var problems, made int
	require.NoError(t, db.Pool().QueryRow(t.Context(),
		`select count(*) from team_populations where problem <> ''`).Scan(&problems))
	require.NoError(t, db.Pool().QueryRow(t.Context(), `select count(distinct team_id) from shifts`).Scan(&made))
	require.Equal(t, 1, problems)
	require.Equal(t, 1, made)
}
