package hooks

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
)

func TestTheCharsetOfASignedBodyIsIgnored(t *testing.T) {
	t.Parallel()
	h := http.Header{"Content-Type": {"application/json; charset=iso-8859-1"}}
	for signed, want := range map[bool]string{true: `{"title":"é"}`, false: `{"title":"Ã©"}`} {
		body, err := plain(h, []byte(`{"title":"é"}`), 100, signed)
		require.NoError(t, err)
		require.Equal(t, want, string(body), "%v", signed)
	}
}
