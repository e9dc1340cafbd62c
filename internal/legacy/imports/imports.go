package imports

import (
	"context"
	"iter"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Table describes how the rows of one table of the source are converted and stored in one of our tables.
type Table struct {
	// Class names the rows in the report.
	Class string
	From  string // table of the source
	Order string // columns of the source, in SQL
	// Reads are further columns of the source that are read, separated by spaces. The columns' own sources are always
	// read.
	Reads string
	// Label names a row in the report: $column stands for a value of the row (see Loader.label).
	Label string

	Name string // of our table
	// Columns describes the values of a record, in order.
	Columns []Column
	// Key are the columns that identify a row that exists here already. The default is the first column.
	Key []string
	// Unique are further expressions that must be unique; @ precedes columns, as in lower(@name).
	Unique []string
	// Yields, if set, is the reason in the report for a row that is not imported because another row here has its
	// unique value. If empty, that is a conflict.
	Yields string
}

// Column is one value of a record.
type Column struct {
	Name string
	Type string // PostgreSQL's name of the type; "" = text, or bigint with a Ref
	From string // column of the source; "" = Name
	// Value converts the source's column of a row. If the row cannot be imported, it reports that (Row.Lose). nil = the
	// usual conversion to the type.
	Value func(row *Row, column string) any
	// Ref says how the id in the record is replaced; nil = the value is stored unchanged.
	Ref *Ref
	// State is set for values that change here after the import. They are not compared with an existing row.
	State bool
	// Same, if set, is an SQL condition on s (the record) and t (the existing row) under which the two do not
	// contradict each other. Otherwise the values must be equal.
	Same string
	// Empty, if set, is an SQL condition on t under which the existing row has no value yet. The first import then
	// stores the record's value.
	Empty string
	// Aside is set for values that are not stored in the table (see Store).
	Aside bool
	// Keep: if the existing row has another value, that value is kept and reported. Otherwise a difference is a
	// conflict.
	Keep bool
	// Hidden values are not shown in the report.
	Hidden bool
}

// Ref replaces an id of the predecessor by a value of one of our tables.
type Ref struct {
	Table string
	Match string // column with the predecessor's id
	Take  string // column that is stored instead
	// Optional: an id that is not found becomes null. Otherwise the record is not imported.
	Optional bool
}

// Record is a row to be stored.
type Record struct {
	Label  string // names the row in the report; never a secret
	Values []any  // one for each column of the table
}

// Records is a stream of records. It ends at the first error.
type Records = iter.Seq2[Record, error]

// Outcome is the result of a Load.
type Outcome struct {
	Read  int64
	Taken int64
	Same  int64 // exists here with the same values
	// Reasons explain all other rows.
	Reasons []Reason
}

// Loading is our database during an import. Its methods are called one after another. Ids in records are those of the
// predecessor, unless a column has a Ref.
type Loading interface {
	// Load stores records in a table. Some tables are special:
	// applications: the first import deletes the application of a new installation if it has not been used.
	// incidents: their contexts (an Aside column) and timelines are stored as well.
	// comments: they get lines in timelines.
	// message_changes: they mark messages whose mode or target changed.
	// oncall_audit: the first import moves existing rows to higher ids.
	// message_history: the records are messages of Iris, for which step and state are computed.
	// ical_keys: the keys are sealed.
	Load(ctx context.Context, t Table, records Records) (Outcome, error)
	// Finish sets all sequences above the imported ids and records the import in the audit log.
	Finish(ctx context.Context, detail string) error
}

// IrisStore is the store of an import of Iris.
type IrisStore interface {
	Loading
	// Adopt gives existing users, teams and mailing lists, found by name, the ids that they have in Iris. It moves
	// other rows away from those ids; a row that is referred to cannot be moved, which is a conflict. Only the first
	// import does it.
	Adopt(ctx context.Context, targets []Target) (Outcome, error)
	// SealKeys stores the keys of applications.
	SealKeys(ctx context.Context, keys []ApplicationKeys) (Outcome, error)
	// Resume continues or ends the escalation of imported incidents that still escalate. It returns their number.
	Resume(ctx context.Context, goOn bool) (int64, error)
}

// OnCallStore is the store of an import of Oncall.
type OnCallStore interface {
	Loading
	// AdoptOnCall gives existing users, teams and roles, found by name, the ids that they have in Oncall. The first
	// import moves other rows away from those ids; a role that is in use cannot be moved, which is a conflict.
	AdoptOnCall(ctx context.Context, targets []Target) (Outcome, error)
	// AllowOnCall permits applications to use the on-call API with these keys. It creates missing applications.
	AllowOnCall(ctx context.Context, keys []ApplicationKeys) (Outcome, error)
	// OnCall returns who is on call here in [from, to), from the calendars that the resolver reads.
	OnCall(ctx context.Context, from, to time.Time) (OnCall, error)
}

// OnCall is who is on call here.
type OnCall struct {
	Teams  map[int64]*oncall.TeamCalendar // by Oncall's id of the team
	People map[users.ID]int64             // Oncall's ids of users
}

// Target is a user, team or mailing list with its name and id. Kind is user, team or mailing-list; for Oncall it is
// user, team or role.
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

// HighestNumber is the highest id of an imported row, 2^62: new rows need higher ids. The lowest is 1, because 0 means
// none. WrongNumber is the reason in the report for other ids.
const (
	HighestNumber = 1 << 62
	WrongNumber   = "its number is below 1, or too high to leave numbers for new rows: change it in the source"
)
