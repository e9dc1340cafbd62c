package silences

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReports(t *testing.T) {
	t.Parallel()
	const hour, long = time.Hour, 30 * 24 * time.Hour
	for name, c := range map[string]struct {
		source Source
		want   bool
		line   string
	}{
		"a source that resolves": {Source{Resolves: true, Repeat: hour, Undelivered: 9 * hour, Observed: long},
			true, "escalation begins"},
		"resolved":               {Source{Over: true, Resolves: true, Observed: long}, false, "no firing alert"},
		"resolved, and repeated": {Source{Over: true, Repeat: hour, Observed: long}, false, "no firing alert"},
		"repeated in time": {Source{Repeat: hour, Undelivered: 2 * hour, Observed: long}, true,
			"escalation begins"},
		"not repeated": {Source{Repeat: hour, Undelivered: 2*hour + time.Second, Observed: long},
			false, "reported nothing for 2 h 1 s, although it repeats alerts at least every 1 h"},
		"a source that repeats nothing": {Source{Undelivered: long, Observed: long}, true, "escalation begins"},
		"a new integration": {Source{Repeat: time.Minute, Undelivered: hour, Observed: 6 * 24 * time.Hour},
			true, "escalation begins"},
		"no integration": {Source{Resolves: true, Undelivered: long}, true, "escalation begins"},
	} {
		require.Equal(t, c.want, c.source.Reports(), name)
		require.Contains(t, c.source.Line(), c.line, name)
	}
}
