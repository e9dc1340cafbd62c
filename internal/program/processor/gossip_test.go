package processor

import (
	"bytes"
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/program/config"
)

// Two processors can exchange gossip at every step of a key rotation. The first rotation begins with the derived key.
func TestGossipKeysRotate(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{7}, auth.SecretSize))
	require.NoError(t, err)
	a, b := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	text := func(key []byte) config.Secret { return config.Secret(base64.StdEncoding.EncodeToString(key)) }
	ring := func(g config.Gossip) [][]byte {
		g.Addr = "127.0.0.1:0"
		p := &Processor{cfg: config.Processor{Gossip: g}}
		c, err := p.gossipConfig(pgauth.Installation{Name: "here", Keys: keys})
		require.NoError(t, err)
		return c.Keys
	}
	steps := []config.Gossip{
		{}, {AcceptKeys: []config.Secret{text(a)}}, {Key: text(a)},
		{Key: text(a), AcceptKeys: []config.Secret{text(b)}}, {Key: text(b),
			AcceptKeys: []config.Secret{text(a)}}, {Key: text(b)},
		{AcceptKeys: []config.Secret{text(b)}}, {},
	}
	used := [][]byte{keys.Gossip(), keys.Gossip(), a, a, b, b, keys.Gossip(), keys.Gossip()}
	for i := range steps {
		have := ring(steps[i])
		require.Equal(t, used[i], have[0], "step %d uses its key", i)
		if i > 0 {
			before := ring(steps[i-1])
			require.Contains(t, before, have[0], "who is still at step %d understands step %d", i-1, i)
			require.Contains(t, have, before[0], "and the other way about")
		}
	}
}
