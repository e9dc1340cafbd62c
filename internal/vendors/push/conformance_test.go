package push_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pretend"
	"github.com/iris-oncall/iris/internal/dev/vendortest"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors/push"
)

// phones is the device directory of a test.
type phones struct {
	of   map[string][]string
	off  chan string
	fail error
}

func (p *phones) Tokens(_ context.Context, person string) ([]string, error) {
	return p.of[person], p.fail
}

func (p *phones) SwitchOff(_ context.Context, token string) error {
	p.off <- token
	return nil
}

// accountKey is shared by all tests, because generating a key takes up to a second.
var accountKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func rig(t *testing.T) vendortest.Rig {
	r, _ := rigWith(t)
	return r
}

func rigWith(t *testing.T) (vendortest.Rig, *phones) {
	t.Helper()
	p := pretend.NewPush(pretend.PushConfig{Key: accountKey()}, nil)
	require.NoError(t, p.Start())
	known := &phones{off: make(chan string, 100), of: map[string][]string{
		"ann": {"token-of-ann:APA91"}, "bob": {"phone:1", "tablet:2", "watch:3"}, "odd": {"two words"},
	}}
	v, err := push.New(push.Config{Credentials: p.Credentials(), APIURL: p.URL(), Devices: known})
	require.NoError(t, err)
	t.Cleanup(func() { v.Close(); p.Close() })
	return vendortest.Rig{Vendor: v, Backend: p, Secrets: []string{p.Credentials()[:200], "PRIVATE KEY",
		"ya29."}}, known
}

func TestConformance(t *testing.T) {
	t.Parallel()
	vendortest.Run(t, vendortest.Suite{
		New: rig, Mode: users.Push, Destination: func(vendortest.Rig) string { return "devices:ann" },
		Malformed: []string{"two words", "devices:nobody", "devices:odd", "devices:",
			"tök"}, RetryAfter: true, LongestBody: 1600 + 100, Open: func(n int) int { return 4 * n },
	})
}

// A contact may also be a single registration token.
func TestConformanceWithATokenAsContact(t *testing.T) {
	t.Parallel()
	vendortest.Run(t, vendortest.Suite{
		New: rig, Mode: users.Push, Destination: func(vendortest.Rig) string { return "token-of-ann:APA91" },
		Malformed: []string{"two words",
			"tök"}, RetryAfter: true, LongestBody: 1600 + 100, Open: func(n int) int { return 4 * n },
	})
}
