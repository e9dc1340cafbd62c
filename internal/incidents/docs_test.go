package incidents

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of docs/incidents.md is that of the code.
func TestDocumentedTransitions(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("\n| event |")
	for _, s := range States {
		b.WriteString(" " + string(s) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(States)+1) + "\n")
	for _, e := range Events {
		b.WriteString("| " + string(e) + " |")
		for k, to := range transitions[e] {
			switch to {
			case "":
				to = "-"
			case States[k]:
				to = "unchanged"
			}
			b.WriteString(" " + string(to) + " |")
		}
		b.WriteString("\n")
	}
	page, err := os.ReadFile("../../docs/incidents.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "the code -->")
	table, _, _ := strings.Cut(rest, "<!-- end -->")
	require.Equal(t, b.String(), table)
}
