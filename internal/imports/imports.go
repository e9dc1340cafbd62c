// Package imports moves the data of a predecessor from its MySQL database into ours: it reads a consistent snapshot
// (Source), turns rows into records (Row), and passes them to a Target, which stores all of them in one transaction or none.
// What happened to every row is counted and explained in a Report. Packages below it know the tables of one predecessor.
package imports

import (
	"context"
	"iter"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Table says how records go into one table of ours.
type Table struct {
	Name string
	// Columns are the values of a record, in this order.
	Columns []Column
	// Key are the columns by which a row is recognised when it is here already.
	Key []string
	// Unique are further expressions of which no two rows may have the same; @ stands before columns, as in lower(@name).
	Unique []string
	// Yields, when set, is the reason in the report for a row that is not taken because another row here has the unique value.
	// Empty: that is a conflict.
	Yields string
}

// Column is one value of a record.
type Column struct {
	Name string
	Type string // PostgreSQL's name of the type
	// Ref is the table in which the record's number is looked up; nil = the value is stored unchanged.
	Ref *Ref
	// State is a value that changes here after the import: it is not compared with a row that is here already.
	State bool
	// Same, when set, is an SQL condition over s (the record) and t (the row that is here) under which the two do not
	// contradict each other; otherwise they must not be distinct.
	Same string
	// Empty, when set, is an SQL condition over t: the existing row has no value yet, and the first import sets the record's
	// value.
	Empty string
	// Aside: the value goes elsewhere (see Store), not into the table.
	Aside bool
	// Keep: a different value of an existing row stays and is reported. Without Keep it is a conflict.
	Keep bool
	// Quiet values are not shown in the report.
	Quiet bool
}

// Ref looks a number of the predecessor up in a table of ours.
type Ref struct {
	Table string
	Match string // column that holds the predecessor's number
	Take  string // column that is stored instead
	// Optional: a number that is not found is left out; otherwise the whole record is.
	Optional bool
}

// Unsettled is the mark of imported contacts until Finish, which verifies those that two people do not share.
const Unsettled = ""

// Record is one row to be stored.
type Record struct {
	Label  string // names the row in the report; never a secret
	Values []any  // one for each column of the table
}

// Records is a stream of records. It ends at the first error.
type Records = iter.Seq2[Record, error]

// Outcome is what became of the records of one Load.
type Outcome struct {
	Read  int64
	Taken int64
	Same  int64 // here already, and the same
	// Reasons explain everything else.
	Reasons []Reason
}

// Store is our database during one import. Its methods are called one after another. Numbers in records are the
// predecessor's, unless a column has a Ref.
type Store struct {
	OnCallStore
	IrisStore
}

// IrisStore is what only the data of Iris needs.
type IrisStore interface {
	// Adopt gives people, teams and lists that are here already the numbers that they have there, found by name, and moves
	// others out of the way of those numbers. What something here refers to cannot be moved: a conflict. Only the first
	// import does it.
	Adopt(ctx context.Context, targets []Target) (Outcome, error)
	// MakeRoom removes the application that a new installation begins with, if nobody has used it yet.
	MakeRoom(ctx context.Context) error
	// SealKeys stores the keys of applications.
	SealKeys(ctx context.Context, keys []ApplicationKeys) (Outcome, error)
	// LoadMessages stores messages in history. Its table is MessageTable.
	LoadMessages(ctx context.Context, records Records) (Outcome, error)
	// Resume continues the escalation of imported incidents that still escalate, or ends it. It returns how many there are.
	Resume(ctx context.Context, goOn bool) (int64, error)
}

// OnCallStore is the part of a Store that Oncall's data needs.
type OnCallStore struct {
	Loading
	CalendarStore
	Finishing
}

// CalendarStore is what only the data of Oncall needs.
type CalendarStore interface {
	// AdoptOnCall gives people, teams and roles that are here already the numbers that Oncall has for them, found by name,
	// and on the first import moves others out of the way of those numbers. A role that is in use here cannot be moved: a
	// conflict.
	AdoptOnCall(ctx context.Context, targets []Target) (Outcome, error)
	// MakeAuditRoom moves what the on-call audit log here holds behind the number, on the first import.
	MakeAuditRoom(ctx context.Context, highest int64) error
	// AllowOnCall lets applications use the on-call API with these keys; those that are not here are made.
	AllowOnCall(ctx context.Context, keys []ApplicationKeys) (Outcome, error)
	// OnCall returns who is on call here in [from, to), as the resolver reads it.
	OnCall(ctx context.Context, from, to time.Time) (OnCall, error)
}

// Finishing ends an import.
type Finishing interface {
	// Finish moves all sequences beyond the numbers that were taken and notes the import in the audit log.
	Finish(ctx context.Context, detail string) error
}

// OnCall is who is on call here.
type OnCall struct {
	Teams  map[int64]*oncall.TeamCalendar // by Oncall's number of the team
	People map[users.ID]int64             // Oncall's numbers of people
}

// Target is a person, team or list by its name and number. Kind is user, team or mailing-list; for on-call numbers user,
// team or role.
type Target struct {
	Kind   string
	Name   string
	Number int64
}

// ApplicationKeys are the keys of one application; "" = none.
type ApplicationKeys struct {
	ID        int64
	Name      string
	Primary   string
	Secondary string
}

// HighestNumber is the highest number of an imported row, 2^62: new rows need higher ones. The lowest is 1, because 0 means
// none. WrongNumber is the reason in the report for other numbers.
const (
	HighestNumber = 1 << 62
	WrongNumber   = "its number is not above 0, or so high that there is no room for new ones behind it: change it there"
)

// MessageTable describes the records of LoadMessages.
func MessageTable() Table {
	return Table{Name: "message_history", Key: []string{"id"}, Columns: []Column{
		{Name: "id", Type: "bigint"},
		{Name: "created_at", Type: "timestamptz"},
		{Name: "sent_at", Type: "timestamptz"},    // null = it was not sent
		{Name: "application_id", Type: "bigint"},  //
		{Name: "target_id", Type: "bigint"},       //
		{Name: "target", Type: "text"},            // name of the target
		{Name: "destination", Type: "text"},       //
		{Name: "mode", Type: "text"},              // "" = not decided
		{Name: "plan_id", Type: "bigint"},         // null = out of band
		{Name: "priority", Type: "text"},          // null = none
		{Name: "subject", Type: "text"},           //
		{Name: "body", Type: "text"},              //
		{Name: "incident_id", Type: "bigint"},     // null = out of band
		{Name: "notification_id", Type: "bigint"}, // of the plan; null = none
		{Name: "waiting", Type: "boolean"},        // neither sent nor cancelled
		{Name: "template_id", Type: "bigint"},     // null = none
		{Name: "batch", Type: "text"},             // null = not aggregated
		{Name: "delivery", Type: "text"},          // what the vendor said in the end: "", delivered, failed
	}}
}
