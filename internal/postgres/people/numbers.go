package people

import (
	"context"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// numbersAtOnce is how many contacts RewriteNumbers reads in one statement.
const numbersAtOnce = 500

// RewriteNumbers stores phone numbers of releases that stored what was typed in international form. It returns how many it changed, and the
// names of people with a number that cannot be read. Calling it again changes nothing more.
func (c *Contacts) RewriteNumbers(ctx context.Context, region users.Region) (changed int, unreadable []string, err error) {
	after := db.NumbersToRewriteParams{Most: numbersAtOnce}
	for {
		rows, err := postgres.Query(ctx, c.db, (*db.Queries).NumbersToRewrite, after)
		if err != nil {
			return changed, unreadable, err
		}
		for _, r := range rows {
			after.AfterUser, after.AfterMode = r.UserID, r.Mode
			number, err := region.Number(r.Destination)
			if err != nil {
				if n := len(unreadable); n == 0 || unreadable[n-1] != r.Name { // the rows are in the order of people
					unreadable = append(unreadable, r.Name)
				}
				continue
			}
			n, err := postgres.Query(ctx, c.db, (*db.Queries).RewriteNumber, db.RewriteNumberParams{UserID: r.UserID, Mode: r.Mode, Was: r.Destination, Number: number})
			if err != nil {
				return changed, unreadable, err
			}
			changed += int(n)
		}
		if len(rows) < numbersAtOnce {
			return changed, unreadable, nil
		}
	}
}
