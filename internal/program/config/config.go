package config

import (
	"log/slog"
	"time"
)

// Secret is a text that is hidden when it is printed, logged or marshalled.
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

// Common is the configuration that both servers use.
type Common struct {
	Database Database `koanf:"database"`
	// PublicURL is the address of iris-api for people and vendors, without a final slash. Links in messages begin with
	// it. "" = http://127.0.0.1:16649, which works on this machine only.
	PublicURL string `koanf:"public_url" url:"http"`
	// SecretKey encrypts the installation's secret in the database: at least 32 characters. "" = stored unencrypted.
	SecretKey Secret `koanf:"secret_key"`
	Admin     Admin  `koanf:"admin"`
	Log       Log    `koanf:"log"`
	// Migrate says whether the server updates the schema of the database at its start: "auto" or "never". With "never"
	// and an older schema, the server is not ready and names the command that updates it.
	Migrate string `koanf:"migrate" oneof:"never,auto" default:"never"`
	// ShutdownTimeout bounds an orderly stop.
	ShutdownTimeout time.Duration `koanf:"shutdown_timeout" default:"20s"`
	GmailOneClick   GmailOneClick `koanf:"gmail_one_click"`
	DefaultQuota    Quota         `koanf:"default_quota"`
	QuietTime       QuietTime     `koanf:"quiet_time"`
	// PhoneRegion is the country of phone numbers without a country code, in two capital letters. "" = such numbers are
	// refused.
	PhoneRegion string `koanf:"phone_region"`
}

// QuietTime limits the pages below urgent to one person.
type QuietTime struct {
	// CallsAndTextsPerDay is how many calls and texts a person gets on one day. The others are sent as one digest on
	// the next morning. 0 = no limit. People may set a limit of their own.
	CallsAndTextsPerDay int `koanf:"calls_and_texts_per_day"`
}

// Quota is the quota of applications without a quota of their own. HardLimit 0 = they have no quota.
type Quota struct {
	HardLimit  int           `koanf:"hard_limit"`  // messages within HardWithin; more are dropped
	HardWithin time.Duration `koanf:"hard_within"` // 0 = 1 min
	SoftLimit  int           `koanf:"soft_limit"`  // messages within SoftWithin; beyond it Target is notified. 0 = never
	SoftWithin time.Duration `koanf:"soft_within"` // 0 = 1 min
	Wait       time.Duration `koanf:"wait"`        // between the incidents of hard breaches. 0 = 1 h
	Plan       string        `koanf:"plan"`        // of those incidents. "" = none is opened
	Target     string        `koanf:"target"`      // user, team or mailing list. "" = nobody is notified
}

// GmailOneClick adds a button to incident e-mails with which Gmail acknowledges the incident. Both servers need the
// same settings.
type GmailOneClick struct {
	Enabled bool `koanf:"enabled"`
	// Key signs the button's address: at least 16 characters.
	Key Secret `koanf:"key"`
	// Endpoint is the URL that Gmail calls. "" = /api/v0/gmail-oneclick/relay below the public URL.
	Endpoint string `koanf:"endpoint"`
}

// Database is the connection to PostgreSQL.
type Database struct {
	// URL is a postgres:// URL or a string of keyword=value pairs. Required.
	URL Secret `koanf:"url"`
	// MaxConnections is the size of this process's pool.
	MaxConnections int `koanf:"max_connections" range:"1-1000" default:"16"`
}

// Admin is the listener for operators: metrics, profiles, health. It has no authentication: use a private address.
type Admin struct {
	// Addr to listen on; "off" = no listener; "" = a fixed port on the loopback interface (16651 for iris-api,
	// 16650 for message-processor), or a free one when that is taken.
	Addr string `koanf:"addr"`
}

// Log configures the log, which goes to standard error.
type Log struct {
	Level  string `koanf:"level" oneof:"debug,info,warn,error" default:"info"`
	Format string `koanf:"format" oneof:"json,console" default:"json"`
}

// HTTP is iris-api's public listener.
type HTTP struct {
	Addr string `koanf:"addr" default:":16649"`
	// TrustedProxies are the networks whose X-Forwarded-For header is used. Empty = none.
	TrustedProxies []string `koanf:"trusted_proxies"`
	// SessionTTL is how long a log-in lasts.
	SessionTTL time.Duration `koanf:"session_ttl" default:"12h"`
	// SessionIdle is how long a session lasts without a request. 0 = as long as SessionTTL.
	SessionIdle time.Duration `koanf:"session_idle" default:"4h"`
	// SessionConfirm is the maximum age of a log-in for dangerous changes. 0 = no maximum.
	SessionConfirm time.Duration `koanf:"session_confirm" default:"15m"`
	// AllowedOrigins are the sites whose scripts may call the API (CORS), such as https://portal.example.com. Empty =
	// none.
	AllowedOrigins []string `koanf:"allowed_origins"`
	// BodiesInWork is the maximum size of all request bodies above 256 KiB that are decoded at the same time, in bytes.
	// Smaller bodies have a second maximum of the same size. Decoding takes up to 50 times as much memory.
	BodiesInWork int `koanf:"bodies_in_work" default:"25165824" range:"16777216-17179869184"`
	// HealthcheckFile is a file whose first line is the answer of /healthcheck. If the file is missing, the answer is
	// 404: remove it to take this process out of a load balancer. "" = always GOOD.
	HealthcheckFile string `koanf:"healthcheck_file"`
	// MailboxURL is the address of the mailbox of `iris dev`, which serves /dev/mailbox. "" = none.
	MailboxURL string `koanf:"mailbox_url" url:"http"`
}

// Compatibility permits what the predecessors permit. Everything is off by default.
type Compatibility struct {
	// AnonymousReads permits GET requests on most routes without credentials.
	AnonymousReads bool `koanf:"anonymous_reads"`
	// ChangeAnyPlan lets any application or session delete, activate and deactivate any plan or template.
	ChangeAnyPlan bool `koanf:"change_any_plan"`
	// ApplicationsClaimForAnyone lets any application that acts for nobody claim incidents in the name of any user.
	ApplicationsClaimForAnyone bool `koanf:"applications_claim_for_anyone"`
	// ApplicationsReachEverything lets the key of an application read and change the incidents, messages and
	// notifications of all applications.
	ApplicationsReachEverything bool `koanf:"applications_reach_everything"`
	// SessionsActForAnyone lets logged-in users act in the name of others through an application that may do so.
	SessionsActForAnyone bool `koanf:"sessions_act_for_anyone"`
	// DisableAuth turns authentication off: no signatures, passwords or webhook keys are checked. Only for loopback
	// addresses.
	DisableAuth bool `koanf:"disable_auth"`
	// OncallAnonymousReads permits GET requests to /api/v0 and to the calendar routes of /v1 without credentials. The
	// answers contain names, phone numbers and the audit log.
	OncallAnonymousReads bool `koanf:"oncall_anonymous_reads"`
	// TeamAdminsEditMembers lets administrators of a team change the names, contacts and activity of its members.
	TeamAdminsEditMembers bool `koanf:"team_admins_edit_members"`
	// OncallDebugAuth treats clients of /api/v0 without credentials as the user test_user, who may do everything. Only
	// for loopback addresses.
	OncallDebugAuth bool `koanf:"oncall_debug_auth"`
	// DummyRoles resolves every target to the user foo. For tests of clients.
	DummyRoles bool `koanf:"dummy_roles"`
}

// IncidentRates limits how many incidents an application opens on a plan.
type IncidentRates struct {
	Enabled bool `koanf:"enabled"`
	// MaxActive is the maximum of active incidents.
	MaxActive int `koanf:"max_active_incidents" default:"1000"`
	// MaxRecent is the maximum of incidents opened within RecentLookback.
	MaxRecent      int           `koanf:"max_recent_incidents" default:"1000"`
	RecentLookback time.Duration `koanf:"recent_lookback" default:"5m"`
	// Exempt has the names of applications without a limit.
	Exempt []string `koanf:"exempt_applications"`
}

// Intake says what happens to webhook alerts that name no usable plan.
type Intake struct {
	// CatchAllPlan is the plan of such alerts if the application has no default plan; "" = they are refused.
	CatchAllPlan string `koanf:"catch_all_plan"`
	// FallbackPerMinute limits the incidents per minute that an application opens on its default plan or on
	// CatchAllPlan.
	FallbackPerMinute int `koanf:"fallback_per_minute" default:"60"`
	// Recipes is a folder with further recipes, YAML files; "" = only those of the program.
	Recipes string `koanf:"recipes"`
	// SMTP receives the mails of integrations of type email.
	SMTP IntakeSMTP `koanf:"smtp"`
}

// IntakeSMTP is the SMTP server of iris-api.
type IntakeSMTP struct {
	Addr string `koanf:"addr"` // "" = no server
	// Domain is the domain of the recipients; "" = the host of public_url, or any domain if that is an IP address or
	// localhost.
	Domain string `koanf:"domain"`
	// CertFile and KeyFile have the certificate and its key for STARTTLS, in PEM. They are read for each connection.
	CertFile string `koanf:"tls_cert_file"`
	KeyFile  string `koanf:"tls_key_file"`
	// Insecure accepts mails without STARTTLS, also from other machines.
	Insecure  bool `koanf:"insecure"`
	MaxSize   int  `koanf:"max_size" default:"4194304" range:"1024-16777216"` // bytes of a mail
	PerMinute int  `koanf:"per_minute" default:"600" range:"1-100000"`        // mails of a peer
}

// MailingLists says which mailing lists are paged.
type MailingLists struct {
	// A mailing list with MaxMembers or more members is not paged: the fallback is. 0 = no limit.
	MaxMembers int `koanf:"max_members"`
}

// Mobile configures the registration of phones for push messages.
type Mobile struct {
	// Activated serves the registration route.
	Activated bool `koanf:"activated"`
	// Applications has the names of applications that may register phones.
	Applications []string `koanf:"applications"`
}

// Gossip configures how processors notice each other's start and end quickly. They find each other through the
// database.
type Gossip struct {
	// Addr to listen on (TCP and UDP); "off" = no gossip. "" = :7946, or a free port when that is taken.
	Addr string `koanf:"addr"`
	// Advertise is the address that peers use. "" = the address of a network interface.
	Advertise string `koanf:"advertise"`
	// Key encrypts: 32 bytes in base64. "" = derived from the installation's secret.
	Key Secret `koanf:"key"`
	// AcceptKeys are further keys for decryption, for a change of keys in steps (add, use, remove).
	AcceptKeys []Secret `koanf:"accept_keys"`
}

// Account has the settings that all vendor accounts share.
type Account struct {
	// Account is the name of the account in limits, logs and metrics. "" = "main" for the first, else its number.
	Account string `koanf:"account"`
	// Spare says that the account is used only while no other account of the mode works.
	Spare bool `koanf:"spare"`
	// Timeout is the timeout of a call. 0 = 10 s (e-mail 20 s).
	Timeout time.Duration `koanf:"timeout"`
}

// SMTP is an outgoing mail server.
type SMTP struct {
	Account  `koanf:",squash"`
	Addr     string `koanf:"addr"` // host:port
	From     string `koanf:"from"` // address of the sender, with or without a name
	Username string `koanf:"username"`
	Password Secret `koanf:"password"`
	ReplyTo  string `koanf:"reply_to"` // "" = from
	// TLS is "tls" (from the first byte), "starttls" (required), "opportunistic" (STARTTLS if offered) or "none". "" =
	// tls on port 465, starttls with a user name, else opportunistic.
	TLS string `koanf:"tls" oneof:"tls,starttls,opportunistic,none"`
	// CAFile has the accepted certificate authorities in PEM. "" = those of the system.
	CAFile string `koanf:"ca_file"`
	// AllowPlainAuth permits the password on a connection without verified TLS. It is on for loopback addresses.
	AllowPlainAuth bool `koanf:"allow_plain_auth"`
	// Hello is the host name in the EHLO command. "" = the name of this host.
	Hello string `koanf:"hello"`
	// Connections is the maximum of open connections. 0 = 32.
	Connections int `koanf:"connections" range:"1-1000"`
}

// Slack is a Slack app installed in a workspace.
type Slack struct {
	Account       `koanf:",squash"`
	Token         Secret `koanf:"token"`              // xoxb-...
	SigningSecret Secret `koanf:"signing_secret"`     // verifies requests from Slack
	APIURL        string `koanf:"api_url" url:"http"` // "" = https://slack.com/api/
}

// Twilio sends texts and makes calls.
type Twilio struct {
	Account    `koanf:",squash"`
	AccountSID string `koanf:"account_sid"`
	AuthToken  Secret `koanf:"auth_token"` // also verifies requests from Twilio
	KeySID     string `koanf:"key_sid"`    // API key that replaces the token, with key_secret
	KeySecret  Secret `koanf:"key_secret"`
	From       string `koanf:"from"`
	CallFrom   string `koanf:"call_from"` // "" = from
	// ApplicationFrom has the sender numbers of applications that do not use from and call_from, by name.
	ApplicationFrom map[string]string `koanf:"application_from"`

	APIURL         string   `koanf:"api_url" url:"http"` // "" = https://api.twilio.com
	CountryCode    string   `koanf:"country_code"`       // without effect: phone_region replaces it
	DetectMachines bool     `koanf:"detect_machines"`
	Modes          []string `koanf:"modes" oneof:"sms,call"` // empty = both
}

// Webhook posts to URLs of users.
type Webhook struct {
	Account `koanf:",squash"`
	// Secrets sign every request (Standard Webhooks): whsec_ and base64 of 24 to 64 bytes; several during a rotation.
	Secrets []Secret `koanf:"secrets"`
	// AllowPrivate permits addresses that are not on the public internet, AllowHTTP permits URLs without TLS.
	AllowPrivate bool `koanf:"allow_private"`
	AllowHTTP    bool `koanf:"allow_http"`
}

// Push sends to phones through Firebase Cloud Messaging.
type Push struct {
	Account `koanf:",squash"`
	// Credentials is the JSON of a service account of the Firebase project.
	Credentials Secret `koanf:"credentials"`
	APIURL      string `koanf:"api_url" url:"http"`   // "" = https://fcm.googleapis.com
	TokenURL    string `koanf:"token_url" url:"http"` // "" = the one in the credentials
}

// Limits are the rates of the whole cluster.
type Limits struct {
	// Modes has the limits by mode: email, sms, call, slack, push, webhook.
	Modes map[string]Limit `koanf:"modes"`
	// Accounts has the limits by vendor and account, such as "twilio/main".
	Accounts map[string]Limit `koanf:"accounts"`
	// Applications has the limits by application, then by mode.
	Applications map[string]map[string]Limit `koanf:"applications"`
}

// Limit is a rate with a burst.
type Limit struct {
	Rate  Rate `koanf:"rate"`
	Burst int  `koanf:"burst"` // calls that may start at once. 0 = 1
}

// Delivery configures how messages are sent. The zero value is right for most installations.
type Delivery struct {
	// Concurrency is the maximum of simultaneous calls per mode and vendor account in this process. Each has its own
	// connection. 0 = the account's connections for e-mail, 16 for other vendors.
	Concurrency int `koanf:"concurrency"`
	// DryRun stops before the vendor call: "render" (only render), "store" (everything but the call). "" = send.
	DryRun string `koanf:"dry_run" oneof:"render,store"`
	// SMSOverride is the text for people whose carrier blocks the text of templates; %s is replaced by the incident's
	// id.
	SMSOverride string `koanf:"sms_override_template"`
	// RefusedNumbers are never texted or called: prefixes with a +, or whole numbers. Empty =
	// users.DefaultRefusedNumbers; only "none" = no number is refused.
	RefusedNumbers []string `koanf:"refused_numbers"`
	// CallMainlandChina permits calls to +86. Otherwise they become texts that begin with MainlandChinaNotice.
	CallMainlandChina   bool   `koanf:"call_mainland_china"`
	MainlandChinaNotice string `koanf:"mainland_china_notice"`
}

// Incidents says when incidents are closed.
type Incidents struct {
	// CloseAfter is the time without news after which an open incident is closed; nil = 30 days, 0 = never.
	CloseAfter *time.Duration `koanf:"close_after"`
}

// History says how long data is kept.
type History struct {
	Retention      time.Duration `koanf:"retention" default:"396d"`        // of finished messages
	AuditRetention time.Duration `koanf:"audit_retention" default:"1096d"` // of entries of the audit log
}

// API is the configuration of iris-api.
type API struct {
	Common
	HTTP          HTTP
	Slack         []Slack
	Twilio        []Twilio
	Webhooks      []string // formats served below /v0/webhooks. Empty = alertmanager and grafana
	Compatibility Compatibility
	MailingLists  MailingLists
	IncidentRates IncidentRates
	Intake        Intake
	// MaxPlanLength is the maximum duration of all steps of a new plan; 0 = no limit.
	MaxPlanLength time.Duration
	// Tags are the names of tags that objects may have; empty = none.
	Tags    []string
	History History
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
	// TimeZones are the zones that people may choose. Empty = defaultTimeZones.
	TimeZones []string
	Mobile    Mobile
	Oncall    Oncall
	LDAP      LDAP
	Sync      Sync // for people who log in with the directory's password
	OIDC      []OIDC
	Proxy     Proxy
	Tokens    Tokens
	SCIM      SCIM
	// SecondFactor says whose log-in needs a second factor: "optional" (nobody's), "admins" or "everybody".
	SecondFactor string
	// InForce lists every setting without secrets, for administrators.
	InForce []Setting
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
	// CloseAfter is the time without news after which an open incident is closed; 0 = never.
	CloseAfter time.Duration
	// MailingLists must be the same for both servers: the processor pages, iris-api accepts notifications.
	MailingLists  MailingLists
	Compatibility Compatibility // only DummyRoles is used
	Intake        Intake        // only CatchAllPlan is used, for missed heartbeats
	Oncall        Oncall
	LDAP          LDAP
	Sync          Sync
}

// file has the keys of the configuration file.
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
	Incidents     Incidents     `koanf:"incidents"`
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
