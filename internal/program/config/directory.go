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

// Auth has the ways to log in besides the passwords of Iris, and the limits of tokens.
type Auth struct {
	LDAP   LDAP   `koanf:"ldap"`
	OIDC   []OIDC `koanf:"oidc"`
	Proxy  Proxy  `koanf:"proxy"`
	Tokens Tokens `koanf:"tokens"`
	SCIM   SCIM   `koanf:"scim"`
	// SecondFactor says whose log-in with a password needs a second factor: optional (nobody's), admins or everybody.
	// "" = optional.
	SecondFactor string `koanf:"second_factor"`
}

// LDAP is an LDAP directory. Without URLs there is none.
type LDAP struct {
	// URLs are servers with the same content, tried in order: ldaps://host, or ldap://host:port.
	URLs     []string `koanf:"urls"`
	StartTLS bool     `koanf:"start_tls"`
	CAFile   string   `koanf:"ca_file"` // PEM. "" = the system's roots
	// AllowPlaintext permits passwords on an unencrypted connection.
	AllowPlaintext bool          `koanf:"allow_plaintext"`
	Timeout        time.Duration `koanf:"timeout" default:"5s"`
	// UserPrefix and UserSuffix turn a log-in name into the name for the bind. Both empty = the entry is searched
	// first.
	UserPrefix string `koanf:"user_prefix"`
	UserSuffix string `koanf:"user_suffix"`
	// BindUser and BindPassword are the account for searches.
	BindUser     string `koanf:"bind_user"`
	BindPassword Secret `koanf:"bind_password"`
	BaseDN       string `koanf:"base_dn"`
	Filter       string `koanf:"filter"` // filter for a log-in; %s is the name. "" = (NAME=%s)
	// Names of the attributes of a person.
	NameAttribute     string `koanf:"name_attribute"`      // "" = sAMAccountName
	FullNameAttribute string `koanf:"full_name_attribute"` // "" = displayName
	EmailAttribute    string `koanf:"email_attribute"`     // "" = mail
	PhoneAttribute    string `koanf:"phone_attribute"`     // "" = mobile
	SlackAttribute    string `koanf:"slack_attribute"`     // "" = none
	IDAttribute       string `koanf:"id_attribute"`        // does not change when a person is renamed. "" = entryUUID or objectGUID
	// Import adds people at their first log-in.
	Import bool `koanf:"import"`
	// SyncOnly turns log-in with the directory's passwords off.
	SyncOnly bool `koanf:"sync_only"`
}

// LogsIn reports whether people log in with the directory's passwords.
func (l LDAP) LogsIn() bool { return len(l.URLs) > 0 && !l.SyncOnly }

// Sync updates people from a directory.
type Sync struct {
	From  string        `koanf:"from" oneof:"ldap,slack"` // "" = no sync
	Every time.Duration `koanf:"every" default:"1h"`
	// MaxGonePercent is how many people may be missing in the directory, in percent. If more are missing, nothing is
	// changed.
	MaxGonePercent int    `koanf:"max_gone_percent" range:"1-100" default:"10"`
	Filter         string `koanf:"filter"` // filter for all people in LDAP. "" = (&(objectClass=person)(NAME=*))
	// PhoneRegion is the old name of Common.PhoneRegion, which takes precedence. After loading both are equal.
	PhoneRegion  string `koanf:"phone_region"`
	SlackContact string `koanf:"slack_contact" oneof:"name,email,none" default:"email"`
	PhotoURL     string `koanf:"photo_url"` // {name} is replaced by the log-in name. "" = the directory's photo
	// Presets are people who are never switched off by the sync.
	Presets []Preset  `koanf:"presets"`
	Lists   SyncLists `koanf:"lists"`
}

// Preset is a person whom Iris keeps even if the directory does not contain them.
type Preset struct {
	Name     string `koanf:"name"`
	FullName string `koanf:"full_name"`
	Email    string `koanf:"email"`
	Phone    string `koanf:"phone"`
	Slack    string `koanf:"slack"`
}

// SyncLists finds mailing lists in LDAP. Without a filter, lists are not synced.
type SyncLists struct {
	Filter          string `koanf:"filter"`
	BaseDN          string `koanf:"base_dn"`          // "" = auth.ldap.base_dn
	NameAttribute   string `koanf:"name_attribute"`   // "" = cn
	MemberAttribute string `koanf:"member_attribute"` // "" = member
}

// ldap checks the LDAP directory and fills in the defaults.
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
	l.apply(at, &d)
	if d.Timeout > time.Minute {
		l.problem(l.where(at+".timeout"), "must be at most 1m: a person waits for the log-in")
	}
	l.caFile(at+".ca_file", d.CAFile)
	direct := d.UserPrefix != "" || d.UserSuffix != ""
	if d.BaseDN == "" && (!direct || d.Import) {
		l.problem(l.where(at+".base_dn"),
			"is missing; set where people are searched, such as ou=people,dc=example,dc=com (not needed with user_suffix and without import)")
	}
	if (d.BindUser == "") != (d.BindPassword == "") && !l.broken[at+".bind_password"] {
		l.problem(l.where(at+".bind_user"), "bind_user and bind_password go together: set both or neither")
	}
	if d.Filter != "" && !strings.Contains(d.Filter, "%s") {
		l.problem(l.where(at+".filter"), "must contain %%s for the log-in name, such as (uid=%%s)")
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
		l.problem(l.where(path), "%s contains no certificate in PEM", name)
	}
}

func (l *loader) ldapURL(path, raw string, d LDAP) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" ||
		u.Scheme != "ldap" && u.Scheme != "ldaps" {
		l.problem(l.where(path), "must be ldaps://host or ldap://host:port")
		return
	}
	if u.Scheme == "ldaps" && d.StartTLS {
		l.problem(l.where(path), "is always encrypted; use start_tls only with ldap://")
	}
	ip, err := netip.ParseAddr(u.Hostname())
	local := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
	if u.Scheme == "ldap" && !d.StartTLS && !local {
		if !d.AllowPlaintext {
			l.problem(l.where(path), "passwords would be sent unencrypted; use ldaps:// or start_tls, or permit it with allow_plaintext")
			return
		}
		l.warning(l.where(path), "passwords are sent unencrypted (allow_plaintext)")
	}
}

// filter checks the parentheses of an LDAP filter. The server checks the rest at its start.
func (l *loader) filter(path, filter string) {
	if filter != "" && (!strings.HasPrefix(filter, "(") || strings.Count(filter, "(") != strings.Count(filter, ")")) {
		l.problem(l.where(path), "must be in matching parentheses, such as (&(objectClass=person)(uid=%%s))")
	}
}

// sync checks the sync and fills in the defaults. d and slack are the directories that it may read.
func (l *loader) sync(s Sync, d LDAP, slack []Slack) Sync {
	l.apply("sync", &s)
	if s.Every < time.Minute {
		l.problem(l.where("sync.every"), "must be at least 1m")
	}
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
		l.problem(l.where("auth.ldap.urls"), "is missing; sync.from: ldap needs it")
	case s.From == "ldap" && d.BaseDN == "":
		l.problem(l.where("auth.ldap.base_dn"), "is missing; sync.from: ldap needs it")
	case s.From == "slack" && (len(slack) == 0 || slack[0].Token == ""):
		l.problem(l.where("slack[0].token"), "is missing; sync.from: slack needs it")
	}
	if s.Lists.Filter != "" && s.From != "ldap" {
		l.problem(l.where("sync.lists.filter"), "needs sync.from: ldap")
	}
	return s
}

// Directory checks what `iris sync` needs.
func (c *Config) Directory() (Directory, error) {
	l := c.newCheck()
	f := c.file
	out := Directory{Common: l.common(f.Common), LDAP: l.ldap(f.Auth.LDAP), Slack: f.Slack}
	out.Sync = l.sync(f.Sync, out.LDAP, out.Slack)
	if out.Sync.From == "" {
		l.problem(l.where("sync.from"), "is missing; use ldap or slack")
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

// region checks the country of phone numbers; "" = none.
func (l *loader) region(region string) {
	at := "phone_region"
	if l.origin[at] == "" && l.origin["sync."+at] != "" {
		at = "sync." + at
	}
	if region != "" && (len(region) != 2 || strings.ToUpper(region) != region) {
		l.problem(l.where(at), "%q must be a country code of two capital letters, such as CH", region)
	}
}
