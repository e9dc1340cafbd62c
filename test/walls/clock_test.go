package walls

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// decided are the packages that decide by time. They take the time as an argument, from a statement, or from
// internal/kit/clock.
var decided = []string{"internal/incidents", "internal/silences", "internal/escalation", "internal/oncall",
	"internal/notifications",
	"internal/program/jobs"}

// measured are files of these packages that read the clock of this machine, and why they may.
var measured = map[string]string{
	"internal/escalation/recipients.go":        "limits how long a look-up may take",
	"internal/escalation/runner/added.go":      "the pauses between passes and after failures",
	"internal/escalation/runner/batch.go":      "when old counts are forgotten",
	"internal/escalation/runner/digests.go":    "the pauses between passes and after failures",
	"internal/escalation/runner/fallbacks.go":  "the pauses between passes and after failures",
	"internal/escalation/runner/pass.go":       "the pauses between passes and after failures",
	"internal/escalation/runner/runner.go":     "when this process reads again",
	"internal/escalation/runner/timers.go":     "the pauses between passes",
	"internal/incidents/pages/change.go":       "until when a browser may undo",
	"internal/oncall/pages/list.go":            "the shifts of now in an overview",
	"internal/oncall/requests/authenticate.go": "the time of a signature",
	"internal/oncall/live_calendar.go":         "the age of a cache",
	"internal/program/jobs/numbers.go":         "the pause between passes",
	"internal/program/jobs/endings.go":         "the pause between passes; the statement has the clock of the database",
}

func TestRulesAreDecidedByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	var faults []string
	reads := map[string]bool{}
	for _, p := range readSources(t, token.NewFileSet()) {
		if !under(p.path, decided...) && p.path != "internal/intake" {
			continue
		}
		for file, f := range p.files {
			file = strings.TrimPrefix(file, top)
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Now" {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" {
						if reads[file] = true; measured[file] == "" {
							faults = append(faults,
								fmt.Sprintf("%s reads the clock of the machine: take the time as an argument, or from internal/kit/clock", file))
						}
					}
				}
				return true
			})
		}
	}
	slices.Sort(faults)
	require.Empty(t, strings.Join(slices.Compact(faults), "\n"))
	for file := range measured {
		require.True(t, reads[file], "%s is no exception any more: remove it", file)
	}
}
