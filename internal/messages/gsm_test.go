package messages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 160, "db1 down: Größe £5": 160, "[shop] a|b": 157, "zażółć": 70} {
		require.Equal(t, want, Room(text), text)
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]int{
		"": {0, 0}, "a|b": {1, 4}, "ż": {1, 1}, "😀": {1, 2}, strings.Repeat("a", 160): {1, 160}, strings.Repeat("a",
			161): {2, 161},
		strings.Repeat("[", 90): {2, 180}, strings.Repeat("ż", 70): {1, 70}, strings.Repeat("ż", 135): {3, 135},
	} {
		segments, characters := Count(text)
		require.Equal(t, want, [2]int{segments, characters}, text)
	}
}
