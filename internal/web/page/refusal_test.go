package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestRefusedFormsAreShownAgain(t *testing.T) {
	t.Parallel()
	p := &Pages{}
	for kind, status := range map[fault.Kind]int{fault.Invalid: 400, fault.Conflict: 409, fault.Stale: 412, fault.Forbidden: 403, fault.Unauthenticated: 403, fault.Throttled: 429} {
		refusal, ok := p.Refused(nil, nil, fault.New(kind, "text"))
		require.True(t, ok, kind)
		require.Equal(t, status, refusal.Status)
		require.NotEmpty(t, refusal.Text)
	}
	refusal, ok := p.Refused(nil, nil, &fault.Error{Kind: fault.NotFound, Field: "team", Message: "there is no team x"})
	require.True(t, ok, "a form may name an object that does not exist")
	require.Equal(t, "team", refusal.Field)
}
