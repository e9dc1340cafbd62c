package config

import (
	"net/http"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth/tokens"
)

// OIDC is an OpenID Connect provider.
type OIDC struct {
	Rights       `koanf:",squash"`
	Name         string   `koanf:"name"`   // in addresses and links: lower-case letters, digits and hyphens
	Label        string   `koanf:"label"`  // on the log-in page. "" = name
	Issuer       string   `koanf:"issuer"` // exactly as the provider writes it
	ClientID     string   `koanf:"client_id"`
	ClientSecret Secret   `koanf:"client_secret"` // "" = a public client
	Scopes       []string `koanf:"scopes" default:"profile,email"`
	CAFile       string   `koanf:"ca_file"` // PEM. "" = the system's roots
	NameClaim    string   `koanf:"name_claim" default:"preferred_username"`
	GroupsClaim  string   `koanf:"groups_claim" default:"groups"`
	// RequiredClaims are claims that an account must have with this value, such as hd: example.com.
	RequiredClaims map[string]string `koanf:"required_claims"`
}

// Rights say what an account at a provider gives.
type Rights struct {
	// LinkOnly refuses people who are not linked, instead of adding them at their first log-in.
	LinkOnly bool `koanf:"link_only"`
	// TrustEmail links an existing person with the same e-mail address, which the person proved or a directory gives.
	TrustEmail bool       `koanf:"trust_email"`
	Roles      Roles      `koanf:"roles"`
	Teams      []TeamRule `koanf:"teams"`
}

// Roles are the groups that give roles.
type Roles struct {
	Admin    []string `koanf:"admin"`
	ReadOnly []string `koanf:"read_only"`
}

// TeamRule makes the members of a group members of a team.
type TeamRule struct {
	Group string `koanf:"group"`
	Team  string `koanf:"team"`
}

// Proxy is a proxy that authenticates people and names them in headers. Without networks there is none.
type Proxy struct {
	Rights `koanf:",squash"`
	// Networks are the addresses of the proxy. Requests of other peers cannot log in by headers.
	Networks      []string `koanf:"networks"`
	SubjectHeader string   `koanf:"subject_header" default:"X-Forwarded-User"`            // names the account for ever
	NameHeader    string   `koanf:"name_header" default:"X-Forwarded-Preferred-Username"` // log-in name; missing = that of the subject
	EmailHeader   string   `koanf:"email_header" default:"X-Forwarded-Email"`
	GroupsHeader  string   `koanf:"groups_header" default:"X-Forwarded-Groups"` // separated by commas
	// AuthTimeHeader has the time of the person's log-in at the proxy, in seconds since 1970. "" = the proxy does not
	// send one.
	AuthTimeHeader string `koanf:"auth_time_header"`
	LogoutURL      string `koanf:"logout_url"` // of the proxy, such as /oauth2/sign_out. "" = none
}

// SCIM is the guard against directories that deactivate too many people.
type SCIM struct {
	// MaxDeactivations is how many people a connection may deactivate in an hour without an administrator.
	MaxDeactivations int `koanf:"max_deactivations" default:"10"`
}

// Tokens limits the lives of new tokens.
type Tokens struct {
	// PersonalMaxLife and ServiceMaxLife are at most 366 days.
	PersonalMaxLife time.Duration `koanf:"personal_max_life" default:"366d"`
	ServiceMaxLife  time.Duration `koanf:"service_max_life" default:"366d"`
}

// ProxyName is the name of the proxy as a provider.
const ProxyName = "proxy"

// Issuers returns the issuers of the providers by name, the proxy included.
func Issuers(providers []OIDC) map[string]string {
	out := map[string]string{ProxyName: ProxyName}
	for _, p := range providers {
		out[p.Name] = p.Issuer
	}
	return out
}

// Issuers returns the issuers of the providers in the file by name. They are not checked.
func (c *Config) Issuers() map[string]string { return Issuers(c.file.Auth.OIDC) }

var (
	providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`)
	headerName   = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
)

// oidc checks the providers and fills in the defaults.
func (l *loader) oidc(providers []OIDC) []OIDC {
	seen, issuers := map[string]bool{}, map[string]bool{}
	for i := range providers {
		p := &providers[i]
		at := index("auth.oidc", i)
		l.apply(at, p)
		if p.Label == "" {
			p.Label = p.Name
		}
		if l.required(at+".name", p.Name) && (!providerName.MatchString(p.Name) || p.Name == ProxyName || seen[p.Name]) {
			l.problem(l.where(at+".name"), "%q must be unique, not %q, and of lower-case letters, digits and hyphens",
				p.Name, ProxyName)
		}
		seen[p.Name] = true
		if l.required(at+".issuer", p.Issuer) {
			l.issuer(at+".issuer", p.Issuer)
			if issuers[p.Issuer] {
				l.problem(l.where(at+".issuer"), "another provider has this issuer")
			}
			issuers[p.Issuer] = true
		}
		l.required(at+".client_id", p.ClientID)
		l.caFile(at+".ca_file", p.CAFile)
		l.rights(at, p.Rights)
	}
	return providers
}

// issuer checks the address of a provider. Without TLS, anybody between could log in as anybody.
func (l *loader) issuer(path, issuer string) {
	l.httpURL(path, issuer)
	host, plain := strings.CutPrefix(issuer, "http://")
	host, _, _ = strings.Cut(host, "/")
	if plain && !loopbackHost(host) {
		l.problem(l.where(path), "must begin with https://")
	}
}

func loopbackHost(host string) bool {
	if i := strings.LastIndex(host, ":"); i > 0 {
		host = host[:i]
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

func (l *loader) rights(path string, r Rights) {
	for i, t := range r.Teams {
		l.required(index(path+".teams", i)+".group", t.Group)
		l.required(index(path+".teams", i)+".team", t.Team)
	}
}

// proxy checks the authenticating proxy and fills in the defaults.
func (l *loader) proxy(p Proxy) Proxy {
	const at = "auth.proxy"
	if len(p.Networks) == 0 {
		return p
	}
	l.apply(at, &p)
	for i, network := range p.Networks {
		if _, err := netip.ParsePrefix(network); err != nil {
			l.problem(l.where(index(at+".networks", i)), "%q is not a network; write it like 10.0.0.0/8", network)
		}
	}
	for key, name := range map[string]*string{"subject_header": &p.SubjectHeader, "name_header": &p.NameHeader, "email_header": &p.EmailHeader, "groups_header": &p.GroupsHeader} {
		if !headerName.MatchString(*name) {
			l.problem(l.where(at+"."+key), "%q is not the name of a header", *name)
		}
		*name = http.CanonicalHeaderKey(*name)
	}
	if p.AuthTimeHeader != "" {
		if !headerName.MatchString(p.AuthTimeHeader) {
			l.problem(l.where(at+".auth_time_header"), "%q is not the name of a header", p.AuthTimeHeader)
		}
		p.AuthTimeHeader = http.CanonicalHeaderKey(p.AuthTimeHeader)
	}
	if u := p.LogoutURL; u != "" && (!strings.HasPrefix(u, "/") || strings.HasPrefix(u, "//")) {
		l.httpURL(at+".logout_url", u)
	}
	l.rights(at, p.Rights)
	return p
}

func (l *loader) scim(s SCIM) SCIM {
	const at = "auth.scim"
	l.apply(at, &s)
	if s.MaxDeactivations < 1 || s.MaxDeactivations > 100_000 {
		l.problem(l.where(at+".max_deactivations"), "must be between 1 and 100000")
	}
	return s
}

func (l *loader) tokens(t Tokens) Tokens {
	const at = "auth.tokens"
	l.apply(at, &t)
	for key, life := range map[string]time.Duration{"personal_max_life": t.PersonalMaxLife, "service_max_life": t.ServiceMaxLife} {
		if life > 0 && life < time.Second || life > tokens.MaxLife {
			l.problem(l.where(at+"."+key), "must be between 1s and 366d")
		}
	}
	return t
}
