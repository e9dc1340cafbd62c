package scheduling_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
)

var (
	errNotAdmin   = errors.New("not an administrator")
	errNotSimple  = errors.New("basic mode cannot show this")
	errIsRotation = errors.New("this is a rotation")
)

// administratorOf may administer the team with this number.
type administratorOf int64

func (a administratorOf) MayAdministerTeam(team int64, _ string) error {
	if team != int64(a) {
		return errNotAdmin
	}
	return nil
}

// stored returns a weekly schedule of team 7 in basic mode.
func stored() scheduling.StoredSchedule {
	return scheduling.StoredSchedule{RosterID: 3, Schedule: scheduling.Schedule{ID: 1, TeamID: 7, RoleOrder: 2,
		Algorithm: scheduling.Default,
		Threshold: 21, Pattern: []scheduling.Slot{{Start: day, Duration: week}}}}
}

func to[T any](v T) *T { return &v }

func TestEditChecksTheEditorAndTheTag(t *testing.T) {
	t.Parallel()
	is := stored()
	change := scheduling.Patch{Threshold: to(30)}
	for name, c := range map[string]struct {
		editor  administratorOf
		ifMatch []string
		want    error
	}{
		"no tag":                          {7, nil, nil},
		"every tag":                       {7, []string{"*"}, nil},
		"one of the tags":                 {7, []string{"other", is.Tag()}, nil},
		"another tag":                     {7, []string{"other"}, etag.ErrStale},
		"no tag matches an empty list":    {7, []string{}, etag.ErrStale},
		"another team":                    {8, nil, errNotAdmin},
		"permission comes before the tag": {8, []string{"other"}, errNotAdmin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := scheduling.Edit{Editor: c.editor, IfMatch: c.ifMatch, Change: change}.Decide(is)
			require.ErrorIs(t, err, c.want)
			if c.want == nil {
				require.Equal(t, 30, d.Threshold)
			}
		})
	}
}

func TestReplaceIsStaleAfterAMoveToAnotherTeam(t *testing.T) {
	t.Parallel()
	d := stored().Draft()
	d.Name = "new"
	got, err := scheduling.Replace{Draft: d}.Decide(stored())
	require.NoError(t, err)
	require.Equal(t, d, got)
	d.TeamID = 8
	_, err = scheduling.Replace{Draft: d}.Decide(stored())
	require.ErrorIs(t, err, etag.ErrStale)
}

func TestPatchChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	got, err := scheduling.Patch{}.Decide(stored())
	require.NoError(t, err)
	require.Equal(t, stored().Draft(), got)

	got, err = scheduling.Patch{Advanced: to(true), Threshold: to(30), Role: to[int64](4), Team: to[int64](8),
		Roster: to[int64](5)}.Decide(stored())
	require.NoError(t, err)
	want := stored().Draft()
	want.Advanced, want.Threshold, want.RoleID, want.TeamID, want.RosterID = true, 30, 4, 8, 5
	require.Equal(t, want, got)
}

func TestPatchOfARotation(t *testing.T) {
	t.Parallel()
	is := stored()
	is.Algorithm, is.Pattern = scheduling.ByRotation, nil
	_, err := scheduling.Patch{Threshold: to(30), OfRotation: errIsRotation}.Decide(is)
	require.ErrorIs(t, err, errIsRotation)
}

func TestPatchOfTheAlgorithm(t *testing.T) {
	t.Parallel()
	order := []users.ID{5, 4}
	got, err := scheduling.Patch{Algorithm: to(scheduling.RoundRobin), Order: order}.Decide(stored())
	require.NoError(t, err)
	require.Equal(t, scheduling.RoundRobin, got.Algorithm)
	require.Equal(t, order, got.Order)

	got, err = scheduling.Patch{Order: order}.Decide(stored())
	require.NoError(t, err)
	require.Nil(t, got.Order, "the default algorithm has no order")

	_, err = scheduling.Patch{Algorithm: to(scheduling.ByRotation)}.Decide(stored())
	require.True(t, fault.Is(err, fault.Mismatch), "a weekly schedule does not become a rotation: %v", err)
	_, err = scheduling.Patch{Threshold: to(1 << 30)}.Decide(stored())
	require.True(t, fault.Is(err, fault.Invalid), "the whole schedule is checked: %v", err)
}

// Basic mode shows one slot of 7 or 14 days, or 7 or 14 slots of 12 hours. Storage merges slots that follow each other.
func TestPatchOfSlotsInBasicMode(t *testing.T) {
	t.Parallel()
	var halves, joined []scheduling.Slot
	for i := range 7 {
		halves = append(halves, scheduling.Slot{Start: time.Duration(i) * day, Duration: 12 * time.Hour})
		joined = append(joined, scheduling.Slot{Start: time.Duration(i) * 12 * time.Hour, Duration: 12 * time.Hour})
	}
	odd := []scheduling.Slot{{Start: 0, Duration: 3 * time.Hour}}
	for name, c := range map[string]struct {
		is, slots []scheduling.Slot
		advanced  *bool
		want      []scheduling.Slot
		err       error
	}{
		"a week": {slots: []scheduling.Slot{{Start: 0, Duration: week}},
			want: []scheduling.Slot{{Start: 0, Duration: week}}},
		"half days": {slots: halves, want: halves},
		"half days are merged": {slots: joined,
			want: []scheduling.Slot{{Start: 0, Duration: 84 * time.Hour}}},
		"odd slots are refused":           {slots: odd, err: errNotSimple},
		"odd slots in advanced mode":      {slots: odd, advanced: to(true), want: odd},
		"odd slots cannot leave advanced": {is: odd, advanced: to(false), err: errNotSimple},
		"merged half days leave advanced": {is: scheduling.MergeSlots(joined), advanced: to(false),
			want: scheduling.MergeSlots(joined)},
		"separate half days leave advanced": {is: halves, advanced: to(false), want: halves},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			is := stored()
			if c.is != nil {
				is.Pattern, is.Advanced = c.is, true
			}
			got, err := scheduling.Patch{Slots: c.slots, Advanced: c.advanced, NotSimple: errNotSimple}.Decide(is)
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				require.Equal(t, c.want, got.Pattern)
			}
		})
	}
}
