package health

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/postgres"
)

// DatabaseCheck wants the database to answer with the right schema, and to have stored what it was given lately: one whose disk is
// full answers as if nothing was wrong.
func DatabaseCheck(db *postgres.DB) Check {
	return Check{"database", func(ctx context.Context) error {
		if err := db.CheckSchema(ctx); err != nil {
			return err
		}
		return db.Shortage()
	}}
}

// handOver is how long buckets may be without a live owner after all of them had one: a take-over from a dead processor needs a
// few seconds, an incident posted meanwhile is paged when it is done, and no server should turn it away.
const handOver = 10 * time.Second

// Cluster is what MembersCheck asks.
type Cluster interface {
	Members(ctx context.Context) ([]buckets.MemberState, error)
	BucketsWithoutLiveOwner(ctx context.Context) (int, error)
}

// MembersCheck wants every bucket to have a live owner: an incident posted now would be looked at.
func MembersCheck(c Cluster) Check {
	var owned time.Time // when all of them last had one
	return Check{"processors", func(ctx context.Context) error {
		members, err := c.Members(ctx)
		if err != nil {
			return err
		}
		live := 0
		for _, m := range members {
			if m.Age < buckets.DefaultLimits().Fresh {
				live++
			}
		}
		if live == 0 {
			return errors.New("no message-processor is alive: nobody would be paged")
		}
		lonely, err := c.BucketsWithoutLiveOwner(ctx)
		if err != nil {
			return err
		}
		switch {
		case lonely == 0:
			owned = time.Now()
		case time.Since(owned) < handOver:
			return Concern(fmt.Sprintf("%d of %d buckets are changing hands", lonely, buckets.Count))
		default:
			return fmt.Errorf("%d of %d buckets have no live owner: their incidents wait", lonely, buckets.Count)
		}
		return nil
	}}
}
