package rate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

// limitRows are the rows of several limits.
type limitRows map[string]*limitRow

func (l limitRows) Reserve(_ context.Context, r Reservation) (Granted, error) {
	now := time.Now()
	for i, at := range r.Instants {
		r.Offsets[i] = at.Sub(now)
	}
	if l[r.Key] == nil {
		l[r.Key] = &limitRow{}
	}
	return l[r.Key].reserve(now, r), nil
}

// A message that leaves through a spare account begins inside the slot of its mode's limit, or not at all.
func TestASpareAccountKeepsTheSlotOfTheMode(t *testing.T) {
	mode, spare := ModeKey(users.Email), AccountKey("smtp", "spare")
	for _, c := range []struct {
		name   string
		limits map[string]Limit
		busy   time.Duration // the account has no slot before
		ok     bool
		at     time.Duration
	}{
		{"both limits agree", map[string]Limit{mode: {10, 1}, spare: {10, 1}}, 0, true, 100 * time.Millisecond},
		{"the account has a slot a little later", map[string]Limit{mode: {10, 1}, spare: {10, 1}},
			120 * time.Millisecond, true, 120 * time.Millisecond},
		{"the account has no slot in time", map[string]Limit{mode: {10, 1}, spare: {10, 1}}, 200 * time.Millisecond,
			false, 0},
		{"only the account is limited", map[string]Limit{spare: {10, 1}}, 120 * time.Millisecond, true,
			120 * time.Millisecond},
		{"only the mode is limited", map[string]Limit{mode: {10, 1}}, 0, true, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				now := time.Now()
				rows := limitRows{spare: {free: now.Add(c.busy)}}
				d := NewDealer(NewShared(rows, c.limits, nil), users.Email)
				_, err := d.shared.reserve(t.Context(), &d.Pace,
					Reservation{Key: "clock"}) // learns the database's clock
				require.NoError(t, err)
				turn := Turn{Slot: Slot{now.Add(100 * time.Millisecond), now.Add(100*time.Millisecond + maxLate)},
					Limited: c.limits[mode].PerSecond > 0}
				turn, ok := d.Own(t.Context(), Account{Key: spare}, turn)
				require.Equal(t, c.ok, ok)
				if ok {
					require.Equal(t, c.at, turn.Slot.At.Sub(now).Round(time.Millisecond))
				}
			})
		})
	}
}
