package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/system"
)

type checkUpgradeCommand struct {
	JSON bool `name:"json" help:"Print the list as JSON."`
}

// Help explains when to run the command.
func (checkUpgradeCommand) Help() string {
	return "Run it with the new release before you migrate: it works on the old schema and changes nothing. It looks at the last 30 days: timelines, and which accounts and tokens " +
		"that may only read were used. What applications only read leaves no trace, so it is not listed."
}

// upgradeRules explain the rules of the list.
var upgradeRules = map[string]string{
	system.LossReach: "changed incidents of",
	system.LossOpen:  "opened incidents of",
	// Nobody notes what somebody reads, so all who may only read are listed.
	system.LossContacts: "sees contacts of people on call only",
}

// lossJSON is a row for programs.
type lossJSON struct {
	Rule        string     `json:"rule"`
	Who         string     `json:"who"`
	Application string     `json:"application,omitempty"`
	Times       int64      `json:"times,omitempty"`
	LastAt      *time.Time `json:"last_at,omitempty"`
}

// Run lists who loses what. It opens the database without a check of its schema, which is that of the release before.
func (c checkUpgradeCommand) Run(ctx context.Context, e *env) error {
	loaded, err := config.Load(e.config, e.environ)
	if err != nil {
		return err
	}
	common, err := loaded.Database("")
	if err != nil {
		return err
	}
	db, err := database.Open(ctx, common, "iris", 1, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := operator.LostByUpgrade(ctx, db)
	if err != nil {
		return err
	}
	if c.JSON {
		out := make([]lossJSON, len(found))
		for i, l := range found {
			out[i] = lossJSON{Rule: l.Rule, Who: l.Who, Application: l.Object, Times: l.Times}
			if !l.LastAt.IsZero() {
				out[i].LastAt = &l.LastAt
			}
		}
		return remote.WriteJSON(e.stdout, out)
	}
	if len(found) == 0 {
		fmt.Fprintf(e.stdout, "Nobody loses anything, as far as the last %d days show.\n", operator.UpgradeDays)
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	_ = text.Row(w, "WHO", "WHAT", "APPLICATION", "TIMES", "LAST") // Flush returns the error
	for _, l := range found {
		times, last := "", ""
		if l.Times > 0 {
			times = fmt.Sprint(l.Times)
		}
		if !l.LastAt.IsZero() {
			last = l.LastAt.UTC().Format(time.RFC3339)
		}
		_ = text.Row(w, l.Who, upgradeRules[l.Rule], l.Object, times, last)
	}
	return w.Flush()
}
