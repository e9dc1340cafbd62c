package imports

import (
	"fmt"
	"strings"
	"time"
)

// Comparison lists the times at which different people are on call in the predecessor and here.
type Comparison struct {
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	Teams int       `json:"teams"`
	// Stretches is the number of compared periods between hand-offs, over all teams and roles.
	Stretches   int64        `json:"stretches"`
	Differences []Difference `json:"differences"`
}

// Difference is a period in which different people have a role. An empty list means nobody. Times are in the team's
// zone.
type Difference struct {
	Team  string    `json:"team"`
	Role  string    `json:"role"`
	Zone  string    `json:"time_zone"`
	From  time.Time `json:"from"`
	Until time.Time `json:"until"`
	There []string  `json:"there"`
	Here  []string  `json:"here"`
}

// Differs reports whether there is any difference.
func (c *Comparison) Differs() bool { return c != nil && len(c.Differences) > 0 }

func (c *Comparison) write(b *strings.Builder) {
	if c == nil {
		return
	}
	layout := "2006-01-02 15:04:05"
	fmt.Fprintf(b, "\nWho is on call, from %s to %s UTC: %d teams and %d stretches compared, ",
		c.From.UTC().Format(layout),
		c.Until.UTC().Format(layout), c.Teams, c.Stretches)
	if !c.Differs() {
		b.WriteString("no difference\n")
		return
	}
	fmt.Fprintf(b, "%d differences:\n", len(c.Differences))
	for _, d := range c.Differences {
		fmt.Fprintf(b, "- %s of %s, %s to %s (%s): %s in the source, %s here\n", d.Role, d.Team, d.From.Format(clock),
			d.Until.Format(clock),
			d.Zone, people(d.There), people(d.Here))
	}
}

// clock is the layout of a time with its offset.
const clock = "Mon 2006-01-02 15:04:05 -07:00"

func people(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}
