package escalation

import (
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/oncall"
)

// query returns the query for the people of a target. earlier is how often the incident paged the target before; a
// round-robin target gives each page to the next member.
func query(t Target, id incidents.ID, earlier int) oncall.Query {
	q := oncall.Query{Role: t.Role, TargetID: t.TargetID, Name: t.Name}
	if strings.EqualFold(t.Role, oncall.RoleRoundRobin) {
		q.Turn, q.Round = int64(id), earlier
	}
	return q
}

// earlierRounds returns how many rounds of a plan come before a round and page the same target.
func earlierRounds(plan Plan, round Round, t Target, dynamic map[int]Target) int {
	before := round.Repeat
	for i, s := range plan.Steps[:round.Step] {
		for position, n := range s.Notifications {
			if i == round.Step-1 && position >= round.Position {
				break
			}
			if other, ok := n.TargetIn(dynamic); ok && other.Role == t.Role && other.TargetID == t.TargetID {
				before += 1 + min(n.Repeat, MaxRepeat)
			}
		}
	}
	return before
}
