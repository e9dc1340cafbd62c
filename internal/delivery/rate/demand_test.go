package rate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func TestDemandKeepsBucketsFoundDuringATake(t *testing.T) {
	t.Parallel()
	d := NewDemand()
	lane := Lane{users.Email, messages.ClassUrgent, 1}
	d.Update(buckets.All(), []Waiting{{Lane: lane, Bucket: 3}, {Lane: lane, Bucket: 4},
		{Lane: lane, Bucket: 5, DueIn: time.Second}})
	searched := d.Buckets(lane, 10)
	require.ElementsMatch(t, []int{3, 4}, searched)
	d.Update(buckets.Of(4), []Waiting{{Lane: lane, Bucket: 4}}) // while the take is running
	d.Took(lane, 10, searched, nil)
	require.Equal(t, []int{4}, d.Buckets(lane, 10))
	require.Equal(t, []Key{{messages.ClassUrgent, 1}}, d.Lanes(users.Email, buckets.All()))
	require.Empty(t, d.Lanes(users.Email, buckets.Of(9)), "what is not ours is not work")
}

func TestDemandSearchesAllBucketsInTurn(t *testing.T) {
	t.Parallel()
	d := NewDemand()
	lane := Lane{users.Email, messages.ClassUrgent, 1}
	var ws []Waiting
	for b := range 100 {
		ws = append(ws, Waiting{Lane: lane, Bucket: b})
	}
	d.Update(buckets.All(), ws)
	seen := map[int]bool{}
	for range 25 {
		for _, b := range d.Buckets(lane, 1) {
			seen[b] = true
		}
	}
	require.Len(t, seen, 100)
}

func TestDemandKeepsLanesAddedDuringASearch(t *testing.T) {
	t.Parallel()
	d := NewDemand()
	old, lane := Lane{users.Email, messages.ClassUrgent, 1}, Lane{users.Email, messages.ClassUrgent, 2}
	d.Add([]Waiting{{Lane: old, Bucket: 3}})
	d.Begin()
	require.Equal(t, map[users.Mode]bool{users.Email: true},
		d.Add([]Waiting{{Lane: lane, Bucket: 4, ApplicationName: "web"}}))
	d.Update(buckets.All(), nil) // the search did not see the new message yet
	require.Equal(t, []Key{{messages.ClassUrgent, 2}}, d.Lanes(users.Email, buckets.All()),
		"only what was added before is gone")
	require.Equal(t, []int{4}, d.Buckets(lane, 10))
	require.Equal(t, "web", d.name(2))
	d.Begin()
	d.Update(buckets.All(), nil)
	require.Empty(t, d.Lanes(users.Email, buckets.All()))
}
