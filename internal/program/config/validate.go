package config

import (
	"cmp"
	"encoding/base64"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// API checks the configuration of iris-api and fills in the defaults. The error joins all problems.
func (c *Config) API() (API, error) {
	l := c.newCheck()
	f := c.file
	out := API{
		Common: l.common(f.Common), HTTP: f.HTTP, Slack: f.Slack, Twilio: f.Twilio, Compatibility: f.Compatibility,
		MailingLists: l.mailingLists(f.MailingLists),
		Webhooks:     f.Webhooks,
		TimeZones:    l.timeZones(f.TimeZones), Mobile: f.Mobile, Oncall: l.oncall(f.Oncall),
	}
	if out.Mobile.Activated && len(out.Mobile.Applications) == 0 {
		l.warning(l.where("mobile.applications"), "is empty: no application may register phones")
	}
	l.apply("http", &out.HTTP)
	l.address("http.addr", out.HTTP.Addr, true)
	for i, network := range out.HTTP.TrustedProxies {
		if _, err := netip.ParsePrefix(network); err != nil {
			l.problem(l.where(index("http.trusted_proxies", i)), "%q is not a network; write it like 10.0.0.0/8",
				network)
		}
	}
	for i, format := range out.Webhooks {
		l.oneOf(index("webhooks", i), format, "alertmanager", "freshping", "grafana", "rackspace")
	}
	out.OIDC, out.Proxy, out.Tokens = l.oidc(f.Auth.OIDC), l.proxy(f.Auth.Proxy), l.tokens(f.Auth.Tokens)
	out.SCIM, out.History = l.scim(f.Auth.SCIM), l.history(f.History)
	out.SecondFactor = cmp.Or(f.Auth.SecondFactor, "optional")
	l.oneOf("auth.second_factor", out.SecondFactor, "optional", "admins", "everybody")
	out.LDAP = l.ldap(f.Auth.LDAP)
	out.Sync = l.sync(f.Sync, out.LDAP, f.Slack)
	l.open(&out, f)
	l.oncallDebug(&out)
	// iris-api needs only the secrets that verify callbacks of vendors. The processor sends.
	for i, s := range out.Slack {
		if s.APIURL != "" {
			l.httpURL(index("slack", i)+".api_url", s.APIURL)
		}
		if s.SigningSecret == "" {
			l.warning(l.where(index("slack", i)+".signing_secret"), "is not set: buttons in Slack do not work")
		}
	}
	for i, t := range out.Twilio {
		if t.AuthToken == "" {
			l.warning(l.where(index("twilio", i)+".auth_token"),
				"is not set: replies, keys and receipts from Twilio are refused")
		}
	}
	out.InForce = c.inForce(out)
	return out, l.err()
}

// Processor checks the configuration of message-processor and fills in the defaults. The error joins all problems.
func (c *Config) Processor() (Processor, error) {
	l := c.newCheck()
	f := c.file
	out := Processor{
		Common: l.common(f.Common), Gossip: f.Gossip, SMTP: slices.Clone(f.SMTP), Slack: slices.Clone(f.Slack),
		Twilio: slices.Clone(f.Twilio), Webhook: slices.Clone(f.Webhook), Push: slices.Clone(f.Push), Limits: f.Limits, Delivery: f.Delivery, History: f.History,
		MailingLists: l.mailingLists(f.MailingLists), Compatibility: f.Compatibility, Oncall: l.oncall(f.Oncall),
		Intake: Intake{CatchAllPlan: c.CatchAllPlan()},
	}
	l.dummyRoles(f.Compatibility)
	out.LDAP = l.ldap(f.Auth.LDAP)
	out.Sync = l.sync(f.Sync, out.LDAP, f.Slack)
	l.gossip(&out.Gossip)
	// Sections with only the secrets that verify callbacks are for iris-api; they are not accounts.
	out.Slack = slices.DeleteFunc(out.Slack, func(s Slack) bool {
		return s.Token == "" && s.SigningSecret != "" &&
			s.APIURL == ""
	})
	out.Twilio = slices.DeleteFunc(out.Twilio, func(t Twilio) bool {
		return t.AccountSID == "" && t.From == "" && t.KeySID == "" && t.AuthToken != "" && t.APIURL == ""
	})
	for i := range out.SMTP {
		l.smtp(index("smtp", i), &out.SMTP[i], i)
	}
	for i := range out.Slack {
		l.slack(index("slack", i), &out.Slack[i], i)
	}
	for i := range out.Twilio {
		l.twilio(index("twilio", i), &out.Twilio[i], i)
	}
	for i := range out.Webhook {
		l.webhook(index("webhook", i), &out.Webhook[i], i)
	}
	for i := range out.Push {
		l.push(index("push", i), &out.Push[i], i)
	}
	accounts := l.accounts(out)
	if len(accounts) == 0 {
		l.warning("smtp, slack, twilio, webhook, push",
			"no vendor is configured: nothing is sent; set IRIS_SMTP_ADDR and IRIS_SMTP_FROM to send e-mail")
	}
	l.limits(out.Limits, accounts)
	l.apply("delivery", &out.Delivery)
	if out.Delivery.DryRun != "" {
		l.warning(l.where("delivery.dry_run"), "is set: nobody is paged")
	}
	out.History = l.history(f.History)
	out.CloseAfter = 30 * 24 * time.Hour
	if after := f.Incidents.CloseAfter; after != nil {
		if out.CloseAfter = *after; *after != 0 && *after < minClose {
			l.problem(l.where("incidents.close_after"), "must be at least 1h, or 0s for never, not %v", *after)
		}
	}
	return out, l.err()
}

// history returns how long data is kept, with the defaults.
func (l *loader) history(h History) History {
	l.apply("history", &h)
	for name, d := range map[string]time.Duration{"history.retention": h.Retention, "history.audit_retention": h.AuditRetention} {
		if d < minRetention {
			l.problem(l.where(name), "must be at least 1d, not %v; m means minutes, 13 months are 396d", d)
		}
	}
	return h
}

// minRetention is the minimum of times of retention. A shorter time is probably a mistake and would delete data that is
// still needed.
const minRetention = 24 * time.Hour

// minClose is the minimum of incidents.close_after. A shorter time would close incidents that people work on.
const minClose = time.Hour

func (l *loader) mailingLists(m MailingLists) MailingLists {
	if m.MaxMembers < 0 {
		l.problem(l.where("mailing_lists.max_members"), "must not be negative; 0 means no limit")
	}
	return m
}

// timeZones checks the time zones that people may choose; none = the default ones.
func (l *loader) timeZones(zones []string) []string {
	if len(zones) == 0 {
		return defaultTimeZones()
	}
	for i, zone := range zones {
		if _, err := time.LoadLocation(zone); err != nil || zone == "" || zone == "Local" {
			l.problem(l.where(index("time_zones", i)), "%q is not a time zone; write it like Europe/Zurich", zone)
		}
	}
	return zones
}

// Database checks what commands on the database need. A url that is not empty replaces the configured one.
func (c *Config) Database(url Secret) (Common, error) {
	l := c.newCheck()
	common := c.file.Common
	if url != "" {
		common.Database.URL = url
	}
	out := l.common(common)
	return out, l.err()
}

// Warnings returns the warnings of loading and of the checks so far.
func (c *Config) Warnings() []Problem { return c.loader.warnings }

// newCheck starts a check: it drops the problems of an earlier check and keeps the warnings.
func (c *Config) newCheck() *loader {
	c.loader.problems = nil
	return c.loader
}

// quota checks the default quota and fills in the defaults.
func (l *loader) quota(q *Quota) {
	switch {
	case q.HardLimit == 0 && *q != (Quota{}):
		l.problem(l.where("default_quota.hard_limit"), "is missing; the quota needs it")
	case q.HardLimit > 0 && q.SoftLimit >= q.HardLimit:
		l.problem(l.where("default_quota.soft_limit"), "must be lower than default_quota.hard_limit")
	}
	if q.HardLimit > 0 {
		q.HardWithin, q.SoftWithin, q.Wait = cmp.Or(q.HardWithin, time.Minute), cmp.Or(q.SoftWithin,
			time.Minute), cmp.Or(q.Wait, time.Hour)
	}
}

// maxPerDay is the highest limit of calls and texts on one day. People have the same one.
const maxPerDay = 1000

func (l *loader) common(c Common) Common {
	if c.Database.URL == "" && !l.broken["database.url"] {
		l.problem(l.where("database.url"),
			"is missing; set the address of PostgreSQL, such as postgres://iris:PASSWORD@db.example.com:5432/iris")
	}
	if c.PublicURL == "" {
		c.PublicURL = "http://127.0.0.1:16649"
		l.warning(l.where("public_url"),
			"is not set: links in messages begin with %s, which only works on this machine", c.PublicURL)
	}
	l.apply("", &c)
	c.PublicURL = strings.TrimRight(c.PublicURL, "/")
	if n := len(c.SecretKey); n > 0 && n < 32 {
		l.problem(l.where("secret_key"), "must have at least 32 characters (openssl rand -base64 32)")
	}
	if c.SecretKey == "" {
		l.warning(l.where("secret_key"),
			"is not set: the installation's secret is stored unencrypted; set 32 random bytes (openssl rand -base64 32)")
	}
	if c.Admin.Addr != "" && c.Admin.Addr != "off" {
		l.address("admin.addr", c.Admin.Addr, true)
	}
	l.quota(&c.DefaultQuota)
	if n := c.QuietTime.CallsAndTextsPerDay; n < 0 || n > maxPerDay {
		l.problem(l.where("quiet_time.calls_and_texts_per_day"), "must be between 0 and %d", maxPerDay)
	}
	l.gmail(&c)
	l.region(c.PhoneRegion)
	return c
}

func (l *loader) gmail(c *Common) {
	g := &c.GmailOneClick
	if !g.Enabled {
		return
	}
	if len(g.Key) < 16 && !l.broken["gmail_one_click.key"] {
		l.problem(l.where("gmail_one_click.key"), "must have at least 16 characters (openssl rand -base64 32)")
	}
	g.Endpoint = cmp.Or(g.Endpoint, c.PublicURL+"/api/v0/gmail-oneclick/relay")
	l.httpURL("gmail_one_click.endpoint", g.Endpoint)
}

func (l *loader) gossip(g *Gossip) {
	if g.Addr != "" && g.Addr != "off" {
		l.address("gossip.addr", g.Addr, true)
	}
	if g.Advertise != "" {
		l.address("gossip.advertise", g.Advertise, false)
	}
	l.key("gossip.key", g.Key)
	for i, k := range g.AcceptKeys {
		l.key(index("gossip.accept_keys", i), k)
	}
}

func (l *loader) limits(limits Limits, accounts []string) {
	for _, mode := range slices.Sorted(maps.Keys(limits.Modes)) {
		l.limit("limits.modes", mode, modes, "a mode", limits.Modes[mode])
	}
	for _, account := range slices.Sorted(maps.Keys(limits.Accounts)) {
		l.limit("limits.accounts", account, accounts, "a configured account", limits.Accounts[account])
	}
	for _, application := range slices.Sorted(maps.Keys(limits.Applications)) {
		of := limits.Applications[application]
		for _, mode := range slices.Sorted(maps.Keys(of)) {
			l.limit(join("limits.applications", application), mode, modes, "a mode", of[mode])
		}
	}
}

func (l *loader) limit(section, key string, known []string, what string, limit Limit) {
	path := join(section, key)
	if !slices.Contains(known, key) {
		l.problem(l.where(path), "%q is not %s; known: %s", key, what, cmp.Or(strings.Join(known, ", "), "none"))
	}
	if limit.Rate == 0 {
		l.problem(l.where(path), "rate is missing; write it like rate: 10/s")
	}
	if limit.Burst < 0 || limit.Burst > 100000 {
		l.problem(l.where(path+".burst"), "must be between 1 and 100000")
	}
}

func (l *loader) required(path, value string) bool {
	if value == "" && !l.broken[path] {
		l.problem(l.where(path), "is missing")
	}
	return value != ""
}

func (l *loader) oneOf(path, value string, allowed ...string) {
	if slices.Contains(allowed, value) {
		return
	}
	known := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool { return s == "" })
	l.problem(l.where(path), "%q is unknown; use %s%s", value, strings.Join(known, ", "),
		fault.DidYouMean(value, known))
}

func (l *loader) notNegative(path string, d time.Duration) {
	if d < 0 {
		l.problem(l.where(path), "must not be negative")
	}
}

// address checks host:port. An address to listen on may have no host and port 0.
func (l *loader) address(path, value string, listen bool) {
	host, port, err := net.SplitHostPort(value)
	n, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case err != nil || portErr != nil:
		l.problem(l.where(path), "%q must be host:port", value)
	case !listen && host == "":
		l.problem(l.where(path), "%q has no host", value)
	case !listen && n == 0:
		l.problem(l.where(path), "%q has no port", value)
	}
}

func (l *loader) httpURL(path, value string) {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		l.problem(l.where(path), "%q must be a URL that begins with http:// or https://", value)
		return
	}
	if u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		l.problem(l.where(path), "must not contain a user, a query or a fragment")
	}
}

// key checks that a key, if set, is 32 bytes in base64.
func (l *loader) key(path string, value Secret) {
	if value == "" {
		return
	}
	if _, err := DecodeKey(value); err != nil {
		l.problem(l.where(path), "must be 32 bytes in base64 (openssl rand -base64 32)")
	}
}

// DecodeKey returns the 32 bytes of a key.
func DecodeKey(value Secret) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(value.Reveal())
	if err != nil {
		return nil, err
	}
	if len(raw) != 32 {
		return nil, base64.CorruptInputError(len(raw))
	}
	return raw, nil
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
