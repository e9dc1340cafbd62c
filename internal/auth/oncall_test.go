package auth_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
)

func TestSignedOncall(t *testing.T) {
	t.Parallel()
	app := auth.Application{Name: "calendar", Keys: []string{"key"}}
	now := time.Unix(1_800_000_012, 0)
	digest := func(window int64, path, body string) string {
		mac := hmac.New(sha512.New, []byte("key"))
		fmt.Fprintf(mac, "%d GET %s %s", window, path, body)
		return base64.URLEncoding.EncodeToString(mac.Sum(nil))
	}
	r := auth.SignedRequest{Method: "GET", Path: "/api/v0/teams/my team/events",
		WirePath: "/api/v0/teams/my%20team/events", RawQuery: "a=1&b=x%20y", Username: "ignored"}
	five, thirty := now.Unix()/5, now.Unix()/30
	for _, window := range []int64{five, five - 1, thirty, thirty - 1} {
		for _, path := range []string{
			"/api/v0/teams/my team/events?a=1&b=x%20y",             // decoded path, raw query
			"/api/v0/teams/my%20team/events%3Fa%3D1%26b%3Dx%2520y", // all of that percent-encoded
			"/api/v0/teams/my%20team/events?a=1&b=x%20y",           // the request target as sent
		} {
			require.True(t, app.SignedOncall(r, digest(window, path, ""), now), path)
		}
	}
	require.False(t, app.SignedOncall(r, digest(five-2, "/api/v0/teams/my team/events?a=1&b=x%20y", ""), now))
	require.False(t, app.SignedOncall(r, digest(five, "/api/v0/teams/my team/events", ""), now),
		"the query is signed, too")
	require.False(t, app.SignedOncall(r, "", now))
}
