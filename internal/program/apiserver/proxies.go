package apiserver

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// containing returns a function that reports whether an address is in one of the networks.
func containing(networks []string) (func(netip.Addr) bool, error) {
	var prefixes []netip.Prefix
	for _, n := range networks {
		p, err := netip.ParsePrefix(n)
		if err != nil {
			return nil, fmt.Errorf("networks of a proxy: %w", err)
		}
		prefixes = append(prefixes, p)
	}
	return func(addr netip.Addr) bool {
		return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(addr.Unmap()) })
	}, nil
}

// identityHeaders deletes the headers in which an authenticating proxy names people, unless the proxy itself is the
// peer of the connection, and stores the named account in the context (wire.WithProxyAccount), for the sessions at
// every door. It must run before trustProxies, which replaces the address of the peer. A header that occurs twice is
// refused: one may be the client's.
func identityHeaders(c config.Proxy) (func(http.Handler) http.Handler, error) {
	isProxy, err := containing(c.Networks)
	return func(next http.Handler) http.Handler {
		if len(c.Networks) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			peer, err := netip.ParseAddrPort(r.RemoteAddr)
			for _, name := range []string{c.SubjectHeader, c.NameHeader, c.EmailHeader, c.GroupsHeader, c.AuthTimeHeader} {
				switch values := r.Header.Values(name); {
				case err != nil || !isProxy(peer.Addr()):
					r.Header.Del(name)
				case len(values) > 1:
					http.Error(w, "the header "+name+" occurs more than once", http.StatusBadRequest)
					return
				}
			}
			named := wire.ProxyAccount{Subject: r.Header.Get(c.SubjectHeader)}
			if seconds, err := strconv.ParseInt(r.Header.Get(c.AuthTimeHeader), 10, 64); err == nil && seconds > 0 && named.Subject != "" {
				named.AuthTime = time.Unix(seconds, 0)
			}
			next.ServeHTTP(w, r.WithContext(wire.WithProxyAccount(r.Context(), named)))
		})
	}, err
}

// trustProxies sets RemoteAddr to the address of the client if the peer is a trusted proxy.
func trustProxies(networks []string) (func(http.Handler) http.Handler, error) {
	isTrusted, err := containing(networks)
	if err != nil {
		return nil, err
	}
	return func(next http.Handler) http.Handler {
		if len(networks) == 0 {
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
