package server

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestTheButtonIsSignedForItsRecipient(t *testing.T) {
	t.Parallel()
	signer, err := auth.NewOneClick("a key of Gmail's button", "https://iris.example/click")
	require.NoError(t, err)
	button := OneClickButton(signer)
	address, err := url.Parse(button(messages.Outbound{MessageID: 30, Destination: "ann@example.com", AckURL: "x"}))
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", address.Query().Get("email_address"))
	require.NoError(t, signer.Verify(address.Query(), time.Now()))
	require.ErrorIs(t, signer.Verify(address.Query(), time.Now().Add(auth.LinkLife+time.Minute)), auth.ErrLinkExpired)
	require.Empty(t, button(messages.Outbound{MessageID: 30, Destination: "ann@example.com"}), "nothing to claim")
	require.Nil(t, OneClickButton(nil))
}
