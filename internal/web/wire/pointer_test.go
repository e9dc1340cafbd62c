package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFieldsBecomeJSONPointers(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"owner":                         "#/owner",
		"layers[0].start":               "#/layers/0/start",
		"layers[2].restrict[1].days[0]": "#/layers/2/restrict/1/days/0",
		"a/b~c":                         "#/a~1b~0c",
	} {
		require.Equal(t, want, pointer(field))
	}
}
