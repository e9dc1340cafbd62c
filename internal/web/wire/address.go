package wire

import (
	"net"
	"net/http"

	"github.com/go-chi/httprate"
)

// ByAddress returns the key of a client for rate limits: its address, or the /64 network for IPv6. RemoteAddr must be
// the address of the client (trustProxies).
func ByAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}
