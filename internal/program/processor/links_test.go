package processor

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
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
}
