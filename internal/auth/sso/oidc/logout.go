package oidc

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// LogoutURL returns the address at the provider that ends the person's session there and then shows the page after; ""
// = the provider has none. idToken names the session.
func (p *Provider) LogoutURL(idToken, after string) string {
	c, err := p.connected()
	if err != nil || c.discovered.EndSession == "" {
		return ""
	}
	u, err := url.Parse(c.discovered.EndSession)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.cfg.ClientID)
	q.Set("post_logout_redirect_uri", after)
	if idToken != "" {
		q.Set("id_token_hint", idToken)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Logout is what a logout token ends: the session Sid, or all sessions of the account if that is "".
type Logout struct {
	Subject, Sid string
	ID           string // unique; a token must be used once
}

const (
	logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
	// LogoutLife is the maximum age of a logout token.
	LogoutLife = 5 * time.Minute
)

// LogoutToken checks a logout token: signature, issuer, audience, times, the event, an account or a session, and that
// it cannot be an ID token. A token that is refused is an Unauthenticated fault. The caller must refuse a token whose
// ID was used before.
func (p *Provider) LogoutToken(ctx context.Context, raw string) (Logout, error) {
	if raw == "" {
		return Logout{}, refused("there is no logout token")
	}
	c, err := p.connected()
	if err != nil {
		return Logout{}, err
	}
	token, err := c.logouts.Verify(ctx, raw)
	if err != nil {
		return Logout{}, fault.Wrap(fault.Unauthenticated, err, "the logout token is refused")
	}
	var content struct {
		Subject string                     `json:"sub"`
		Sid     string                     `json:"sid"`
		ID      string                     `json:"jti"`
		Events  map[string]json.RawMessage `json:"events"`
		Nonce   *json.RawMessage           `json:"nonce"`
	}
	if err := token.Claims(&content); err != nil {
		return Logout{}, refused("the logout token cannot be read")
	}
	var event map[string]any
	_ = json.Unmarshal(content.Events[logoutEvent], &event) // event stays nil
	age := time.Since(token.IssuedAt)
	switch {
	case event == nil:
		return Logout{}, refused("the token is not about a logout")
	case content.Nonce != nil:
		return Logout{}, refused("a logout token must not have a nonce")
	case content.Subject == "" && content.Sid == "":
		return Logout{}, refused("the logout token names neither an account nor a session")
	case content.ID == "":
		return Logout{}, refused("the logout token has no jti")
	case age > LogoutLife || age < -time.Minute:
		return Logout{}, refused("the logout token is too old, or from the future")
	}
	return Logout{Subject: content.Subject, Sid: content.Sid, ID: content.ID}, nil
}
