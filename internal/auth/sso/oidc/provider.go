package oidc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	gooidc "github.com/coreos/go-oidc/v3/oidc"
	"github.com/hashicorp/cap/oidc"
	"go.uber.org/zap"
	"golang.org/x/oauth2"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Config configures a provider.
type Config struct {
	Name         string // names the provider in addresses and links
	Issuer       string // exactly as the provider's discovery names it
	ClientID     string
	ClientSecret string
	Scopes       []string // besides openid
	CA           string   // accepted certificate authorities in PEM; "" = those of the system
	RedirectURL  string   // where the provider sends people after the log-in
	NameClaim    string   // claim with the wanted log-in name
	GroupsClaim  string   // claim with the groups: its exact name, or a JSON pointer
	// RequiredClaims are claims that an account must have, such as hd: example.com.
	RequiredClaims map[string]string
}

const (
	// RequestLife is how long a log-in at the provider may take.
	RequestLife = 10 * time.Minute
	// clockSkew is how long after its end an ID token is accepted, for clocks that differ.
	clockSkew = 30 * time.Second
	// discoveryLife is how long the provider's addresses and keys are used without reading them again. A key that the
	// provider has withdrawn is accepted for so long.
	discoveryLife = time.Hour
	// discoveryKept is how long they are used if the provider does not answer.
	discoveryKept = 24 * time.Hour
	// discoveryPause is the time between two attempts to read them.
	discoveryPause = 5 * time.Second
)

// algorithms are the accepted signatures. All are asymmetric: a public key cannot sign.
var algorithms = []oidc.Alg{oidc.RS256, oidc.ES256, oidc.PS256}

// Provider is an OpenID Connect provider. It reads the provider's addresses and keys when they are first needed, so
// that a provider that does not answer delays no start. It is safe for concurrent use.
type Provider struct {
	cfg       Config
	transport http.RoundTripper
	log       *zap.Logger

	mu      sync.Mutex
	current *connection // nil = not read yet
	tried   time.Time   // the last attempt to read
	failed  error       // of the last attempt
}

// connection is what was read from a provider.
type connection struct {
	*oidc.Provider
	discovered discovered
	logouts    *gooidc.IDTokenVerifier
	read       time.Time
}

// discovered has the values of the discovery document that the libraries do not show.
type discovered struct {
	EndSession string `json:"end_session_endpoint"`
	Keys       string `json:"jwks_uri"`
	UserInfo   string `json:"userinfo_endpoint"`
	// SendsIssuer means that the provider names itself in its answers to the browser.
	SendsIssuer bool `json:"authorization_response_iss_parameter_supported"`
}

// New returns a provider. It does not connect.
func New(cfg Config, log *zap.Logger) (*Provider, error) {
	p := &Provider{cfg: cfg, log: log.Named("oidc").With(zap.String("provider", cfg.Name))}
	var err error
	if p.transport, err = newTransport(cfg.CA); err != nil {
		return nil, fmt.Errorf("provider %s: %w", cfg.Name, err)
	}
	_, err = p.config()
	return p, err
}

// config returns the configuration of the library. Its clock is late by the accepted skew.
func (p *Provider) config() (*oidc.Config, error) {
	c := p.cfg
	return oidc.NewConfig(c.Issuer, c.ClientID, oidc.ClientSecret(c.ClientSecret), algorithms, []string{c.RedirectURL},
		oidc.WithScopes(c.Scopes...), oidc.WithAudiences(c.ClientID), oidc.WithRoundTripper(p.transport),
		oidc.WithNow(func() time.Time { return time.Now().Add(-clockSkew) }))
}

// connected returns what was read from the provider, and reads it again if it is old.
func (p *Provider) connected() (*connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if p.current != nil && now.Sub(p.current.read) < discoveryLife {
		return p.current, nil
	}
	if now.Sub(p.tried) >= discoveryPause {
		old := p.current
		read, err := p.read()
		p.tried, p.failed = time.Now(), err
		if err != nil {
			p.log.Warn("provider does not answer", zap.Error(err))
		} else if p.current = read; old != nil {
			time.AfterFunc(2*callTimeout, old.Done) // log-ins may still use it
		}
	}
	if p.current != nil && now.Sub(p.current.read) < discoveryKept {
		return p.current, nil
	}
	return nil, fault.Wrap(fault.Unavailable, p.failed, "the provider "+p.cfg.Name+" does not answer")
}

// Check reads the discovery document of the provider. The error says what failed; calls take at most the time of a
// log-in's.
func (p *Provider) Check() error {
	c, err := p.read()
	if err == nil {
		c.Done()
	}
	return err
}

func (p *Provider) read() (*connection, error) {
	cfg, err := p.config()
	if err != nil {
		return nil, err
	}
	provider, err := oidc.NewProvider(cfg)
	if err != nil {
		return nil, err
	}
	c := &connection{Provider: provider, read: time.Now()}
	if err := provider.Claims(&c.discovered); err != nil {
		provider.Done()
		return nil, err
	}
	client := &http.Client{Transport: p.transport}
	keys := gooidc.NewRemoteKeySet(gooidc.ClientContext(context.Background(), client), c.discovered.Keys)
	c.logouts = gooidc.NewVerifier(p.cfg.Issuer, keys, &gooidc.Config{ClientID: p.cfg.ClientID,
		SupportedSigningAlgs: names(algorithms),
		Now:                  func() time.Time { return time.Now().Add(-clockSkew) }})
	return c, nil
}

func names(algs []oidc.Alg) []string {
	out := make([]string, len(algs))
	for i, a := range algs {
		out[i] = string(a)
	}
	return out
}

// Issuer returns the issuer of the accounts.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// Request is what a log-in must remember while the person is at the provider. It is secret.
type Request struct {
	State, Nonce, Verifier string
	Again                  bool // the person must have logged in just now; the library checks auth_time
}

// againWithin is how long ago a person may have logged in at the provider if the log-in must be new.
const againWithin = 5 * time.Minute

// options are the options that both Begin and Finish need.
func (r Request) options() []oidc.Option {
	if !r.Again {
		return nil
	}
	return []oidc.Option{oidc.WithPrompts(oidc.Login), oidc.WithMaxAge(uint(againWithin / time.Second))}
}

// Begin returns the address at the provider where a person logs in, and what Finish needs. again = the person logs in
// again, even with a session at the provider.
func (p *Provider) Begin(ctx context.Context, again bool) (Request, string, error) {
	c, err := p.connected()
	if err != nil {
		return Request{}, "", err
	}
	verifier, err := oidc.NewCodeVerifier()
	if err != nil {
		return Request{}, "", err
	}
	r, err := oidc.NewRequest(RequestLife, p.cfg.RedirectURL,
		append(Request{Again: again}.options(), oidc.WithPKCE(verifier))...)
	if err != nil {
		return Request{}, "", err
	}
	address, err := c.AuthURL(ctx, r)
	return Request{State: r.State(), Nonce: r.Nonce(), Verifier: verifier.Verifier(), Again: again}, address, err
}

// refused is an Unauthenticated fault about the provider's answer.
func refused(why string, args ...any) error {
	return fault.New(fault.Unauthenticated, fmt.Sprintf(why, args...))
}

// CheckAnswer checks the parameters with which the provider sends the browser back, before anything else is done with
// them.
func (p *Provider) CheckAnswer(r Request, answer url.Values) error {
	for name, values := range answer {
		if len(values) > 1 {
			return refused("the provider's answer has several values of %.50s", name)
		}
	}
	c, err := p.connected()
	if err != nil {
		return err
	}
	issuer := answer.Get("iss")
	switch {
	case r.State == "" || answer.Get("state") != r.State:
		return refused("the answer belongs to another log-in")
	case issuer != "" && issuer != p.cfg.Issuer, issuer == "" && c.discovered.SendsIssuer:
		return refused("the answer comes from another provider")
	case answer.Get("error") != "":
		return refused("the provider refused the log-in: %.100q", answer.Get("error"))
	case answer.Get("code") == "":
		return refused("the provider's answer has no code")
	}
	return nil
}

// Finish exchanges the code of an answer that CheckAnswer has accepted, and returns the account. The caller must have
// made sure that the request is used for the first time. An Unauthenticated fault means that the log-in is refused, an
// Unavailable one that the provider does not answer.
func (p *Provider) Finish(ctx context.Context, r Request, answer url.Values) (sso.Identity, sso.Session, error) {
	c, err := p.connected()
	if err != nil {
		return sso.Identity{}, sso.Session{}, err
	}
	verifier, err := oidc.NewCodeVerifier(oidc.WithVerifier(r.Verifier))
	if err != nil {
		return sso.Identity{}, sso.Session{}, err
	}
	request, err := oidc.NewRequest(RequestLife, p.cfg.RedirectURL,
		append(r.options(), oidc.WithPKCE(verifier), oidc.WithState(r.State), oidc.WithNonce(r.Nonce))...)
	if err != nil {
		return sso.Identity{}, sso.Session{}, err
	}
	token, err := c.Exchange(ctx, request, answer.Get("state"), answer.Get("code"))
	if err != nil {
		return sso.Identity{}, sso.Session{}, p.exchangeError(err)
	}
	var claims claims
	if err := token.IDToken().Claims(&claims); err != nil {
		return sso.Identity{}, sso.Session{}, refused("the ID token cannot be read")
	}
	if aud, ok := claims["aud"].([]any); ok && !slices.Contains(aud, any(p.cfg.ClientID)) || !ok && claims["aud"] != p.cfg.ClientID {
		return sso.Identity{}, sso.Session{}, refused("the ID token is for another client")
	}
	authTime := claims.authTime() // of the signed token: user information does not count
	if claims.lacks(p.cfg) && c.discovered.UserInfo != "" {
		more := map[string]any{}
		if err := c.UserInfo(ctx, token.StaticTokenSource(), claims.text("sub"), &more); err != nil {
			p.log.Warn("user information cannot be read: the log-in continues with the ID token", zap.Error(err))
		} else {
			claims.add(more)
		}
	}
	id, err := claims.identity(p.cfg)
	return id, sso.Session{Issuer: id.Issuer, Subject: id.Subject, Sid: claims.text("sid"),
		IDToken: string(token.IDToken()), AuthTime: authTime}, err
}

// exchangeError translates an error of the exchange. It leaves out the body of the provider's answer.
func (p *Provider) exchangeError(err error) error {
	var answer *oauth2.RetrieveError
	var network *url.Error
	switch {
	case errors.As(err, &answer) && answer.Response != nil &&
		answer.Response.StatusCode >= http.StatusInternalServerError:
		return fault.Newf(fault.Unavailable, "the provider %s fails with status %d", p.cfg.Name,
			answer.Response.StatusCode)
	case errors.As(err, &answer):
		return refused("the provider refused the code: %.100q", answer.ErrorCode)
	case errors.As(err, &network):
		return fault.Wrap(fault.Unavailable, err, "the provider "+p.cfg.Name+" does not answer")
	}
	return fault.Wrap(fault.Unauthenticated, err, "the ID token of the provider is refused")
}
