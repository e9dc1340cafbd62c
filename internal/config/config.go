// Package config reads the configuration of the two servers: one YAML file for both (each takes what it needs),
// environment variables over it, and ..._FILE variants for secrets. Unknown keys are errors. Every problem names the
// key, where it was set, and what to do; all of them are reported at once.
//
// It imports nothing of ours: app turns these structs into what the packages want.
package config

import (
	"log/slog"
	"time"
)

// Secret is a value that never shows itself when printed, logged or marshalled.
type Secret string

// Reveal returns the secret.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "(secret)"
}

// GoString hides the secret from %#v.
func (s Secret) GoString() string { return s.String() }

// MarshalText hides the secret from encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue hides the secret from structured logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Common is what both servers take.
type Common struct {
	Database Database `koanf:"database"`
	// PublicURL is where people and vendors reach iris-api; links in messages begin with it. No final slash.
	// "" = http://127.0.0.1:16649, which only serves for trying things out.
	PublicURL string `koanf:"public_url"`
	// SecretKey wraps the installation's secret in the database: at least 32 characters. "" = it is stored as it is.
	SecretKey Secret `koanf:"secret_key"`
	Admin     Admin  `koanf:"admin"`
	Log       Log    `koanf:"log"`
	// Migrate is "never" (the default: on an older schema the server is not ready and names the command) or "auto".
	Migrate string `koanf:"migrate"`
	// ShutdownTimeout bounds an orderly stop. 0 = 20 s.
	ShutdownTimeout time.Duration `koanf:"shutdown_timeout"`
	GmailOneClick   GmailOneClick `koanf:"gmail_one_click"`
	DefaultQuota    Quota         `koanf:"default_quota"`
}

// Quota is how much an application may send that has no quota of its own. Without a hard limit there is none.
type Quota struct {
	HardLimit  int           `koanf:"hard_limit"`  // messages within HardWithin; more are dropped
	HardWithin time.Duration `koanf:"hard_within"` // 0 = 1 min
	SoftLimit  int           `koanf:"soft_limit"`  // messages within SoftWithin; beyond it Target hears. 0 = never
	SoftWithin time.Duration `koanf:"soft_within"` // 0 = 1 min
	Wait       time.Duration `koanf:"wait"`        // between the incidents of hard breaches. 0 = 1 h
	Plan       string        `koanf:"plan"`        // of those incidents. "" = none is opened
	Target     string        `koanf:"target"`      // user, team or list. "" = nobody hears
}

// GmailOneClick puts a button into incident mails with which Gmail claims the incident. Both servers need the same.
type GmailOneClick struct {
	Enabled bool `koanf:"enabled"`
	// Key signs the button's address: at least 16 characters.
	Key Secret `koanf:"key"`
	// Endpoint is where Gmail calls. "" = /api/v0/gmail-oneclick/relay below the public URL.
	Endpoint string `koanf:"endpoint"`
}

// Database says where PostgreSQL is.
type Database struct {
	// URL is a postgres:// URL or a string of keyword=value pairs. Required.
	URL Secret `koanf:"url"`
	// MaxConnections of this process's pool. 0 = 16.
	MaxConnections int `koanf:"max_connections"`
}

// Admin is the listener for operators: metrics, profiles, health. It has no log-in: keep it on a private address.
type Admin struct {
	// Addr to listen on; "off" = no listener; "" = a fixed port on the loopback interface (16651 for iris-api,
	// 16650 for message-processor), or a free one when that is taken.
	Addr string `koanf:"addr"`
}

// Log says what is logged; it goes to standard error.
type Log struct {
	Level  string `koanf:"level"`  // debug, info, warn, error. "" = info
	Format string `koanf:"format"` // json or console. "" = json
}

// HTTP is iris-api's public listener.
type HTTP struct {
	Addr string `koanf:"addr"` // "" = :16649
	// TrustedProxies are the networks whose X-Forwarded-For is believed. Empty = none.
	TrustedProxies []string `koanf:"trusted_proxies"`
	// SessionTTL is how long a log-in lasts. 0 = 12 h.
	SessionTTL time.Duration `koanf:"session_ttl"`
	// AllowedOrigins are the sites whose pages may call the API in a browser, such as https://portal.example.com. Empty = none.
	AllowedOrigins []string `koanf:"allowed_origins"`
	// HealthcheckFile holds what /healthcheck answers, in its first line; while it is missing the answer is 404, so that
	// removing it takes this process out of a load balancer. "" = always GOOD.
	HealthcheckFile string `koanf:"healthcheck_file"`
	// MailboxURL is where `iris dev` serves its mailbox; /dev/mailbox is passed on to it. "" = there is none.
	MailboxURL string `koanf:"mailbox_url"`
}

// Compatibility opens what the predecessors leave open. Everything is off by default.
type Compatibility struct {
	// AnonymousReads lets GET requests on most routes pass without credentials.
	AnonymousReads bool `koanf:"anonymous_reads"`
	// ChangeAnyPlan lets any application or session delete, activate and deactivate any plan or template.
	ChangeAnyPlan bool `koanf:"change_any_plan"`
	// ApplicationsClaimForAnyone lets any application that speaks for nobody claim incidents in anybody's name.
	ApplicationsClaimForAnyone bool `koanf:"applications_claim_for_anyone"`
	// SessionsActForAnyone lets logged-in people act in the name of others through an application that may.
	SessionsActForAnyone bool `koanf:"sessions_act_for_anyone"`
	// DisableAuth believes whoever calls: no signatures, no passwords, no keys of webhooks. Loopback addresses only.
	DisableAuth bool `koanf:"disable_auth"`
	// OncallAnonymousReads lets GET requests to /api/v0 and /v1 pass without credentials, names, phones and audit log included.
	OncallAnonymousReads bool `koanf:"oncall_anonymous_reads"`
	// TeamAdminsEditMembers lets administrators of a team change names, contacts and activity of its members.
	TeamAdminsEditMembers bool `koanf:"team_admins_edit_members"`
	// OncallDebugAuth makes whoever comes without credentials to /api/v0 the user test_user, who may do everything. Loopback
	// addresses only.
	OncallDebugAuth bool `koanf:"oncall_debug_auth"`
	// DummyRoles answers every role of every target with the user foo. For tests of clients.
	DummyRoles bool `koanf:"dummy_roles"`
}

// IncidentRates bounds how many incidents an application opens on a plan.
type IncidentRates struct {
	Enabled bool `koanf:"enabled"`
	// MaxActive incidents at a time. 0 = 1000.
	MaxActive int `koanf:"max_active_incidents"`
	// MaxRecent incidents opened within RecentLookback. 0 = 1000 within 5 minutes.
	MaxRecent      int           `koanf:"max_recent_incidents"`
	RecentLookback time.Duration `koanf:"recent_lookback"`
	// Exempt applications, by name.
	Exempt []string `koanf:"exempt_applications"`
}

// Intake says what becomes of alerts of webhooks that name no usable plan.
type Intake struct {
	// CatchAllPlan is the name of the plan for those of applications without a default plan; "" = they are refused.
	CatchAllPlan string `koanf:"catch_all_plan"`
	// FallbackPerMinute is how many incidents an application opens on its default plan or on CatchAllPlan. 0 = 60.
	FallbackPerMinute int `koanf:"fallback_per_minute"`
}

// MailingLists says how lists of people are paged.
type MailingLists struct {
	// MaxMembers is the size from which on a list stands for nobody, so that the fallbacks are paged. 0 = any size.
	MaxMembers int `koanf:"max_members"`
}

// Mobile says how phones are registered for push messages.
type Mobile struct {
	// Activated serves the route on which they are registered.
	Activated bool `koanf:"activated"`
	// Applications that may register phones.
	Applications []string `koanf:"applications"`
}

// Gossip is how processors hear of each other fast. Peers are found through the database.
type Gossip struct {
	// Addr to listen on (TCP and UDP); "off" = no gossip. "" = :7946, or a free port when that is taken.
	Addr string `koanf:"addr"`
	// Advertise is the address that peers use. "" = found by looking at the network interfaces.
	Advertise string `koanf:"advertise"`
	// Key encrypts: 32 bytes in base64. "" = derived from the installation's secret.
	Key Secret `koanf:"key"`
	// AcceptKeys are further keys that are understood, while keys are changed in steps (add, use, remove).
	AcceptKeys []Secret `koanf:"accept_keys"`
}

// Account is common to every vendor account.
type Account struct {
	// Account tells accounts of a kind apart in limits, logs and metrics. "" = "main" for the first, else its number.
	Account string `koanf:"account"`
	// Spare accounts are used only while the others of the mode cannot be.
	Spare bool `koanf:"spare"`
	// Timeout of a call. 0 = 10 s (e-mail 20 s).
	Timeout time.Duration `koanf:"timeout"`
}

// SMTP is an outgoing mail server.
type SMTP struct {
	Account  `koanf:",squash"`
	Addr     string `koanf:"addr"` // host:port
	From     string `koanf:"from"` // sender's address, with or without a name
	Username string `koanf:"username"`
	Password Secret `koanf:"password"`
	ReplyTo  string `koanf:"reply_to"` // "" = from
	// TLS is "tls" (from the first byte), "starttls" (required), "opportunistic" (STARTTLS where offered) or "none".
	// "" = tls on port 465, starttls with a user name, else opportunistic.
	TLS string `koanf:"tls"`
	// CAFile holds the certificates, in PEM, of those who may sign the server's. "" = the system's roots.
	CAFile string `koanf:"ca_file"`
	// AllowPlainAuth permits the log-in over a connection without verified TLS. On a loopback address it is on.
	AllowPlainAuth bool `koanf:"allow_plain_auth"`
	// Hello is the name we greet with. "" = the host's name.
	Hello string `koanf:"hello"`
	// Connections open at most at once. 0 = 32.
	Connections int `koanf:"connections"`
}

// Slack is a Slack app installed in a workspace.
type Slack struct {
	Account       `koanf:",squash"`
	Token         Secret `koanf:"token"`          // xoxb-...
	SigningSecret Secret `koanf:"signing_secret"` // verifies what Slack sends us
	APIURL        string `koanf:"api_url"`        // "" = https://slack.com/api/
}

// Twilio sends texts and makes calls.
type Twilio struct {
	Account    `koanf:",squash"`
	AccountSID string `koanf:"account_sid"`
	AuthToken  Secret `koanf:"auth_token"` // also verifies what Twilio sends us
	KeySID     string `koanf:"key_sid"`    // API key used instead of the token, with key_secret
	KeySecret  Secret `koanf:"key_secret"`
	From       string `koanf:"from"`
	CallFrom   string `koanf:"call_from"` // "" = from
	// ApplicationFrom are the numbers of applications that do not use from and call_from, by name.
	ApplicationFrom map[string]string `koanf:"application_from"`

	APIURL         string   `koanf:"api_url"` // "" = https://api.twilio.com
	CountryCode    string   `koanf:"country_code"`
	DetectMachines bool     `koanf:"detect_machines"`
	Modes          []string `koanf:"modes"` // of sms, call. Empty = both
}

// Webhook posts to URLs that users give.
type Webhook struct {
	Account `koanf:",squash"`
	// Secrets sign every request (Standard Webhooks): whsec_ and base64 of 24 to 64 bytes; several while rotating.
	Secrets []Secret `koanf:"secrets"`
	// AllowPrivate permits addresses that are not on the public internet; AllowHTTP URLs without TLS.
	AllowPrivate bool `koanf:"allow_private"`
	AllowHTTP    bool `koanf:"allow_http"`
}

// Push sends to people's phones through Firebase Cloud Messaging.
type Push struct {
	Account `koanf:",squash"`
	// Credentials is the JSON of a service account of the Firebase project.
	Credentials Secret `koanf:"credentials"`
	APIURL      string `koanf:"api_url"`   // "" = https://fcm.googleapis.com
	TokenURL    string `koanf:"token_url"` // "" = as the credentials say
}

// Limits are the rates that the cluster as a whole keeps.
type Limits struct {
	// Modes by name: email, sms, call, slack, push, webhook.
	Modes map[string]Limit `koanf:"modes"`
	// Accounts by vendor and account: "twilio/main".
	Accounts map[string]Limit `koanf:"accounts"`
	// Applications by name, then by mode.
	Applications map[string]map[string]Limit `koanf:"applications"`
}

// Limit is a rate with a burst.
type Limit struct {
	Rate  Rate `koanf:"rate"`
	Burst int  `koanf:"burst"` // calls that may start at once. 0 = 1
}

// Delivery tunes how messages are sent. The zero value is right for most.
type Delivery struct {
	// Concurrency is how many calls of a mode one vendor account may have running in this process, each on a connection of its
	// own. 0 = the account's connections for e-mail, 16 for others.
	Concurrency int `koanf:"concurrency"`
	// DryRun stops before the vendor: "render" (words only), "store" (everything but the call). "" = send.
	DryRun string `koanf:"dry_run"`
	// SMSOverride is the text for people whose carrier blocks what templates say; %s stands for the incident's number.
	SMSOverride string `koanf:"sms_override_template"`
	// RefusedNumbers nobody is texted or called at: prefixes with a +, or whole numbers. None = those of users.DefaultRefusedNumbers;
	// the word none alone = no number is refused.
	RefusedNumbers []string `koanf:"refused_numbers"`
	// CallMainlandChina permits calls to +86; otherwise they become texts with MainlandChinaNotice before them.
	CallMainlandChina   bool   `koanf:"call_mainland_china"`
	MainlandChinaNotice string `koanf:"mainland_china_notice"`
}

// History says how long finished messages are kept.
type History struct {
	Retention time.Duration `koanf:"retention"` // 0 = 13 months
}

// API is the configuration of iris-api.
type API struct {
	Common
	HTTP          HTTP
	Slack         []Slack
	Twilio        []Twilio
	Webhooks      []string // formats that are served below /v0/webhooks. Empty = alertmanager
	Compatibility Compatibility
	MailingLists  MailingLists
	IncidentRates IncidentRates
	Intake        Intake
	// MaxPlanLength refuses new plans that take longer, all steps to the end; 0 = any length.
	MaxPlanLength time.Duration
	// Tags are the names of tags that may be attached to things; empty = none.
	Tags []string
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
	// TimeZones are those that people may choose. Empty = a list of the usual ones.
	TimeZones []string
	Mobile    Mobile
	Oncall    Oncall
	LDAP      LDAP
	Sync      Sync // how a person of the directory is read who logs in
}

// Processor is the configuration of message-processor.
type Processor struct {
	Common
	Gossip   Gossip
	SMTP     []SMTP
	Slack    []Slack
	Twilio   []Twilio
	Webhook  []Webhook
	Push     []Push
	Limits   Limits
	Delivery Delivery
	History  History
	// MailingLists is the same for both servers: one pages, the other takes notifications.
	MailingLists  MailingLists
	Compatibility Compatibility // only DummyRoles concerns it
	Oncall        Oncall
	LDAP          LDAP
	Sync          Sync
}

// file is everything a configuration file may hold.
type file struct {
	Common        `koanf:",squash"`
	HTTP          HTTP          `koanf:"http"`
	Compatibility Compatibility `koanf:"compatibility"`
	Gossip        Gossip        `koanf:"gossip"`
	SMTP          []SMTP        `koanf:"smtp"`
	Slack         []Slack       `koanf:"slack"`
	Twilio        []Twilio      `koanf:"twilio"`
	Webhook       []Webhook     `koanf:"webhook"`
	Push          []Push        `koanf:"push"`
	Webhooks      []string      `koanf:"webhooks"`
	Limits        Limits        `koanf:"limits"`
	Delivery      Delivery      `koanf:"delivery"`
	History       History       `koanf:"history"`
	MailingLists  MailingLists  `koanf:"mailing_lists"`
	IncidentRates IncidentRates `koanf:"incident_rate_limiting"`
	Intake        Intake        `koanf:"intake"`
	MaxPlanLength time.Duration `koanf:"max_plan_length"`
	Tags          []string      `koanf:"tags"`
	Internal      []string      `koanf:"internal_applications"`
	TimeZones     []string      `koanf:"time_zones"`
	Mobile        Mobile        `koanf:"mobile"`
	Oncall        Oncall        `koanf:"oncall"`
	Auth          Auth          `koanf:"auth"`
	Sync          Sync          `koanf:"sync"`
}
