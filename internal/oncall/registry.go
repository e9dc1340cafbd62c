package oncall

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// By is who changes something, for the audit log: the name of a person or application, and the request's body where the
// log keeps it. It never holds a secret.
type By struct {
	Owner string
	Body  json.RawMessage // nil = none
}

// TeamSettings are the settings that a team's administrators choose. Empty texts are unset.
type TeamSettings struct {
	Name               string
	Description        string
	TimeZone           string // IANA name; shifts are made on its clock
	Email              string
	SlackChannel       string
	SlackNotifications string // channel
	IrisPlan           string // plan of the escalate button
	IrisEnabled        bool
	OverridePhone      string // replaces the call and sms contacts of the primary
	APIManaged         bool
}

// Profile is a team as its page shows it.
type Profile struct {
	ID       int64
	OncallID int64
	TargetID int64
	Active   bool
	TeamSettings
}

// TeamName is a team in a list.
type TeamName struct {
	ID       int64
	OncallID int64
	Name     string
	Email    string
	Active   bool
}

// TeamPerson is a person's part in a team. Administrators need not be members.
type TeamPerson struct {
	ID     users.ID
	Name   string
	Member bool
	Admin  bool
	Active bool
	// Managed means that groups of single sign-on give the membership.
	Managed bool
}

// Roster is a list of a team's people, from which schedules choose.
type Roster struct {
	ID      int64
	Name    string
	Members []RosterMember // by priority
}

// RosterMember is a person's place in a roster.
type RosterMember struct {
	User       users.ID
	Name       string
	Active     bool // the user is active
	InRotation bool
	Priority   int
}

// RosterEdit replaces the name and the members of a roster.
type RosterEdit struct {
	IfMatch []string // the tags of the states that may be changed; nil = any
	Name    string
	Members []RosterMember // in order, each once; only User, Name and InRotation count
}

// RoleInfo is an on-call role.
type RoleInfo struct {
	ID           int64
	Name         string
	DisplayOrder int
}

// Service is a service that a team answers for.
type Service struct {
	ID   int64
	Name string
}

// Person is a user with the fields of the on-call API.
type Person struct {
	users.User
	PhotoURL string // "" = none
	// NoTimeZone: nobody chose the time zone; it is UTC then.
	NoTimeZone bool
	Contacts   map[users.Mode]string
}

// PersonChange changes a person; nil leaves a field unchanged. An empty time zone means that nobody chose one. Contacts
// that are not named stay.
type PersonChange struct {
	Name, FullName, TimeZone, PhotoURL *string
	Active                             *bool
	Contacts                           map[users.Mode]string
	// Trusted: the caller vouches for the contacts (users.Vouches), so they count as verified.
	Trusted bool
}

// Subscription shows another team's shifts of a role on a team's calendar.
type Subscription struct {
	TeamID int64 // the other team
	Team   string
	Role   string
}

// NoticeType is a kind of message about shifts.
type NoticeType struct {
	Name       string
	IsReminder bool
}

// NoticeSetting is a person's choice of notices about a team's shifts.
type NoticeSetting struct {
	ID         int64
	User       users.ID
	UserName   string
	TeamID     int64
	Team       string
	Mode       users.Mode
	Type       string
	IsReminder bool
	Before     *time.Duration // reminders: how long before
	OnlyMine   *bool          // other types: only if the person is involved
	Roles      []string
}

// IcalKey is a secret address of a calendar feed, of a person or of a team.
type IcalKey struct {
	Key         string
	Requester   string
	RequesterID users.ID
	User        users.ID // 0 = a team's
	TeamID      int64    // 0 = a person's
	Name        string   // of the person or team, as it is now
	CreatedAt   time.Time
}

// IcalSubject is whose calendar a key opens: exactly one of the two.
type IcalSubject struct {
	User   users.ID
	TeamID int64
}

// AuditEntry is a change of a team's calendar or settings, with the names of that time.
type AuditEntry struct {
	Owner, Team, Action string
	At                  time.Time
	Context             json.RawMessage
}

// AuditQuery narrows the audit log; empty fields do not narrow it.
type AuditQuery struct {
	Teams, Owners, Actions []string
	Since, Until           *time.Time
}

// SearchResult is the result of a search.
type SearchResult struct {
	Teams    []string
	Services map[string][]string // service -> teams
	Users    []users.User
}
