package gsm

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 160, "db1 down: Größe £5": 160, "[shop] a|b": 157, "zażółć": 70} {
		require.Equal(t, want, Room(text), text)
	}
}
