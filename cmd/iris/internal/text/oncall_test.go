package text

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// A time that a schedule has not been populated for is listed separately from gaps, and does not fail the check.
func TestATimeThatIsNotPopulatedYetIsNoGap(t *testing.T) {
	t.Parallel()
	later := scheduling.PersonGap{Kind: scheduling.GapNotPopulated, Start: time.Unix(1795914000, 0), End: time.Unix(1795917600, 0)}
	teams := []scheduling.Team{{Team: "db", Zone: "UTC",
		Roles: []scheduling.Role{{Role: "primary", People: []scheduling.Person{{Name: "ann"}},
			Gaps: []scheduling.PersonGap{later}}}}}
	c := OnCall{Gaps: true}
	require.False(t, c.Lacking(teams))
	var out strings.Builder
	require.NoError(t, c.Plain(&out, teams))
	require.Contains(t, out.String(), "not-populated\tdb\tprimary\t2026-11-29T01:00:00Z\t2026-11-29T02:00:00Z\n")
	out.Reset()
	require.NoError(t, c.Table(&out, teams))
	require.Contains(t, out.String(), "Not populated yet for primary; the schedule will fill these times:\n  Sun 2026-11-29 01:00:00 +00:00  to ")
	require.NotContains(t, out.String(), "Nobody has a shift")
	teams[0].Roles[0].Gaps = append(teams[0].Roles[0].Gaps, scheduling.PersonGap{Kind: scheduling.GapNobody,
		Start: time.Unix(1795914000, 0), End: time.Unix(1795917600, 0)})
	require.True(t, c.Lacking(teams))
}
