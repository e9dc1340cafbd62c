package oncall

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

// BenchmarkResolveThousandTeams resolves oncall-primary of 1,000 teams at an instant, through the resolver and the live
// calendar.
func BenchmarkResolveThousandTeams(b *testing.B) {
	store := newStore()
	dir := newDirectory()
	var queries []Query
	for id := range int64(1000) {
		now := time.Now()
		store.set(id, Shift{ID: 1, TeamID: id, Role: RolePrimary, User: 1, Start: now.Add(-time.Hour),
			End: now.Add(100 * time.Hour)})
		dir.teams[id] = Team{ID: id, TargetID: id, Name: "t", TimeZone: "Europe/Zurich", Active: true,
			Members: []users.ID{1, 3}}
		queries = append(queries, Query{Role: "oncall-primary", TargetID: id})
	}
	r := NewResolver(dir, NewLiveCalendar(store, LiveConfig{Keep: time.Hour}), time.Hour)
	require.NoError(b, r.Prefetch(context.Background(), queries))
	for b.Loop() {
		for _, q := range queries {
			if answer, err := r.Resolve(context.Background(), q, time.Now()); err != nil || len(answer.Users) != 1 {
				b.Fatal(answer, err)
			}
		}
	}
}
