package app

import (
	"bytes"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestLinksOfDigests(t *testing.T) {
	t.Parallel()
	keys, err := auth.NewKeys(bytes.Repeat([]byte{1}, auth.SecretSize))
	require.NoError(t, err)
	l := &links{public: "https://iris.example", sign: keys.Links()}
	require.Empty(t, l.AckURL(0, 30, 0), "in nobody's name")
	require.Empty(t, l.AckURL(300, 30, 0), "in nobody's name")
	token, ok := strings.CutPrefix(l.AckURL(0, 30, 5), "https://iris.example/ack/")
	require.True(t, ok)
	link, err := keys.Links().Verify(token, auth.Acknowledge, time.Now())
	require.NoError(t, err)
	require.Zero(t, link.IncidentID)
	require.EqualValues(t, 30, link.MessageID)
	require.EqualValues(t, 5, link.UserID)

	signer, err := auth.NewOneClick("a key of Gmail's button", "https://iris.example/click")
	require.NoError(t, err)
	button := oneClickButton(signer)
	address, err := url.Parse(button(messages.Outbound{MessageID: 30, Destination: "ann@example.com", AckURL: "x"}))
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", address.Query().Get("email_address"))
	require.NoError(t, signer.Verify(address.Query(), time.Now()))
	require.ErrorIs(t, signer.Verify(address.Query(), time.Now().Add(auth.LinkLife+time.Minute)), auth.ErrLinkExpired)
	require.Empty(t, button(messages.Outbound{MessageID: 30, Destination: "ann@example.com"}), "nothing to claim")
	require.Nil(t, oneClickButton(nil))
}
