package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"

	"go.uber.org/zap"
)

// trustProxies sets RemoteAddr to the address of the client if the peer is a trusted proxy.
func trustProxies(networks []string) (func(http.Handler) http.Handler, error) {
	var trusted []netip.Prefix
	for _, n := range networks {
		p, err := netip.ParsePrefix(n)
		if err != nil {
			return nil, fmt.Errorf("trusted proxy: %w", err)
		}
		trusted = append(trusted, p)
	}
	isTrusted := func(addr netip.Addr) bool {
		for _, p := range trusted {
			if p.Contains(addr.Unmap()) {
				return true
			}
		}
		return false
	}
	return func(next http.Handler) http.Handler {
		if len(trusted) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			peer, err := netip.ParseAddrPort(r.RemoteAddr)
			if err != nil || !isTrusted(peer.Addr()) {
				next.ServeHTTP(w, r)
				return
			}
			// The last address that is not a trusted proxy is the client's. Addresses before it may be forged.
			hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
			for i := len(hops) - 1; i >= 0; i-- {
				hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
				if err != nil {
					break
				}
				r.RemoteAddr = netip.AddrPortFrom(hop, 0).String()
				if !isTrusted(hop) {
					break
				}
			}
			next.ServeHTTP(w, r)
		})
	}, nil
}

// mailboxProxy forwards /dev/mailbox to the mailbox of `iris dev`, which is another process.
func mailboxProxy(address string, log *zap.Logger) (http.Handler, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("mailbox: %w", err)
	}
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
		},
		FlushInterval: -1, // do not buffer
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Warn("mailbox does not answer", zap.Error(err))
			http.Error(w, "the mailbox does not answer", http.StatusBadGateway)
		},
	}, nil
}
