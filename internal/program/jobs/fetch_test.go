package jobs

import (
	"errors"
	"net"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestFailedCallsHaveOneText(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{
		&net.DNSError{Err: "no such host", Name: "cal.example.com", Server: "10.0.0.2:53", IsNotFound: true},
		&net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 443},
			Err: errors.New("connection refused")},
	} {
		err := unreachable(&url.Error{Op: "Get", URL: "https://cal.example.com/secret", Err: cause})
		require.True(t, fault.Is(err, fault.Unavailable))
		require.Equal(t, unreachableText, fault.Public(err))
		require.ErrorIs(t, err, cause, "the log has the cause")
		require.NotContains(t, err.Error(), "secret")
	}
}
