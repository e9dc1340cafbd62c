package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/go-chi/httprate"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// userKey is where a session keeps the name of the logged-in user.
const userKey = "user"

// newSessions returns the web sessions. The cookie has the predecessor's name.
func newSessions(c config.API, store *postgres.Sessions, fail func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	m := scs.New()
	m.Store = store
	m.Lifetime = c.HTTP.SessionTTL
	m.Cookie.Name = "iris-auth"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = strings.HasPrefix(c.PublicURL, "https://")
	m.ErrorFunc = fail
	return m
}

// people logs users in for the pages and finds them.
type people struct {
	*postgres.Users
	accounts *auth.Accounts
	guard    *loginGuard
}

// Authenticate implements the log-in, with a bound on attempts per name.
func (p *people) Authenticate(ctx context.Context, name, password string) (users.User, error) {
	if err := p.guard.enter(name, time.Now()); err != nil {
		return users.User{}, err
	}
	u, err := p.accounts.Authenticate(ctx, name, password)
	if err == nil {
		p.guard.forget(name)
	}
	return u, err
}

// loginGuard bounds the attempts to log in under one name, per process. It is safe for concurrent use.
type loginGuard struct {
	mu       sync.Mutex
	minute   int64
	attempts map[string]int
}

// loginAttempts per name and minute.
const loginAttempts = 20

func (g *loginGuard) enter(name string, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m := now.Unix() / 60; m != g.minute {
		g.minute, g.attempts = m, map[string]int{}
	}
	key := strings.ToLower(name)
	if len(key) > 255 {
		key = key[:255]
	}
	if g.attempts[key]++; g.attempts[key] > loginAttempts {
		return &fault.Error{Kind: fault.Throttled, Message: "too many attempts to log in", RetryAfter: time.Minute}
	}
	return nil
}

func (g *loginGuard) forget(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.attempts, strings.ToLower(name))
}

// throttleLogins bounds POSTs to the log-in per address, before anything costs memory or time.
func throttleLogins(fail func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	limit := httprate.LimitBy(60, time.Minute, byAddress,
		httprate.WithLimitHandler(func(w http.ResponseWriter, r *http.Request) {
			fail(w, r, &fault.Error{Kind: fault.Throttled, Message: "too many attempts to log in", RetryAfter: time.Minute})
		}))
	return func(next http.Handler) http.Handler {
		limited := limit(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && (r.URL.Path == "/login" || r.URL.Path == "/login/") {
				limited.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// byAddress tells callers apart by their address, which trustProxies has found; IPv6 by the network they have.
func byAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}

// trustProxies replaces the address of the peer by that of the client where the peer is a trusted proxy.
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
			// The nearest address that no trusted proxy wrote is the client's; what stands before it may be made up.
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

// httpMetrics counts requests by route pattern, never by path.
type httpMetrics struct {
	seconds *prometheus.HistogramVec
}

func newHTTPMetrics(reg prometheus.Registerer) *httpMetrics {
	m := &httpMetrics{seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "iris_app_http_request_seconds", Help: "Duration of requests by route, method and class of status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"route", "method", "status"})}
	reg.MustRegister(m.seconds)
	return m
}

func (m *httpMetrics) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		route := "none"
		if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
			route = c.RoutePattern()
		}
		method := r.Method
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		default:
			method = "other"
		}
		status := max(ww.Status(), 200)
		m.seconds.WithLabelValues(route, method, strconv.Itoa(status/100)+"xx").Observe(time.Since(begun).Seconds())
	})
}

// recoverer answers a panicking request and logs it; the process goes on.
func recoverer(log *zap.Logger, fail func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				p := recover()
				if p == nil {
					return
				}
				if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(p)
				}
				log.Error("request panicked", zap.String("method", r.Method), zap.String("path", wire.LogPath(r)),
					zap.Any("panic", p), zap.Stack("stack"))
				fail(w, r, errors.New("panic"))
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// mailboxProxy passes /dev/mailbox on to the mailbox of `iris dev`, which lives in another process.
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
		FlushInterval: -1, // the mailbox may stream
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			log.Warn("mailbox does not answer", zap.Error(err))
			http.Error(w, "the mailbox does not answer", http.StatusBadGateway)
		},
	}, nil
}

// listenPublic opens the listener of iris-api and says what to do when that fails.
func listenPublic(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("http.addr (IRIS_HTTP_ADDR): %w", err)
	}
	return l, nil
}
