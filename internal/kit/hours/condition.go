package hours

import (
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Condition holds in some hours of the week. Nil always holds.
type Condition struct {
	Windows []Window `json:"windows"`        // their zone is Zone
	Zone    string   `json:"zone,omitempty"` // an IANA zone; that of Team, if there is one; "" = UTC
	Team    string   `json:"team,omitempty"`
	TeamID  int64    `json:"team_target_id,omitempty"` // public target number
}

// Add adds a window; see Window.
func (c *Condition) Add(days []string, from, to string) {
	c.Windows = append(c.Windows, Window{Days: days, From: from, To: to})
}

// Holds reports whether the condition holds at an instant.
func (c *Condition) Holds(at time.Time) bool { return c == nil || InAny(c.zoned(), at) }

func (c *Condition) zoned() []Window {
	out := slices.Clone(c.Windows)
	for i := range out {
		out[i].Zone = c.Zone
	}
	return out
}

// Check returns an Invalid fault if the condition is wrong.
func (c *Condition) Check() error {
	if len(c.Windows) == 0 {
		return fault.New(fault.Invalid, "it needs at least one window")
	}
	for _, w := range c.zoned() {
		if err := w.Check(); err != nil {
			return err
		}
	}
	return nil
}

// String describes the condition: "mon, tue 09:00 to 17:00 Europe/Berlin".
func (c *Condition) String() string {
	var texts []string
	for _, w := range c.zoned() {
		texts = append(texts, w.String())
	}
	return strings.Join(texts, " and ")
}
