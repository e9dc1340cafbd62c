package oidc

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// claims are what a provider says about an account.
type claims map[string]any

// find returns the value of a claim: by its exact name, or by a JSON pointer such as /realm_access/roles. A name is
// never split at dots, because names may be URLs.
func (c claims) find(name string) any {
	if v, ok := c[name]; ok {
		return v
	}
	if !strings.HasPrefix(name, "/") {
		return nil
	}
	var at any = map[string]any(c)
	for _, key := range strings.Split(name[1:], "/") {
		key = strings.ReplaceAll(strings.ReplaceAll(key, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case map[string]any:
			at = v[key]
		case []any:
			n, err := strconv.Atoi(key)
			if err != nil || n < 0 || n >= len(v) {
				return nil
			}
			at = v[n]
		default:
			return nil
		}
	}
	return at
}

// text returns the value of a claim if that is a text, else "".
func (c claims) text(name string) string {
	s, _ := c.find(name).(string)
	return strings.TrimSpace(s)
}

// authTime returns when the person proved to the provider who they are; zero if the claims do not say so.
func (c claims) authTime() time.Time {
	seconds, ok := c["auth_time"].(float64)
	if !ok || seconds <= 0 || seconds > 1<<40 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0)
}

// lacks reports whether a claim that a log-in uses is missing.
func (c claims) lacks(cfg Config) bool {
	return slices.ContainsFunc([]string{cfg.NameClaim, cfg.GroupsClaim, "name", "email"}, func(name string) bool {
		return name != "" && c.find(name) == nil
	})
}

// add adds claims that are missing. The e-mail address and whether it is verified come from the same document.
func (c claims) add(more map[string]any) {
	if _, has := c["email"]; !has {
		delete(c, "email_verified")
	} else {
		delete(more, "email_verified")
	}
	for name, value := range more {
		if _, has := c[name]; !has {
			c[name] = value
		}
	}
}

// identity returns the account, or a Forbidden fault if a required claim is missing.
func (c claims) identity(cfg Config) (sso.Identity, error) {
	id := sso.Identity{Provider: cfg.Name, Issuer: cfg.Issuer, Subject: c.text("sub"), Name: c.text(cfg.NameClaim),
		FullName: c.text("name"), Email: c.text("email")}
	if id.Subject == "" {
		return id, refused("the ID token names no account")
	}
	for name, want := range cfg.RequiredClaims {
		if c.text(name) != want {
			return id, fault.Newf(fault.Forbidden, "your account lacks the value that Iris requires of %s", name)
		}
	}
	verified := c["email_verified"]
	id.EmailVerified = id.Email != "" && (verified == true || verified == "true")
	id.Groups, id.HasGroups = groups(c.find(cfg.GroupsClaim))
	return id, nil
}

// groups returns a list of groups. Anything else than texts is no list.
func groups(value any) ([]string, bool) {
	switch v := value.(type) {
	case string:
		return []string{v}, true
	case []any:
		out := make([]string, 0, len(v))
		for _, g := range v {
			s, ok := g.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}
