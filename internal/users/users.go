package users

// ID is a user's internal number. The wire shows TargetID (Iris) or OncallID (Oncall).
type ID int64

// User is a person who can be paged and can log in. Names are unique, compared case-insensitively.
type User struct {
	ID       ID
	TargetID int64
	OncallID int64
	Name     string
	FullName string
	TimeZone string
	Admin    bool
	ReadOnly bool // may read everything, and change only their own settings
	Active   bool
	// LoginEpoch is raised by changes that end the person's sessions: a new password, being switched off.
	LoginEpoch int
}

// Mode is a way to reach a person. The wire, the database and the UI use the same names.
type Mode string

// The modes. The wire numbers them in this order.
const (
	Email   Mode = "email"
	SMS     Mode = "sms"
	Call    Mode = "call"
	Slack   Mode = "slack"
	Push    Mode = "push"
	Webhook Mode = "webhook"
	Drop    Mode = "drop" // deliberately discard
)

// Modes lists every mode in the order of their wire numbers.
var Modes = []Mode{Email, SMS, Call, Slack, Push, Webhook, Drop}

// ContactModes are the modes that need a contact: all but Drop.
var ContactModes = Modes[:len(Modes)-1]

// Priority is how urgent a message is.
type Priority string

// The priorities, most urgent first.
const (
	Urgent Priority = "urgent"
	High   Priority = "high"
	Medium Priority = "medium"
	Low    Priority = "low"
)

// Priorities lists every priority, most urgent first, in the order of their wire numbers (1 to 4).
var Priorities = []Priority{Urgent, High, Medium, Low}

// DefaultModes are the modes of priorities in a new installation. An operator may choose others: see AppModes.
var DefaultModes = map[Priority]Mode{Urgent: Call, High: SMS, Medium: Email, Low: Email}

// Responder is a user with everything needed to choose a mode for one application.
type Responder struct {
	User
	Contacts map[Mode]string   // destination per mode
	Modes    map[Priority]Mode // the user's own choice
	AppModes map[Priority]Mode // the user's choice for this application
	// FollowUps are the user's later notifications about a page, ascending by delay.
	FollowUps map[Priority][]FollowUp
}

// AppModes is what an application allows and prefers, and what the installation prefers by default.
type AppModes struct {
	Supported map[Mode]bool
	// Unserved are modes that no processor has a vendor for. Only a simulation sets it: the engine finds out when it
	// sends.
	Unserved   map[Mode]bool
	Defaults   map[Priority]Mode
	Priorities map[Priority]Mode // of the installation; missing priorities are as in DefaultModes
}
