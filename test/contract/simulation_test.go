package contract

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulation(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/plans/pager/simulation"
	sim := decode[m](s.do(demo, get, path+"?at=2026-11-22T01:00:00Z&application=demo&assume=ack-after=1s", nil).is(200))
	require.Equal(t, "pager", sim["plan"])
	require.Equal(t, "2026-11-22T01:00:00Z", sim["at"])
	require.Equal(t, "acknowledged", sim["end"])
	require.Equal(t, "2026-11-22T01:00:01Z", sim["ended_at"])
	first := sim["pages"].([]any)[0].(m)
	require.Equal(t, "ann", first["target"])
	require.Equal(t, "named in the plan", first["rule"])
	s.do(viewer, get, path, nil).is(200)
	s.do(anonymous, get, path, nil).problem(401, "")
	s.do(demo, get, "/v1/plans/none/simulation", nil).problem(404, "")
	s.do(demo, get, path+"?at=soon", nil).problem(400, "at")
	s.do(demo, get, path+"?at=1795309200", nil).problem(400, "at")
	s.do(demo, get, path+"?assume=luck", nil).problem(400, "assume")
	s.do(demo, get, path+"?target=ann", nil).problem(400, "target")
	s.do(demo, get, path+"?when=now", nil).problem(400, "when")
	s.do(demo, post, path, m{}).problem(405, "")
	require.Zero(t, s.number(`select count(*) from messages`), "nothing is made")

	require.Contains(t, s.do(viewer, get, "/plans", nil).is(200).body, "pager")
	require.Contains(t, s.do(viewer, get, "/plans/pager?assume=ack-after%3D5m", nil).is(200).body, "What would happen")
	require.Contains(t, s.do(viewer, get, "/plans/pager?at=soon", nil).is(400).body, "is no instant")
	s.do(viewer, get, "/plans/none", nil).is(404)
}
