package signon

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/sso/oidc"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// maxLogoutToken is the largest body with a logout token, in bytes.
const maxLogoutToken = 64 << 10

// backchannel ends the sessions that a provider names in a logout token. The provider's server sends it, without a
// cookie. As the standard says, the answer is 200, also if there is no such session, or 400.
func (s *SignOn) backchannel(rw http.ResponseWriter, r *http.Request) {
	c, ok := s.choice(rw, r)
	if !ok {
		return
	}
	rw.Header().Set("Cache-Control", "no-store")
	r.Body = http.MaxBytesReader(rw, r.Body, maxLogoutToken)
	err := s.endSessions(r, c)
	if fault.Is(err, fault.Unauthenticated) {
		s.log.Warn("logout token refused", zap.String("provider", c.Name), zap.Error(err))
		err = fault.New(fault.Invalid, "the logout token is refused")
	}
	if err != nil {
		s.errors.Write(rw, r, err)
		return
	}
	rw.WriteHeader(http.StatusOK)
}

func (s *SignOn) endSessions(r *http.Request, c Choice) error {
	ctx := r.Context()
	out, err := c.Provider.LogoutToken(ctx, r.PostFormValue("logout_token"))
	if err != nil {
		return err
	}
	first, err := s.Sessions.Use(ctx, "logout "+c.Issuer+" "+out.ID, 2*oidc.LogoutLife+time.Minute)
	if err != nil {
		return err
	}
	if !first {
		return fault.New(fault.Unauthenticated, "the logout token was used before")
	}
	n, err := s.Sessions.End(ctx, c.Issuer, out.Subject, out.Sid)
	if err == nil {
		s.log.Info("sessions ended by the provider", zap.String("provider", c.Name), zap.Int64("sessions", n))
	}
	return err
}

// LogoutURL returns where the person of a request also logs out, and the label of that place; "" = nowhere. It must be
// called before the session ends.
func (s *SignOn) LogoutURL(r *http.Request) (address, label string, err error) {
	if wire.BoundToProxy(r.Context(), s.web) {
		return s.Proxy.LogoutURL, "the proxy", nil
	}
	if len(s.Choices) == 0 {
		return "", "", nil
	}
	of, err := s.Sessions.Of(r.Context(), s.web.Token(r.Context()))
	if err != nil || of.Issuer == "" {
		return "", "", err
	}
	for _, c := range s.Choices {
		if c.Issuer == of.Issuer {
			return c.Provider.LogoutURL(of.IDToken, s.PublicURL+"/login"), c.Label, nil
		}
	}
	return "", "", nil
}
