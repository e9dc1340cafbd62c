package auth

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/users"
)

func testLinks(t require.TestingT, fill byte) *Links {
	secret := make([]byte, SecretSize)
	for i := range secret {
		secret[i] = fill
	}
	k, err := NewKeys(secret)
	require.NoError(t, err)
	return k.Links()
}

func TestLinks(t *testing.T) {
	t.Parallel()
	l := testLinks(t, 1)
	now := time.Unix(1_700_000_000, 0).UTC()
	link := Link{Purpose: Acknowledge, IncidentID: 42, MessageID: 7, UserID: 3, ExpiresAt: now.Add(LinkLife)}
	token := l.Sign(link)

	got, err := l.Verify(token, Acknowledge, now)
	require.NoError(t, err)
	require.Equal(t, link, got)

	got, err = l.Verify(token, Acknowledge, link.ExpiresAt)
	require.ErrorIs(t, err, ErrLinkExpired)
	require.Equal(t, link, got)

	_, err = l.Verify(token, Voice, now)
	require.ErrorIs(t, err, ErrLinkInvalid)
	_, err = testLinks(t, 2).Verify(token, Acknowledge, now)
	require.ErrorIs(t, err, ErrLinkInvalid)
	for _, bad := range []string{"", "x", token + "A", token[1:], token[:len(token)-1], token + "=", " " + token} {
		_, err = l.Verify(bad, Acknowledge, now)
		require.ErrorIs(t, err, ErrLinkInvalid, bad)
	}
	_, err = l.Verify(l.Sign(Link{Purpose: Acknowledge, IncidentID: 1}), Acknowledge, now)
	require.ErrorIs(t, err, ErrLinkExpired)
}

func TestAlteredLinksAreInvalid(t *testing.T) {
	t.Parallel()
	l := testLinks(t, 1)
	rapid.Check(t, func(t *rapid.T) {
		link := Link{
			Purpose:    Purpose(rapid.SampledFrom([]string{"ack", "voice", ""}).Draw(t, "purpose")),
			IncidentID: rapid.Int64().Draw(t, "incident"), MessageID: rapid.Int64().Draw(t, "message"),
			UserID:    users.ID(rapid.Int64().Draw(t, "user")),
			ExpiresAt: time.Unix(rapid.Int64Range(1, 1<<40).Draw(t, "expiry"), 0).UTC(),
		}
		token := l.Sign(link)
		got, err := l.Verify(token, link.Purpose, link.ExpiresAt.Add(-time.Second))
		require.NoError(t, err)
		require.Equal(t, link, got)

		raw, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		bit := rapid.IntRange(0, len(raw)*8-1).Draw(t, "bit")
		raw[bit/8] ^= 1 << (bit % 8)
		_, err = l.Verify(base64.RawURLEncoding.EncodeToString(raw), link.Purpose, time.Unix(0, 0))
		require.ErrorIs(t, err, ErrLinkInvalid)
	})
}

func FuzzLinkToken(f *testing.F) {
	l := testLinks(f, 1)
	known := l.Sign(Link{Purpose: Acknowledge, IncidentID: 1, MessageID: 2, UserID: 3, ExpiresAt: time.Unix(1<<33, 0)})
	f.Add(known)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, token string) {
		_, err := l.Verify(token, Acknowledge, time.Unix(1_700_000_000, 0))
		if token == known {
			require.NoError(t, err)
			return
		}
		require.ErrorIs(t, err, ErrLinkInvalid)
	})
}

func FuzzLinkPayload(f *testing.F) {
	f.Add([]byte{1, 3, 'a', 'c', 'k', 2, 4, 6, 8})
	f.Add([]byte{1, 255})
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		if link, ok := parseLink(payload); ok {
			require.LessOrEqual(t, len(link.Purpose), 255)
		}
	})
}
