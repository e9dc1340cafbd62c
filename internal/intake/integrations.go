// This file defines what an integration is: a sender of alerts with its own address, tokens, default plan and routing
// rules. The edges that take deliveries, /v1 and the command line use it. It knows no storage and no transport.

package intake

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/signatures"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ID is the number of an integration.
type ID int64

// The types that have a form of their own: of the address, the token or the settings.
const (
	PagerDuty = "pagerduty"
	Opsgenie  = "opsgenie"
	Generic   = "generic"   // has expressions as settings
	Email     = "email"     // has them too, and an address of a mailbox
	Heartbeat = "heartbeat" // takes pings instead of events
	SNS       = "sns"       // has expressions, and settings about signatures
)

// The rates of deliveries per minute: of an integration that names none, and the highest.
const (
	DefaultRate = 600
	MaxRate     = 100_000
)

// Integration is a sender of alerts.
type Integration struct {
	ID            ID
	ApplicationID int64
	Application   string
	Team          string // that owns the application; "" = none, and in what ByToken returns
	CreatedBy     string
	CreatedAt     time.Time
	Content
	Tokens   []Token
	Activity Activity
	// Secrets check signatures. Only ByToken reads them, and nothing shows them. SecretsSetAt is when each was set.
	Secrets      []Secret
	SecretsSetAt []time.Time
}

// Secret is a secret of a sender, in clear text. Its text form does not reveal it.
type Secret string

// String never returns the secret.
func (Secret) String() string { return "[secret]" }

// The limits of secrets: of an integration, and the length of one in bytes.
const (
	MaxSecrets      = 2
	maxSecretLength = 1024
)

// CheckSecrets returns an Invalid fault for secrets that an integration of a type cannot have.
func CheckSecrets(kind string, secrets []string) error {
	switch {
	case len(secrets) > 0 && !slices.Contains(signatures.Types(), kind):
		return fault.Invalidf("secrets", "only integrations of the types %s have secrets",
			strings.Join(signatures.Types(), ", "))
	case len(secrets) > MaxSecrets:
		return fault.Invalidf("secrets", "an integration has at most %d secrets", MaxSecrets)
	}
	for _, s := range secrets {
		if len(s) < 8 || len(s) > maxSecretLength {
			return fault.Invalidf("secrets", "a secret has 8 to %d bytes", maxSecretLength)
		}
	}
	return nil
}

// Query selects integrations, by name.
type Query struct {
	After       string // the name after which the list begins; "" = the first
	Part        string // of the name, of the application or of its team, or the type; "" = any
	Team        string // that owns the application; "" = any
	Application string // "" = any
	Refused     bool   // only those that refused deliveries or whose expressions failed
	Most        int
}

// Content is the part of an integration that people edit.
type Content struct {
	Name            string
	Type            string // never changes
	DefaultPlan     string // "" = that of the application
	DefaultSeverity Severity
	Rules           []Rule
	// Settings are those of the type's decoder: an object.
	Settings      json.RawMessage
	RatePerMinute int // deliveries per minute, in the whole cluster
	Enabled       bool
	Ends          Ends
}

// Ends says when incidents end although the source sends no resolve. Times are in whole seconds.
type Ends struct {
	ResolveAfter time.Duration  // an incident without a delivery for so long is resolved; 0 = never
	CloseAfter   *time.Duration // an incident without news for so long is closed; 0 = never, nil = as configured
}

// The shortest times of Ends. Deliveries are noted once a minute.
const (
	MinResolveAfter = 5 * time.Minute
	MinCloseAfter   = time.Hour
	maxEnd          = 10 * 365 * 24 * time.Hour
)

// check returns an Invalid fault for times that are too short or too long.
func (e Ends) check() error {
	var wrong fault.Wrong
	d := e.ResolveAfter
	wrong.If(d != 0 && (d < MinResolveAfter || d > maxEnd), "resolve_after_seconds",
		"resolve_after_seconds must be at least %d, or 0 for never", MinResolveAfter/time.Second)
	if e.CloseAfter != nil {
		d = *e.CloseAfter
		wrong.If(d != 0 && (d < MinCloseAfter || d > maxEnd), "close_after_seconds",
			"close_after_seconds must be at least %d, or 0 for never", MinCloseAfter/time.Second)
	}
	return wrong.Err()
}

// Token is a credential of an integration. Its value is shown once, when it is made.
type Token struct {
	ID         int64
	CreatedAt  time.Time
	LastUsedAt time.Time // zero = never
}

// Activity says what an integration received.
type Activity struct {
	Accepted, Refused             int64
	LastAcceptedAt, LastRefusedAt time.Time // zero = never
	LastRefusal                   string    // why
	// FailedExpressions counts deliveries with an expression that failed. The default was used instead.
	FailedExpressions int64
	LastFailureAt     time.Time // zero = never
	LastFailure       string    // the expressions and why
}

// Payload is a stored delivery. Body has no token of the integration.
type Payload struct {
	At          time.Time
	Outcome     string
	Body        string
	ContentType string
	Failure     string // expressions that failed; not stored, because Outcome says it too
}

// Tag identifies the state of the content, for edits under If-Match.
func (c Content) Tag() string { return etag.Of(c) }

// Unchanged returns a Stale fault if the stored content differs from c, which an editor read before.
func (c Content) Unchanged(stored Content) error {
	if c.Tag() != stored.Tag() {
		return etag.ErrStale
	}
	return nil
}

// Bounds of the content: rules, and characters of the name.
const (
	maxRules = 200
	maxName  = 255
)

// Check sets the defaults of the content. It returns an Invalid fault with all wrong fields. types and recipes are those that there are.
func (c *Content) Check(types, recipes []string) error {
	c.Name = strings.TrimSpace(c.Name)
	if len(c.Settings) == 0 || string(c.Settings) == "null" {
		c.Settings = json.RawMessage(`{}`)
	}
	var wrong fault.Wrong
	wrong.If(c.Name == "" || c.Name == "\uFFFD" || utf8.RuneCountInString(c.Name) > maxName ||
		strings.ContainsAny(c.Name, "/\x00"), "name", "name must have 1 to %d characters without a slash", maxName)
	if known := slices.Contains(types, c.Type); known {
		wrong.Join(c.checkSettings(recipes))
	} else {
		wrong.Add("type", "type must be one of: %s", strings.Join(types, ", "))
	}
	wrong.If(c.DefaultSeverity != "" && !KnownSeverity(c.DefaultSeverity), "default_severity",
		"default_severity must be critical, error, warning or info")
	wrong.If(c.RatePerMinute < 0 || c.RatePerMinute > MaxRate, "rate_per_minute",
		"rate_per_minute must be 1 to %d", MaxRate)
	if c.RatePerMinute == 0 {
		c.RatePerMinute = DefaultRate
	}
	wrong.Join(c.Ends.check())
	if len(c.Rules) > maxRules {
		wrong.Add("rules", "an integration has at most %d rules", maxRules)
	} else {
		wrong.Join(Check(c.Rules))
	}
	return wrong.Err()
}

// checkSettings returns an Invalid fault for settings that the type does not have.
func (c *Content) checkSettings(recipes []string) error {
	own, others := Split(c.Settings)
	x, err := Parse(own)
	switch {
	case !HasExpressions(c.Type) && string(own) != "{}":
		others = c.Settings
	case err != nil:
		return err
	case x.Recipe != "" && x.Recipe != NoRecipe && !slices.Contains(recipes, x.Recipe):
		return fault.Invalidf("settings.recipe", "there is no recipe %.60q: use %s, or one of %s", x.Recipe, NoRecipe,
			strings.Join(recipes, ", "))
	}
	switch {
	case signatures.HasSettings(c.Type):
		_, err := signatures.Parse(c.Type, others)
		return err
	case HasExpressions(c.Type):
		_, err := Parse(c.Settings)
		return err
	case string(others) != "{}":
		return fault.Invalidf("settings", "integrations of type %s have no settings", c.Type)
	}
	return nil
}

var severities = []Severity{Critical, Error, Warning, Info}

// KnownSeverity reports whether s is one of the severities.
func KnownSeverity(s Severity) bool { return slices.Contains(severities, s) }

// Worse reports whether severity a is higher than b. An empty severity is the lowest.
func Worse(a, b Severity) bool { return incidents.Worse(string(a), string(b)) }
