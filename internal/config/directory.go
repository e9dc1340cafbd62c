package config

import (
	"crypto/x509"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"strings"
	"time"
)

// Auth says who, beside Iris itself, knows passwords.
type Auth struct {
	LDAP LDAP `koanf:"ldap"`
}

// LDAP is a directory that knows people. Without servers there is none.
type LDAP struct {
	// URLs of servers that hold the same, asked in order: ldaps://host, or ldap://host:port.
	URLs     []string `koanf:"urls"`
	StartTLS bool     `koanf:"start_tls"`
	CAFile   string   `koanf:"ca_file"` // PEM. "" = the system's roots
	// AllowPlaintext permits passwords to cross the network unencrypted.
	AllowPlaintext bool          `koanf:"allow_plaintext"`
	Timeout        time.Duration `koanf:"timeout"` // 0 = 5 s
	// UserPrefix and UserSuffix make of a log-in name what is bound directly. Both empty = the entry is searched for first.
	UserPrefix string `koanf:"user_prefix"`
	UserSuffix string `koanf:"user_suffix"`
	// BindUser and BindPassword are the account that searches.
	BindUser     string `koanf:"bind_user"`
	BindPassword Secret `koanf:"bind_password"`
	BaseDN       string `koanf:"base_dn"`
	Filter       string `koanf:"filter"` // finds who logs in, %s is the name. "" = (NAME=%s)
	// Attributes of what we read of a person.
	NameAttribute     string `koanf:"name_attribute"`      // "" = sAMAccountName
	FullNameAttribute string `koanf:"full_name_attribute"` // "" = displayName
	EmailAttribute    string `koanf:"email_attribute"`     // "" = mail
	PhoneAttribute    string `koanf:"phone_attribute"`     // "" = mobile
	SlackAttribute    string `koanf:"slack_attribute"`     // "" = none
	IDAttribute       string `koanf:"id_attribute"`        // what stays when somebody is renamed. "" = entryUUID or objectGUID
	// Import adds whoever logs in for the first time.
	Import bool `koanf:"import"`
	// SyncOnly: nobody logs in with the directory's passwords.
	SyncOnly bool `koanf:"sync_only"`
}

// LogsIn reports whether people log in with the directory's passwords.
func (l LDAP) LogsIn() bool { return len(l.URLs) > 0 && !l.SyncOnly }

// Sync keeps people in step with a directory.
type Sync struct {
	From  string        `koanf:"from"`  // ldap or slack. "" = nowhere
	Every time.Duration `koanf:"every"` // 0 = 1 h
	// MaxGonePercent of the people may vanish at once; beyond it nothing is changed. 0 = 10.
	MaxGonePercent int    `koanf:"max_gone_percent"`
	Filter         string `koanf:"filter"` // finds everybody in LDAP. "" = (&(objectClass=person)(NAME=*))
	// PhoneRegion is whose phone numbers are meant that have no country code. "" = US.
	PhoneRegion  string `koanf:"phone_region"`
	SlackContact string `koanf:"slack_contact"` // name, email or none. "" = name
	PhotoURL     string `koanf:"photo_url"`     // {name} is the log-in name. "" = the directory's
	// Presets are always there, whatever the directory says.
	Presets []Preset  `koanf:"presets"`
	Lists   SyncLists `koanf:"lists"`
}

// Preset is a person who is always there.
type Preset struct {
	Name     string `koanf:"name"`
	FullName string `koanf:"full_name"`
	Email    string `koanf:"email"`
	Phone    string `koanf:"phone"`
	Slack    string `koanf:"slack"`
}

// SyncLists says how mailing lists are found in LDAP. Without a filter they are left alone.
type SyncLists struct {
	Filter          string `koanf:"filter"`
	BaseDN          string `koanf:"base_dn"`          // "" = auth.ldap.base_dn
	NameAttribute   string `koanf:"name_attribute"`   // "" = cn
	MemberAttribute string `koanf:"member_attribute"` // "" = member
}

// ldap checks and completes the directory that is asked about passwords.
func (l *loader) ldap(d LDAP) LDAP {
	const at = "auth.ldap"
	if len(d.URLs) == 0 {
		if !reflect.DeepEqual(d, LDAP{URLs: d.URLs}) {
			l.problem(l.where(at+".urls"), "is missing; name a server, such as ldaps://ldap.example.com")
		}
		return d
	}
	for i, raw := range d.URLs {
		l.ldapURL(index(at+".urls", i), raw, d)
	}
	l.notNegative(at+".timeout", d.Timeout)
	if d.Timeout == 0 {
		d.Timeout = 5 * time.Second
	}
	if d.Timeout > time.Minute {
		l.problem(l.where(at+".timeout"), "must not be more than 1m: somebody waits for it")
	}
	l.caFile(at+".ca_file", d.CAFile)
	direct := d.UserPrefix != "" || d.UserSuffix != ""
	if d.BaseDN == "" && (!direct || d.Import) {
		l.problem(l.where(at+".base_dn"), "is missing: where people are searched, such as ou=people,dc=example,dc=com; only user_suffix without import does without it")
	}
	if (d.BindUser == "") != (d.BindPassword == "") && !l.broken[at+".bind_password"] {
		l.problem(l.where(at+".bind_user"), "bind_user and bind_password go together: set both or neither")
	}
	if d.Filter != "" && !strings.Contains(d.Filter, "%s") {
		l.problem(l.where(at+".filter"), "must hold %%s, which stands for the log-in name, such as (uid=%%s)")
	}
	l.filter(at+".filter", d.Filter)
	return d
}

// caFile checks a file of certificates; "" = none.
func (l *loader) caFile(path, name string) {
	if name == "" {
		return
	}
	if raw, err := os.ReadFile(name); err != nil {
		l.problem(l.where(path), "%v", err)
	} else if !x509.NewCertPool().AppendCertsFromPEM(raw) {
		l.problem(l.where(path), "%s holds no certificate in PEM", name)
	}
}

func (l *loader) ldapURL(path, raw string, d LDAP) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Scheme != "ldap" && u.Scheme != "ldaps" {
		l.problem(l.where(path), "must be a server, written ldaps://host or ldap://host:port")
		return
	}
	if u.Scheme == "ldaps" && d.StartTLS {
		l.problem(l.where(path), "is encrypted from the first byte; start_tls goes with ldap:// only")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme == "ldap" && !d.StartTLS && !local {
		if !d.AllowPlaintext {
			l.problem(l.where(path), "passwords would cross the network unencrypted; use ldaps://, or set start_tls, or allow_plaintext if you must")
			return
		}
		l.warning(l.where(path), "passwords cross the network unencrypted (allow_plaintext)")
	}
}

// filter checks that the parentheses of a filter close; the rest is checked when the server starts.
func (l *loader) filter(path, filter string) {
	if filter != "" && (!strings.HasPrefix(filter, "(") || strings.Count(filter, "(") != strings.Count(filter, ")")) {
		l.problem(l.where(path), "must be in parentheses that close, such as (&(objectClass=person)(uid=%%s))")
	}
}

// sync checks and completes how people are kept in step; it is judged with the directory it asks.
func (l *loader) sync(s Sync, d LDAP, slack []Slack) Sync {
	l.oneOf("sync.from", s.From, "", "ldap", "slack")
	l.oneOf("sync.slack_contact", s.SlackContact, "", "name", "email", "none")
	l.notNegative("sync.every", s.Every)
	if s.Every == 0 {
		s.Every = time.Hour
	}
	if s.Every < time.Minute {
		l.problem(l.where("sync.every"), "must be at least 1m")
	}
	if s.MaxGonePercent < 0 || s.MaxGonePercent > 100 {
		l.problem(l.where("sync.max_gone_percent"), "must be between 1 and 100")
	}
	if s.MaxGonePercent == 0 {
		s.MaxGonePercent = 10
	}
	s.PhoneRegion = orElse(s.PhoneRegion, "US")
	if len(s.PhoneRegion) != 2 || strings.ToUpper(s.PhoneRegion) != s.PhoneRegion {
		l.problem(l.where("sync.phone_region"), "%q must be a country in two capital letters, such as CH", s.PhoneRegion)
	}
	s.SlackContact = orElse(s.SlackContact, "name")
	if s.PhotoURL != "" {
		l.httpURL("sync.photo_url", strings.ReplaceAll(s.PhotoURL, "{name}", "x"))
	}
	l.filter("sync.filter", s.Filter)
	l.filter("sync.lists.filter", s.Lists.Filter)
	for i, p := range s.Presets {
		l.required(index("sync.presets", i)+".name", p.Name)
	}
	switch {
	case s.From == "ldap" && len(d.URLs) == 0:
		l.problem(l.where("auth.ldap.urls"), "is missing, and sync.from is ldap")
	case s.From == "ldap" && d.BaseDN == "":
		l.problem(l.where("auth.ldap.base_dn"), "is missing, and sync.from is ldap")
	case s.From == "slack" && (len(slack) == 0 || slack[0].Token == ""):
		l.problem(l.where("slack[0].token"), "is missing, and sync.from is slack")
	}
	if s.Lists.Filter != "" && s.From != "ldap" {
		l.problem(l.where("sync.lists.filter"), "needs sync.from: ldap")
	}
	return s
}

// Directory checks only what bringing people in step by hand needs.
func (c *Config) Directory() (Directory, error) {
	l := c.judge()
	f := c.file
	out := Directory{Common: l.common(f.Common), LDAP: l.ldap(f.Auth.LDAP), Slack: f.Slack}
	out.Sync = l.sync(f.Sync, out.LDAP, out.Slack)
	if out.Sync.From == "" {
		l.problem(l.where("sync.from"), "is missing; say ldap or slack")
	}
	return out, l.err()
}

// Directory is the configuration of `iris sync`.
type Directory struct {
	Common
	LDAP  LDAP
	Slack []Slack
	Sync  Sync
}
