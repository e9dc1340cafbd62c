package signon

import (
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Proxy names the headers of an authenticating proxy. The zero value means that there is none. The server must delete
// these headers from requests that do not come from the proxy.
type Proxy struct {
	Name                         string // of the proxy as a provider
	Subject, User, Email, Groups string
	LogoutURL                    string // where the proxy ends its own session; "" = nowhere
}

// identity returns the account that the proxy names; ok is false if there is none. Groups are separated by commas.
func (p Proxy) identity(r *http.Request) (id sso.Identity, ok bool) {
	if p.Subject == "" || r.Header.Get(p.Subject) == "" {
		return id, false
	}
	id = sso.Identity{Provider: p.Name, Issuer: p.Name, Subject: r.Header.Get(p.Subject), Name: r.Header.Get(p.User),
		Email: r.Header.Get(p.Email)}
	id.FullName, id.EmailVerified = id.Name, id.Email != "" // the administrator trusts the proxy's addresses by trust_email
	if id.Name == "" {
		id.Name, id.FullName = id.Subject, ""
	}
	id.HasGroups = len(r.Header.Values(p.Groups)) > 0
	for g := range strings.SplitSeq(r.Header.Get(p.Groups), ",") {
		if g = strings.TrimSpace(g); g != "" {
			id.Groups = append(id.Groups, g)
		}
	}
	return id, true
}

// EnterByProxy begins a session for the account that the proxy names. It reports whether it did. A refusal is an error.
func (s *SignOn) EnterByProxy(r *http.Request) (entered bool, err error) {
	id, ok := s.Proxy.identity(r)
	if !ok {
		return false, nil
	}
	from := sso.Session{Issuer: id.Issuer, Subject: id.Subject, AuthTime: wire.ProxyAccountOf(r.Context()).AuthTime}
	if err := s.enter(r.Context(), id, from); err != nil {
		return false, err
	}
	wire.BindToProxy(r.Context(), s.web, id.Subject)
	return true, nil
}

// ProxyProblem is the text about an error of EnterByProxy for the log-in page.
func ProxyProblem(err error) (text string, ok bool) {
	if fault.Is(err, fault.Forbidden) {
		return "You are not logged in: " + fault.Public(err) + ".", true
	}
	return "", false
}
