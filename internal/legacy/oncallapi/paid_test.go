package oncallapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestTheListOfPaidRolesIsNeverCut(t *testing.T) {
	t.Parallel()
	longest := `"` + strings.Repeat("x", maxPaid-2) + `"`
	for text, ok := range map[string]bool{longest: true, longest + " ": false} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_,
				_ = w.Write([]byte(text))
		}))
		got, err := PaidRoles(s.URL)(t.Context())
		s.Close()
		require.Equal(t, !ok, fault.Is(err, fault.Unavailable), "%d bytes", len(text))
		if ok {
			require.Len(t, got, len(text))
		}
	}
}
