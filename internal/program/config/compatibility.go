package config

import (
	"crypto/tls"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// open checks the settings of iris-api that give access, and those of the API.
func (l *loader) open(out *API, f file) {
	for i, origin := range out.HTTP.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Scheme+"://"+u.Host != origin {
			l.problem(l.where(index("http.allowed_origins", i)),
				"%q is not an origin; write it like https://portal.example.com", origin)
		}
	}
	if out.Compatibility.DisableAuth {
		for _, a := range []struct{ path, addr string }{{"http.addr", out.HTTP.Addr}, {"admin.addr", out.Admin.Addr}} {
			if a.addr != "" && a.addr != "off" && !loopback(a.addr) {
				l.problem(l.where(a.path),
					"%q can be reached from other machines, and compatibility.disable_auth lets in every "+
						"client; set it to 127.0.0.1:PORT, or remove disable_auth", a.addr)
			}
		}
		l.warning(l.where("compatibility.disable_auth"),
			"is set: no signature, key or password is checked; for tests only")
	}
	l.dummyRoles(f.Compatibility)
	out.IncidentRates = l.incidentRates(f.IncidentRates)
	out.Intake = l.intake(f.Intake)
	out.MaxPlanLength = f.MaxPlanLength
	l.notNegative("max_plan_length", f.MaxPlanLength)
	out.Tags, out.InternalApplications = f.Tags, f.Internal
	for i, name := range out.Tags {
		if !tagName.MatchString(name) {
			l.problem(l.where(index("tags", i)), "%q cannot be the name of a tag; use letters, digits, - and single _",
				name)
		}
	}
}

// tagName matches names that can be part of a query parameter tag_NAME__op.
var tagName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

func (l *loader) dummyRoles(c Compatibility) {
	if c.DummyRoles {
		l.warning(l.where("compatibility.dummy_roles"), "is set: every target is paged as the user foo; for tests only")
	}
}

func (l *loader) intake(in Intake) Intake {
	in.CatchAllPlan = strings.TrimSpace(in.CatchAllPlan)
	l.apply("intake", &in)
	if in.SMTP.Addr != "" {
		l.intakeSMTP("intake.smtp", in.SMTP)
	}
	return in
}

// MailDomain returns the domain of the addresses of integrations of type email: the configured one, else the host of
// public_url; "" = any.
func (c API) MailDomain() string {
	domain := c.Intake.SMTP.Domain
	if u, err := url.Parse(c.PublicURL); err == nil && domain == "" && net.ParseIP(u.Hostname()) == nil && u.Hostname() != "localhost" {
		domain = u.Hostname()
	}
	return domain
}

// intakeSMTP checks the SMTP server. The addresses of integrations are secrets, so they must not pass a network in
// clear text.
func (l *loader) intakeSMTP(at string, s IntakeSMTP) {
	l.address(at+".addr", s.Addr, true)
	switch {
	case (s.CertFile == "") != (s.KeyFile == ""):
		l.problem(l.where(at+".tls_cert_file"), "tls_cert_file and tls_key_file belong together; set both or none")
	case s.CertFile != "":
		if _, err := tls.LoadX509KeyPair(s.CertFile, s.KeyFile); err != nil {
			l.problem(l.where(at+".tls_cert_file"), "%v", err)
		}
	case !loopback(s.Addr) && !s.Insecure:
		l.problem(l.where(at+".addr"), "%q can be reached from other machines, and the addresses of integrations are secrets; set tls_cert_file and "+
			"tls_key_file, or listen on 127.0.0.1", s.Addr)
	}
	if s.Insecure {
		l.warning(l.where(at+".insecure"), "is set: mails are accepted without TLS")
	}
}

func (l *loader) incidentRates(r IncidentRates) IncidentRates {
	l.apply("incident_rate_limiting", &r)
	if r.RecentLookback > 24*time.Hour {
		l.problem(l.where("incident_rate_limiting.recent_lookback"), "must not be more than 24h")
	}
	return r
}

// loopback reports whether only this machine can reach a listen address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	ip, ipErr := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || ipErr == nil && ip.Unmap().IsLoopback())
}
