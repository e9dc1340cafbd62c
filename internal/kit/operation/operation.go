package operation

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Role is what a caller may do in general. The function of an operation decides about single objects. Each role
// includes those before it.
type Role int

// The roles.
const (
	Nobody Role = iota
	Reader      // any known caller
	Member      // a caller who may write
	Admin
)

// Actor is who asks, by whatever door.
type Actor struct {
	Name    string // for timelines and the audit log
	Role    Role
	Person  int64   // 0 = no person
	Program bool    // an application that acts for nobody
	Teams   []int64 // the teams that the caller belongs to, as far as they are known; of a person they may be left out
	Manages []int64 // those of Teams that the caller administers
	Service int64   // the team whose service token the caller is; 0 = another kind of caller
	Token   int64   // the number of the personal token or service token of the request; 0 = it has none
	OnCall  bool    // an application that may change the calendars and settings of all teams and people
	// ReadOnlyAdmin: the caller may only read, but reads what an administrator reads.
	ReadOnlyAdmin bool
	// ForAnybody: the caller may act in the name of any person.
	ForAnybody bool
	// AnyVersion: the caller may change any plan and template, as in Iris (compatibility.change_any_plan).
	AnyVersion bool
	Through    string // the application by which the caller calls: its own, or that of people with a session
	Session    bool   // known by a session or a token, and not by the key of an application
	OnPage     bool   // the caller uses a page of the web site
	// Application and ApplicationName are the application to whose objects the caller is confined; 0 = it is not
	// confined.
	Application     int64
	ApplicationName string
	// Request is the body as a client of Oncall sent it, for the audit log of on-call; nil = the log has the input of
	// the operation.
	Request json.RawMessage
}

// The refusals of callers whose role is too low, and of those who are confined.
var (
	ErrUnknown = &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure",
		Detail: "Malformed/missing HMAC authorization header"}
	ErrReadOnly = fault.New(fault.Forbidden, "This user may only read")
	// ErrNotThisUser refuses a caller who acts in the name of somebody else.
	ErrNotThisUser = &fault.Error{Kind: fault.Unauthenticated,
		Message: "This user is not allowed to access this resource", EmptyDetail: true}
	ErrAdminOnly = fault.New(fault.Forbidden, "Only administrators may do this")
	ErrOwnerOnly = fault.New(fault.Forbidden, "Only administrators and owners of this application may do this")
	// ErrNotReached hides from a confined caller what belongs to another application, or does not exist.
	ErrNotReached = fault.New(fault.NotFound, "This application has nothing with this number")
)

// Require returns the refusal of a caller whose role is lower than needed.
func (a Actor) Require(needed Role) error {
	switch {
	case a.Role >= needed:
		return nil
	case a.Role == Nobody:
		return ErrUnknown
	case needed == Admin:
		return ErrAdminOnly
	}
	return ErrReadOnly
}

// Rule says for whom an operation is, of those who have the role that it needs. It is a sentence for the documentation.
// Tests send every operation as every kind of caller and compare the answers with its role and rule.
type Rule string

// The rules.
const (
	Anybody Rule = ""
	// InTheNameOf is for changes that have an author.
	InTheNameOf Rule = "in their own name; administrators and applications that act for people in any name"
	// OfAuthor is for objects with versions.
	OfAuthor Rule = "administrators, the creator, members of the team that owns it, and applications that act for people"
	// People is for callers who act as a person.
	People Rule = "people, and applications that act for people"
	// PeopleOnly is People without applications that name no person.
	PeopleOnly Rule = "people"
	// OfApplication is for what belongs to an application.
	OfApplication Rule = "administrators, owners of the application, and members of the team that owns it"
	// OfApplicationByPeople is OfApplication without the keys of applications, which get 401.
	OfApplicationByPeople Rule = "administrators, owners of the application, and members of the team that owns it; not with the key of an application"
	// Themselves is for what every person has, such as tokens.
	Themselves Rule = "people with a session or a token, about themselves; administrators about anybody"
	// TheirOwn is for single objects that belong to a person. For others they do not exist.
	TheirOwn Rule = "people with a session or a token, of what is theirs; administrators of what is anybody's"
	// OfTeamAdmins is for what people make for a team.
	OfTeamAdmins Rule = "people with a session or a token who are administrators, or administrators of the team"
	// HiddenOfTeam is OfTeamAdmins for single objects. For others they do not exist.
	HiddenOfTeam Rule = "people with a session or a token who are administrators, or administrators of the team that has it"
	// WithToken is for requests about their own token.
	WithToken Rule = "callers with a personal token or a service token"
	// InOncall is for what every caller of the on-call API may do.
	InOncall Rule = "people, service tokens, and applications that may use the on-call API"
	// OfOncall is for what belongs to the calendar as a whole, and to no team.
	OfOncall Rule = "administrators, and applications that may use the on-call API"
	// OfTeam is for what the administrators of a team change.
	OfTeam Rule = "administrators of the team, administrators, and applications that may use the on-call API"
	// InTeam is for what the members of a team change.
	InTeam Rule = "members of the team, administrators, and applications that may use the on-call API"
	// InPerson is for the consent of a person.
	InPerson Rule = "people, in their own name; not with the key of an application or a service token"
	// Identified is for reads that are refused without credentials even if anonymous reads are on.
	Identified Rule = "callers with credentials, also if anonymous reads are on"
	// OfPerson is for what belongs to a person in calendars.
	OfPerson Rule = "the person, administrators, and applications that may use the on-call API"
	// OfPersonInTeam is for what belongs to a person, or to a team.
	OfPersonInTeam Rule = "the person, administrators of the team to which it belongs, administrators, and applications that may use the on-call API"
	// OwnSettings is for what a person chooses, whoever may write or only read.
	OwnSettings Rule = "the person, administrators, and applications that act for people"
	// OfItsTeam is for what belongs to a team as a whole.
	OfItsTeam Rule = "administrators, people who administer the team, and its service tokens"
	// ConfinedInTheNameOf is Confined and InTheNameOf.
	ConfinedInTheNameOf Rule = "in their own name; administrators and applications that act for people in any name; an application with its key reaches only its own"
	// OfApplicationAndItsKey is OfApplication with the key of the application.
	OfApplicationAndItsKey Rule = "administrators, owners of the application, members of the team that owns it, and the key of the application"
	// AsApplication is for what is made in the name of an application.
	AsApplication Rule = "the key of the application, its owners, members of the team that owns it, administrators, and applications with the power to open incidents for others"
	// Confined is for what an application sees of its own only.
	Confined Rule = "an application with its key reaches only its own"
)

// Doc is what every door has to know of an operation.
type Doc struct {
	Name    string // such as "silence.create"
	Method  string // of /v1
	Path    string // of /v1, with parameters in braces
	Summary string // a sentence without a full stop
	Note    string // further sentences, for the documentation of /v1
	Needs   Role
	Rule    Rule           // for whom of these callers; the function of the operation checks it
	Audit   []audit.Action // the entries of the audit log that it may write; none = it writes none
	Status  int            // of the answer; 0 = 201 for POST, 204 for DELETE, else 200
	Errors  []int          // statuses of errors besides those of every operation
	// Secret: the answer has a secret. It must not be stored anywhere, so an Idempotency-Key is refused. Administrators
	// who may only read do not get it.
	Secret bool
}

// Def defines an operation without the function that carries it out. Clients need no more.
type Def[In, Out any] struct{ Doc }

// Define returns a definition.
func Define[In, Out any](d Doc) Def[In, Out] {
	if d.Status == 0 {
		d.Status = map[string]int{http.MethodPost: http.StatusCreated,
			http.MethodDelete: http.StatusNoContent}[d.Method]
	}
	if d.Status == 0 {
		d.Status = http.StatusOK
	}
	return Def[In, Out]{d}
}

// Checker is implemented by inputs with rules that tags cannot express. Check returns an Invalid fault with all broken
// rules.
type Checker interface{ Check() error }

// Op is an operation that can be carried out. It is safe for concurrent use if its function is.
type Op[In, Out any] struct {
	Def[In, Out]
	do      func(context.Context, Actor, In) (Out, error)
	schema  *huma.Schema
	schemas huma.Registry // resolves the references of schema
}

// By binds a definition to the function of a package. The function writes the entry of the audit log in the transaction
// of the change.
func (d Def[In, Out]) By(do func(context.Context, Actor, In) (Out, error)) Op[In, Out] {
	schemas := huma.NewMapRegistry("#/", func(t reflect.Type, hint string) string {
		return t.PkgPath() +
			huma.DefaultSchemaNamer(t, hint)
	})
	return Op[In, Out]{d, do, huma.SchemaFromType(schemas, reflect.TypeFor[In]()), schemas}
}

// Bound reports whether the operation has its function.
func (o Op[In, Out]) Bound() bool { return o.do != nil }

// Do carries the operation out for a caller. It refuses a caller whose role is too low, and an input that breaks the
// tags of its type or its Check, before it calls the function.
func (o Op[In, Out]) Do(ctx context.Context, by Actor, in In) (out Out, err error) {
	by, err = o.admit(by)
	if err == nil {
		err = o.validate(in)
	}
	if err != nil {
		return out, err
	}
	return o.DoValid(ctx, by, in)
}

// DoValid is Do for an input that was checked against the tags of its type, as package mount does.
func (o Op[In, Out]) DoValid(ctx context.Context, by Actor, in In) (out Out, err error) {
	if by, err = o.admit(by); err != nil {
		return out, err
	}
	if c, ok := any(in).(Checker); ok {
		if err := c.Check(); err != nil {
			return out, err
		}
	}
	return o.do(ctx, by, in)
}

// admit returns the caller in the role that it has for the operation. It refuses one whose role is too low.
func (o Op[In, Out]) admit(by Actor) (Actor, error) {
	if by.ReadOnlyAdmin && o.Method == http.MethodGet && !o.Secret {
		by.Role = Admin
	}
	return by, by.Require(o.Needs)
}

// validate checks the input against the tags of its type. Without it they would hold at /v1 only.
func (o Op[In, Out]) validate(in In) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	var result huma.ValidateResult
	huma.Validate(o.schemas, o.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, v, &result)
	return Invalid(result.Errors)
}

// Invalid returns the errors of huma as one Invalid fault; nil if there is none.
func Invalid(errs []error) error {
	var wrong fault.Wrong
	for _, err := range errs {
		var d *huma.ErrorDetail
		if !errors.As(err, &d) {
			return err
		}
		field := d.Location
		for _, place := range []string{"body", "query", "path"} {
			if rest, found := strings.CutPrefix(field, place); found && (rest == "" || rest[0] == '.' || rest[0] == '[') {
				field = strings.TrimPrefix(rest, ".")
			}
		}
		message := d.Message
		if better, ok := ofParameters[message]; ok {
			message = better
		}
		if n, _ := d.Value.(float64); n >= 1e9 && message == validation.MsgExpectedString {
			message += "; an instant is written as 2026-01-31T08:00:00Z, not as Unix seconds"
		}
		if name, missing := strings.CutPrefix(message, missingMark); missing {
			field, message = strings.TrimPrefix(field+"."+name, "."), "is missing"
		}
		if field == "" {
			wrong.Add(field, "the body %s", message)
			continue
		}
		wrong.Add(field, "%.100s %s", field, message)
	}
	return wrong.Err()
}
