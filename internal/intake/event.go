package intake

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
)

// Status is what an event says about its alert.
type Status string

// The statuses. A decoder that is in doubt says Firing.
const (
	Firing       Status = "firing"
	Acknowledged Status = "acknowledged"
	Resolved     Status = "resolved"
)

// Severity is how serious an alert is. The empty severity means that the sender names none: the integration's default
// applies.
type Severity string

// The severities, the highest first.
const (
	Critical Severity = incidents.Critical
	Error    Severity = incidents.Error
	Warning  Severity = incidents.Warning
	Info     Severity = incidents.Info
)

// Link is an address that helps to understand an alert. URL is absolute, http or https.
type Link struct {
	URL  string `json:"url"`
	Text string `json:"text"`
}

// Image is a picture of an alert. URL is absolute, http or https. Iris does not fetch it.
type Image struct {
	URL string `json:"url"`
	Alt string `json:"alt,omitempty"`
	// Link is where a click on the picture leads; "" = nowhere.
	Link string `json:"link,omitempty"`
}

// MaxKey is the maximum length of a key or fingerprint, in bytes. Longer ones are hashed.
const MaxKey = 255

// GeneratedKey begins the keys of events whose sender gave none. Only the number of its incident names such an event.
const GeneratedKey = "iris:"

// Event is one delivery about one alert or one group of alerts.
type Event struct {
	Status Status
	// Key identifies the incident: an integration has at most one open incident with the same key. At most 255 bytes;
	// "" = the event opens an incident of its own.
	Key         string
	Title       string
	Summary     string
	Severity    Severity // of a group: that of its most severe firing alert
	Labels      map[string]string
	Annotations map[string]string
	Links       []Link
	Images      []Image
	StartsAt    time.Time // on the sender's clock; zero = unknown
	EndsAt      time.Time // zero = not over, or unknown
	// Plans are names that the sender gave for whom to page. The first that is an active plan is used, unless a rule
	// matches.
	Plans []string
	// Alerts are the members of a group, each fingerprint once; empty = the source has no groups.
	Alerts []incidents.Alert
	// UpdateOnly: the event updates the open incident with the key, and opens none.
	UpdateOnly bool `json:",omitempty"`
	// Context is the sender's payload as the templates see it: a JSON object.
	Context json.RawMessage
	// Failures are expressions of the integration that could not be used, so that the decoder's defaults were, unknown
	// words of the sender, or the reason why the delivery pages as text.
	Failures []Failure `json:",omitempty"`
	// OtherKeys identify the incident if none is open with Key: one that was opened before a recipe, or by the first mail
	// of a thread, has such a key until it ends.
	OtherKeys []string `json:",omitempty"`
	// Recipe is the recipe that read the payload; nil = none did.
	Recipe *RecipeUse `json:",omitempty"`
}

// RecipeUse says which recipe read a delivery, and why.
type RecipeUse struct {
	Name  string `json:"name"`
	Label string `json:"label" doc:"For people."`
	Why   string `json:"why" doc:"What it was recognised by."`
}

// Failure says why an expression or a word of the sender was not used for a field, or a delivery was not decoded.
type Failure struct {
	Field  string // key, title, summary, status, severity, link, labels.NAME; "" = the whole delivery
	Reason string
	// Empty: the expression rendered to nothing. Expressions may do so on purpose, so only the preview shows it.
	Empty bool
	// Unknown: the sender used a word that is in no table, see StatusOf and SeverityOf.
	Unknown bool
}

// ReadBy says for people which recipe read the delivery; none = no recipe did.
func (e Event) ReadBy() []string {
	if e.Recipe == nil {
		return nil
	}
	return []string{"read by the recipe " + e.Recipe.Name + ", because " + e.Recipe.Why}
}

// FailureText describes what was not understood; "" = nothing. It is shown on the integration and on the timeline.
func (e Event) FailureText() string {
	var parts []string
	for _, f := range e.Failures {
		switch {
		case f.Field == "", f.Unknown:
			parts = append(parts, f.Reason)
		case !f.Empty:
			parts = append(parts, "the expression of "+f.Field+" failed, its default was used: "+f.Reason)
		}
	}
	return strings.Join(parts, "; ")
}

// Request is one delivery as a source sent it. Its sender is authenticated.
type Request struct {
	// Header returns the first value of a header; "" = there is none.
	Header func(name string) string
	// Query returns the first value of a parameter of the address; "" = there is none.
	Query func(name string) string
	Body  []byte
	// Text: the body is read as a text although it is JSON, because it nests too deep.
	Text bool
	// Settings are those of the integration: a JSON object, or empty.
	Settings json.RawMessage
	// At is when the delivery arrived.
	At time.Time
}

// Decoder turns a delivery into events. It is pure and safe for concurrent use. An error is an Invalid fault that names
// the field: the delivery can never be decoded. No events and no error mean that the delivery says nothing about an
// alert, such as a test message.
type Decoder func(Request) ([]Event, error)
