package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/postgres"
)

// databaseCheck wants the database to answer with the right schema.
func databaseCheck(db *postgres.DB) check {
	return check{"database", db.CheckSchema}
}

// membersCheck wants every bucket to have a live owner: an incident posted now would be looked at.
func membersCheck(c *postgres.Cluster) check {
	return check{"processors", func(ctx context.Context) error {
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
		if lonely > 0 {
			return fmt.Errorf("%d of %d buckets have no live owner: their incidents wait", lonely, buckets.Count)
		}
		return nil
	}}
}
