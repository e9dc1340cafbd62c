package push

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

func TestForgetDropsOnlyTheRefusedToken(t *testing.T) {
	t.Parallel()
	k := newTokens(nil, nil)
	<-k.current
	k.current <- &oauth2.Token{AccessToken: "new", Expiry: time.Now().Add(time.Hour)}
	k.forget(t.Context(), "old")
	access, _ := k.get(t.Context(), nil)
	require.Equal(t, "new", access)
	k.forget(t.Context(), "new")
	require.Nil(t, <-k.current)
}

// While another goroutine fetches a token, forget waits no longer than the call that it belongs to.
func TestForgetEndsWithItsCall(t *testing.T) {
	t.Parallel()
	k := newTokens(nil, nil)
	<-k.current // in use
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k.forget(ctx, "x")
	require.Empty(t, k.current)
}
