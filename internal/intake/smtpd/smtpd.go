package smtpd

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/net/netutil"
	"golang.org/x/time/rate"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/metrics"
)

// Integrations finds integrations by their tokens. An unknown token is a NotFound fault. The number is that of the
// token.
type Integrations interface {
	ByToken(ctx context.Context, token string) (intake.Integration, int64, error)
}

// Receiver carries out events. It returns when they are durable.
type Receiver interface {
	Receive(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event,
		now time.Time) (receiving.Result, error)
}

// Activity limits the rate of integrations and records their deliveries.
type Activity interface {
	Allow(ctx context.Context, from intake.Integration, now time.Time) error
	Note(from intake.Integration, token int64, p intake.Payload, err error)
}

// Config of a Server.
type Config struct {
	Addr string
	// Domain is the domain of the recipients; "" = any.
	Domain string
	// MaxSize is the largest mail, in bytes.
	MaxSize int64
	// PerMinute is how many mails a peer may send in a minute.
	PerMinute int
	// TLS has the certificate for STARTTLS; nil = STARTTLS is not offered.
	TLS *tls.Config
	// RequireTLS refuses mails without STARTTLS.
	RequireTLS bool
	// Greeting is how long a client may take until its EHLO; 0 = 15 s.
	Greeting time.Duration
}

// Deps are the parts of a Server. All are required.
type Deps struct {
	Integrations Integrations
	Applications auth.Applications
	Receiver     Receiver
	Activity     Activity
	Decode       intake.Decoder
	// Room takes room for a mail of so many bytes, of what the bodies of all doors may take at a time. leave gives it
	// back.
	Room       func(ctx context.Context, size int) (leave func(), err error)
	Log        *zap.Logger
	Registerer prometheus.Registerer
}

// Bounds of connections. A mail must be complete within readTimeout after its command DATA.
const (
	maxConnections = 200
	maxPerPeer     = 30
	greetingTime   = 15 * time.Second // until EHLO
	strangerTime   = time.Minute      // until the first known recipient
	maxSessionTime = 15 * time.Minute
	maxCommand     = 64 << 10 // bytes that a client may send without an answer, except a mail
	readTimeout    = 2 * time.Minute
	writeTimeout   = 30 * time.Second
	maxRecipients  = 20
	maxUnknown     = 5  // unknown recipients until the connection is closed
	maxBodies      = 16 // mails in memory
	maxPeers       = 10_000
	workTimeout    = 30 * time.Second
	stopTimeout    = 10 * time.Second
	logEvery       = time.Minute
)

// Server receives mails. It is safe for concurrent use; Run must be called once.
type Server struct {
	cfg      Config
	d        Deps
	listener net.Listener
	smtp     *gosmtp.Server
	bodies   chan struct{} // one for each mail in memory
	mails    *prometheus.CounterVec

	mu     sync.Mutex
	peers  map[string]*peer
	logged map[string]time.Time // by text of the answer
}

// peer is what one address does. IPv6 addresses of one network of 64 bits are one peer.
type peer struct {
	open  int // connections
	mails *rate.Limiter
}

// The outcomes of mails, for the metric.
const (
	accepted  = "accepted"
	refused   = "refused"
	later     = "later"     // the sender repeats
	unknown   = "unknown"   // recipient
	throttled = "throttled" // peer
	insecure  = "insecure"  // without STARTTLS
	syntax    = "syntax"    // a command that the server does not know or cannot read, or that comes out of turn; not counted after STARTTLS
	unused    = "unused"    // the connection ended without a mail or a refusal: silence, a probe, an error after STARTTLS
)

// New opens the listener. The error names the setting.
func New(cfg Config, d Deps) (*Server, error) {
	s := &Server{cfg: cfg, d: d, bodies: make(chan struct{}, maxBodies), peers: map[string]*peer{},
		logged: map[string]time.Time{},
		mails: metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_smtpd_mails_total", Help: "Mails, recipients and connections of the SMTP server, by outcome.",
		}, []string{"outcome"}), []string{accepted, refused, later, unknown, throttled, insecure, syntax, unused})}
	s.d.Log = d.Log.Named("smtpd")
	if err := d.Registerer.Register(s.mails); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("intake.smtp.addr (IRIS_INTAKE_SMTP_ADDR): %w", err)
	}
	s.cfg.Greeting = cmp.Or(cfg.Greeting, greetingTime)
	s.listener = peerListener{netutil.LimitListener(listener, maxConnections), s}
	s.smtp = gosmtp.NewServer(gosmtp.BackendFunc(s.begin))
	s.smtp.Domain = cfg.Domain
	if s.smtp.Domain == "" {
		s.smtp.Domain = "localhost"
	}
	// The session and the connection bound sizes, recipients and lines: what the library refuses is counted nowhere.
	s.smtp.MaxMessageBytes, s.smtp.MaxRecipients, s.smtp.MaxLineLength = 0, 0, 0
	s.smtp.ReadTimeout, s.smtp.WriteTimeout = readTimeout, writeTimeout
	s.smtp.TLSConfig, s.smtp.ErrorLog = cfg.TLS, quiet{s.d.Log}
	return s, nil
}

// Addr returns the address of the listener.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Run serves until ctx ends. Mails that are being received have some seconds to finish then.
func (s *Server) Run(ctx context.Context) error {
	s.d.Log.Info("listening for mails", zap.String("address", s.Addr()), zap.String("domain", s.cfg.Domain),
		zap.Bool("starttls", s.cfg.TLS != nil))
	served := make(chan error, 1)
	go func() { served <- s.smtp.Serve(s.listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("the SMTP server ended: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := s.smtp.Shutdown(stopping)
	if errors.Is(err, context.DeadlineExceeded) {
		s.mu.Lock()
		open := len(s.peers)
		s.mu.Unlock()
		s.d.Log.Info("connections that did not end are closed", zap.Int("peers", open))
		err = nil
	}
	_ = s.smtp.Close() // it was shut down: closes what is left
	<-served
	return err
}

// begin begins a session after the EHLO of a client.
func (s *Server) begin(c *gosmtp.Conn) (gosmtp.Session, error) {
	from := c.Conn()
	if secure, ok := from.(*tls.Conn); ok {
		from = secure.NetConn()
	}
	accepted, ok := from.(*conn)
	if !ok {
		return nil, fmt.Errorf("a connection of the type %T", from)
	}
	accepted.extend(strangerTime)
	return &session{s: s, smtp: c, conn: accepted}, nil
}

// logOnce logs why mails of unknown integrations are refused, once a minute for each reason.
func (s *Server) logOnce(outcome, host, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.logged[reason]) < logEvery {
		return
	}
	s.logged[reason] = now
	s.d.Log.Warn("refused; further refusals for this reason are logged after a minute", zap.String("peer", host),
		zap.String("outcome", outcome),
		zap.String("reason", reason))
}

// enter counts a connection of a peer. It returns nil if the peer has too many.
func (s *Server) enter(host string) *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.peers[host]
	if p == nil {
		if len(s.peers) >= maxPeers {
			s.forget()
		}
		p = &peer{mails: rate.NewLimiter(rate.Limit(float64(s.cfg.PerMinute)/60), max(1, s.cfg.PerMinute/2))}
		s.peers[host] = p
	}
	if p.open >= maxPerPeer {
		return nil
	}
	p.open++
	return p
}

// forget removes the peers without a connection. The caller holds the lock.
func (s *Server) forget() {
	for host, p := range s.peers {
		if p.open == 0 {
			delete(s.peers, host)
		}
	}
}

func (s *Server) leave(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.open--
}

// quiet logs what the library reports at debug level: clients that break connections are usual.
type quiet struct{ log *zap.Logger }

// Printf implements gosmtp.Logger.
func (q quiet) Printf(format string, v ...any) { q.Println(fmt.Sprintf(format, v...)) }

// Println implements gosmtp.Logger.
func (q quiet) Println(v ...any) {
	q.log.Debug("connection", zap.String("problem", strings.TrimSpace(fmt.Sprintln(v...))))
}
