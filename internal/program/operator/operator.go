package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Operator performs the commands of the operator on the database. It is safe for concurrent use. Most changes are
// recorded in the audit log, in a second transaction: if only that fails, the change is kept and an error is returned.
type Operator struct {
	db           *postgres.DB
	users        *pgusers.Users
	teams        *pgusers.Teams
	targets      *pg.Targets
	applications *pg.Applications
	plans        *pg.Plans
	templates    *pg.Templates
	contacts     *pgusers.Contacts
	region       users.Region
	passwords    *auth.Passwords
}

// operatorName is the actor in the audit log.
const operatorName = "iris command"

// New returns an operator on a database whose schema has been checked. Close closes db.
func New(db *postgres.DB, keys *auth.Keys) *Operator {
	return &Operator{
		db: db, users: pgusers.NewUsers(db), teams: pgusers.NewTeams(db), targets: pg.NewTargets(db),
		applications: pg.NewApplications(db, keys), plans: pg.NewPlans(db), templates: pg.NewTemplates(db),
		contacts: pgusers.NewContacts(db, keys, nil), passwords: auth.NewPasswords(),
	}
}

// WithRegion reads phone numbers without a country code as those of a region.
func (o *Operator) WithRegion(r users.Region) *Operator {
	o.region = r
	return o
}

// Close closes the connections.
func (o *Operator) Close() { o.db.Close() }

// NewUser is a user to be added.
type NewUser struct {
	Name     string
	FullName string
	TimeZone string // "" = UTC
	Admin    bool
	Password string // "" = no password
	// AnyPassword permits a password that is easy to guess. Only the demo data sets it.
	AnyPassword bool
	Contacts    map[users.Mode]string
	Modes       map[users.Priority]users.Mode // mode by priority; absent = the default mode
}

// AddUser adds a user. It returns a Conflict fault if the name exists.
func (o *Operator) AddUser(ctx context.Context, n NewUser) error {
	if err := checkName(n.Name); err != nil {
		return err
	}
	stored := map[users.Mode]string{}
	for _, mode := range users.Modes {
		if destination, given := n.Contacts[mode]; given {
			to, err := o.region.Contact(mode, destination)
			if err != nil {
				return err
			}
			stored[mode] = to
		}
	}
	row := pgusers.NewUser{Name: n.Name, FullName: n.FullName, TimeZone: n.TimeZone, Admin: n.Admin, Contacts: stored}
	if n.Password != "" {
		if err := auth.CheckNewPassword(n.Password); err != nil && !n.AnyPassword {
			return err
		}
		hash, err := o.passwords.Hash(ctx, n.Password)
		if err != nil {
			return err
		}
		row.PasswordHash = hash
	}
	u, err := o.users.Create(ctx, row)
	if err != nil {
		return err
	}
	for priority, mode := range n.Modes {
		if err := o.users.SetMode(ctx, u.ID, priority, mode); err != nil {
			return fmt.Errorf("set the mode of priority %s: %w", priority, err)
		}
	}
	return nil
}

// Users returns all users, by name.
func (o *Operator) Users(ctx context.Context) ([]pgusers.ListedUser, error) {
	return o.users.List(ctx)
}

// SetContact stores the destination of a user in a mode; "" removes it.
func (o *Operator) SetContact(ctx context.Context, name string, mode users.Mode, destination string) error {
	if destination != "" {
		var err error
		if destination, err = o.region.Contact(mode, destination); err != nil {
			return err
		}
	}
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	return o.users.SetContact(ctx, u.ID, mode, destination)
}

// VerifyContact marks a contact of a user as verified.
func (o *Operator) VerifyContact(ctx context.Context, name string, mode users.Mode) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	return o.contacts.Confirm(ctx, u.ID, mode)
}

func (o *Operator) user(ctx context.Context, name string) (users.User, error) {
	u, err := o.users.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return u, fault.Wrap(fault.NotFound, err, "there is no user "+name+": see iris user list")
	}
	return u, err
}

func (o *Operator) application(ctx context.Context, name string) (auth.Application, error) {
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return app, fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	return app, err
}

// NewApplication is an application to be added.
type NewApplication struct {
	Name          string
	Key           string   // "" = a random one
	Variables     []string // variables that its incidents may have
	TitleVariable string   // the variable with the title of an incident

	ActsForUsers   bool // it may act in the name of users
	OpensForOthers bool // it may open incidents of other applications
	UsesOnCall     bool // it may use the on-call API in the name of any user
	Relay          bool // it may relay the responses of users and the receipts of vendors
}

// AddApplication adds an application and returns its key. It returns a Conflict fault if the name exists.
func (o *Operator) AddApplication(ctx context.Context, n NewApplication) (string, error) {
	if slices.ContainsFunc(n.Variables, func(v string) bool { return strings.TrimSpace(v) == "" }) {
		return "", fault.Invalidf("variable", "application %s: the name of a variable is empty", n.Name)
	}
	if len(n.Variables) > 0 && n.TitleVariable != "" && !slices.Contains(n.Variables, n.TitleVariable) {
		return "", fault.Invalidf("title",
			"application %s: the title variable %q is not one of its variables (%s): add it to them",
			n.Name, n.TitleVariable, strings.Join(n.Variables, ", "))
	}
	_, key, err := o.applications.Create(ctx, n.Name)
	if err != nil {
		return "", err
	}
	if err := o.ConfigureApplication(ctx, n); err != nil {
		return "", err
	}
	if n.Key != "" {
		key = n.Key
	}
	return key, nil
}

// ConfigureApplication stores the key, the permissions and the variables of n in an existing application. An empty key
// changes nothing. The four permissions are stored together, unless all are false. The variables and the title variable
// are stored together, unless both are empty.
func (o *Operator) ConfigureApplication(ctx context.Context, n NewApplication) error {
	app, err := o.applications.ByName(ctx, n.Name)
	if err != nil {
		return err
	}
	if n.Key != "" {
		if err := o.applications.SetKey(ctx, app.ID, n.Key); err != nil {
			return err
		}
	}
	if n.ActsForUsers || n.OpensForOthers || n.UsesOnCall || n.Relay {
		app.AllowAuthenticatingUsers, app.AllowOtherAppIncidents, app.AllowOncall, app.Relay = n.ActsForUsers, n.OpensForOthers, n.UsesOnCall, n.Relay
		if err := o.applications.SetFlags(ctx, app); err != nil {
			return err
		}
	}
	if len(n.Variables) == 0 && n.TitleVariable == "" {
		return nil
	}
	settings, err := o.applications.Settings(ctx, app.ID)
	if err != nil {
		return err
	}
	settings.Variables, settings.TitleVariable = n.Variables, n.TitleVariable
	return o.applications.SetSettings(ctx, app.ID, settings)
}

// Permissions are permissions of an application to be changed; nil = unchanged.
type Permissions struct {
	UsesOnCall *bool // it may use the on-call API
	Relay      *bool // it may relay responses and receipts
}

// SetPermissions grants or withdraws permissions of an application.
func (o *Operator) SetPermissions(ctx context.Context, name string, p Permissions) error {
	app, err := o.application(ctx, name)
	if err != nil {
		return err
	}
	for _, permission := range []struct{ set, flag *bool }{{p.UsesOnCall, &app.AllowOncall}, {p.Relay, &app.Relay}} {
		if permission.set != nil {
			*permission.flag = *permission.set
		}
	}
	if p == (Permissions{}) {
		return fault.New(fault.Invalid, "application "+app.Name+
			": no permission to change: give a flag such as --relay or --no-uses-on-call")
	}
	return o.applications.SetFlags(ctx, app)
}

// TrustMarkup sets whether the contexts and texts of an application may contain markup; otherwise markup is escaped.
func (o *Operator) TrustMarkup(ctx context.Context, name string, trust bool) error {
	app, err := o.application(ctx, name)
	if err != nil {
		return err
	}
	return o.applications.SetMarkup(ctx, app.ID, trust)
}

// ReplaceKeys gives an application a new key and returns it. All its other keys, primary and secondary, become invalid.
func (o *Operator) ReplaceKeys(ctx context.Context, name string) (string, error) {
	app, err := o.application(ctx, name)
	if err != nil {
		return "", err
	}
	key := auth.NewApplicationKey()
	return key, o.applications.ReplaceKeys(ctx, app.ID, key)
}

// NewTeam is a team to be added.
type NewTeam struct {
	Name        string
	Description string
	Members     []string // user names, in the order in which they are on call
	Manager     string   // "" = none
	Director    string   // "" = none
}

// AddTeam adds a team. It returns a Conflict fault if the name exists, and a NotFound fault if a member does not.
func (o *Operator) AddTeam(ctx context.Context, n NewTeam) error {
	row := pgusers.NewTeam{Name: n.Name, Description: n.Description}
	for _, name := range n.Members {
		u, err := o.user(ctx, name)
		if err != nil {
			return err
		}
		row.Members = append(row.Members, u.ID)
	}
	for _, head := range []struct {
		name string
		id   *users.ID
	}{{n.Manager, &row.ManagerID}, {n.Director, &row.DirectorID}} {
		if head.name == "" {
			continue
		}
		u, err := o.user(ctx, head.name)
		if err != nil {
			return err
		}
		*head.id = u.ID
	}
	_, err := o.teams.Create(ctx, row)
	return err
}

// SaveTemplate stores a new version of a template with creator as its author.
func (o *Operator) SaveTemplate(ctx context.Context, creator string, d messages.NewTemplate) error {
	u, err := o.user(ctx, creator)
	if err != nil {
		return err
	}
	d.CreatorID = u.ID
	_, err = o.templates.Create(ctx, d)
	return err
}

// SavePlan stores a new version of a plan with creator as its author. It finds targets by role and name.
func (o *Operator) SavePlan(ctx context.Context, creator string, d escalation.PlanContent) error {
	u, err := o.user(ctx, creator)
	if err != nil {
		return err
	}
	d.CreatorID = u.ID
	for _, step := range d.Steps {
		for _, n := range step.Notifications {
			if n.Target == nil {
				continue
			}
			if n.Target.TargetID, err = o.targets.Resolve(ctx, n.Target.Role, n.Target.Name); err != nil {
				return err
			}
		}
	}
	_, err = o.plans.Create(ctx, d)
	return err
}

// HasPlan reports whether an active plan has the name.
func (o *Operator) HasPlan(ctx context.Context, name string) (bool, error) {
	_, err := o.plans.ByName(ctx, name)
	return exists(err)
}

// HasTemplate reports whether an active template has the name.
func (o *Operator) HasTemplate(ctx context.Context, name string) (bool, error) {
	_, err := o.templates.ByName(ctx, name)
	return exists(err)
}

func exists(err error) (bool, error) {
	if fault.Is(err, fault.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// WithHint adds a hint to the error about an object that is in use. Other errors stay.
func WithHint(err error, hint string) error {
	if fault.Is(err, fault.Conflict) {
		return fault.Newf(fault.Conflict, "%s (%s)", fault.Public(err), hint)
	}
	return err
}
