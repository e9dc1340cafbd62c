// Package operator is what operators do by hand: the verbs behind the command line, and those of /v1 that need the same
// rules. It works directly on the database. cmd/iris and the demo data call it; iris-api shares its removals and its
// simulator. It knows no HTTP and no flags.
package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/database"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/access"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// Operator does by hand what has no page yet, directly on the database: the first users, applications and teams. The
// `iris` command and the demo data use it. Every change is in the audit log.
type Operator struct {
	db           *postgres.DB
	users        *pgpeople.Users
	teams        *pgpeople.Teams
	targets      *catalog.Targets
	applications *catalog.Applications
	plans        *catalog.Plans
	templates    *catalog.Templates
	contacts     *pgpeople.Contacts
	audit        *access.Audit
	passwords    *auth.Passwords
	// CatchAll is the setting intake.catch_all_plan; the plan of that name counts as in use.
	CatchAll string
}

// operatorName stands in the audit log.
const operatorName = "iris command"

// Open connects; it fails when the database is away or its schema is not this release's.
func Open(ctx context.Context, c config.Common) (*Operator, error) {
	db, err := database.Open(ctx, c, "iris", 4, prometheus.NewRegistry(), zap.NewNop())
	if err != nil {
		return nil, err
	}
	in, err := database.Prepare(ctx, db, c, zap.NewNop())
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Operator{
		db: db, users: pgpeople.NewUsers(db), teams: pgpeople.NewTeams(db), targets: catalog.NewTargets(db),
		applications: catalog.NewApplications(db, in.Keys), plans: catalog.NewPlans(db), templates: catalog.NewTemplates(db),
		contacts: pgpeople.NewContacts(db, in.Keys, nil), audit: access.NewAudit(db), passwords: auth.NewPasswords(),
	}, nil
}

// Close closes the connections.
func (o *Operator) Close() { o.db.Close() }

// NewUser is a person to be added.
type NewUser struct {
	Name     string
	FullName string
	TimeZone string // "" = UTC
	Admin    bool
	Password string // "" = cannot log in
	// AnyPassword permits a password that is too easy to guess. Demo data only.
	AnyPassword bool
	Contacts    map[users.Mode]string
	Modes       map[users.Priority]users.Mode // in which the person wants to hear of what; absent = the default
}

// AddUser adds a person. A name that exists is a Conflict.
func (o *Operator) AddUser(ctx context.Context, n NewUser) error {
	if strings.ContainsFunc(n.Name, func(r rune) bool { return unicode.IsSpace(r) || r == '/' }) {
		return fault.Invalidf("name", "the name %.100q must not hold spaces or slashes; --full-name takes the name as people write it", n.Name)
	}
	for _, mode := range users.Modes {
		if destination, given := n.Contacts[mode]; given {
			if err := users.CheckContact(mode, destination); err != nil {
				return err
			}
		}
	}
	row := pgpeople.NewUser{Name: n.Name, FullName: n.FullName, TimeZone: n.TimeZone, Admin: n.Admin, Contacts: n.Contacts}
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
			return fmt.Errorf("mode of priority %s: %w", priority, err)
		}
	}
	return o.note(ctx, "user added", "user "+n.Name)
}

// Users lists everybody by name.
func (o *Operator) Users(ctx context.Context) ([]pgpeople.ListedUser, error) {
	return o.users.List(ctx)
}

// SetContact stores where a person is reached in a mode; "" removes it.
func (o *Operator) SetContact(ctx context.Context, name string, mode users.Mode, destination string) error {
	if destination != "" {
		if err := users.CheckContact(mode, destination); err != nil {
			return err
		}
	}
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	if err := o.users.SetContact(ctx, u.ID, mode, destination); err != nil {
		return err
	}
	return o.note(ctx, "contact set", "user "+u.Name+", mode "+string(mode))
}

// VerifyContact marks a person's contact as verified.
func (o *Operator) VerifyContact(ctx context.Context, name string, mode users.Mode) error {
	u, err := o.user(ctx, name)
	if err != nil {
		return err
	}
	if err := o.contacts.Confirm(ctx, u.ID, mode); err != nil {
		return err
	}
	return o.note(ctx, "contact verified", "user "+u.Name+", mode "+string(mode))
}

func (o *Operator) user(ctx context.Context, name string) (users.User, error) {
	u, err := o.users.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return u, fault.Wrap(fault.NotFound, err, "there is no user "+name)
	}
	return u, err
}

// NewApplication is a program to be added.
type NewApplication struct {
	Name string
	Key  string // "" = a random one
	// Variables it may put into incidents.
	Variables     []string
	TitleVariable string
	// ActsForUsers lets it say in whose name it calls, OpensForOthers open incidents of other applications.
	ActsForUsers   bool
	OpensForOthers bool
	// UsesOnCall lets it use the on-call API, as anybody.
	UsesOnCall bool
	// Relay lets it pass on the answers of people and the receipts of vendors.
	Relay bool
}

// AddApplication adds an application and returns its key. A name that exists is a Conflict.
func (o *Operator) AddApplication(ctx context.Context, n NewApplication) (string, error) {
	if slices.ContainsFunc(n.Variables, func(v string) bool { return strings.TrimSpace(v) == "" }) {
		return "", fault.Invalidf("variable", "the name of a variable is empty")
	}
	if len(n.Variables) > 0 && n.TitleVariable != "" && !slices.Contains(n.Variables, n.TitleVariable) {
		return "", fault.Invalidf("title", "the title %q is none of the application's variables (%s): add it to them",
			n.TitleVariable, strings.Join(n.Variables, ", "))
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
	return key, o.note(ctx, "application added", "application "+n.Name)
}

// ConfigureApplication gives an existing application the key, powers and variables that are set in n.
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

// Powers are powers of an application to be changed; nil = unchanged.
type Powers struct {
	UsesOnCall *bool // it may use the on-call API
	Relay      *bool // it may pass on answers and receipts
}

// SetPowers gives powers to an application, or takes them away.
func (o *Operator) SetPowers(ctx context.Context, name string, p Powers) error {
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	if err != nil {
		return err
	}
	var notes []string
	for _, power := range []struct {
		set  *bool
		flag *bool
		what string
	}{{p.UsesOnCall, &app.AllowOncall, "use the on-call API"}, {p.Relay, &app.Relay, "pass on answers and receipts"}} {
		if power.set == nil {
			continue
		}
		*power.flag = *power.set
		may := "application may "
		if !*power.set {
			may = "application may not "
		}
		notes = append(notes, may+power.what)
	}
	if len(notes) == 0 {
		return fault.New(fault.Invalid, "name a power to change, such as --relay or --no-uses-on-call")
	}
	if err := o.applications.SetFlags(ctx, app); err != nil {
		return err
	}
	for _, note := range notes {
		if err := o.note(ctx, note, "application "+app.Name); err != nil {
			return err
		}
	}
	return nil
}

// TrustMarkup lets the contexts and texts of an application contain markup, or has it escaped.
func (o *Operator) TrustMarkup(ctx context.Context, name string, trust bool) error {
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	if err != nil {
		return err
	}
	if err := o.applications.SetMarkup(ctx, app.ID, trust); err != nil {
		return err
	}
	what := "markup of the application is not escaped"
	if !trust {
		what = "markup of the application is escaped"
	}
	return o.note(ctx, what, "application "+app.Name)
}

// ReplaceKeys gives an application a new key and ends all others, the secondary one included; it returns the new key.
func (o *Operator) ReplaceKeys(ctx context.Context, name string) (string, error) {
	app, err := o.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return "", fault.Wrap(fault.NotFound, err, "there is no application "+name)
	}
	if err != nil {
		return "", err
	}
	key := auth.NewApplicationKey()
	if err := o.applications.ReplaceKeys(ctx, app.ID, key); err != nil {
		return "", err
	}
	return key, o.note(ctx, "keys replaced", "application "+app.Name)
}

// NewTeam is a team to be added.
type NewTeam struct {
	Name        string
	Description string
	Members     []string // names, in the order in which they are on call
	Manager     string   // "" = none
	Director    string   // "" = none
}

// AddTeam adds a team. A name that exists is a Conflict, a member that does not is NotFound.
func (o *Operator) AddTeam(ctx context.Context, n NewTeam) error {
	row := pgpeople.NewTeam{Name: n.Name, Description: n.Description}
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
	if _, err := o.teams.Create(ctx, row); err != nil {
		return err
	}
	return o.note(ctx, "team added", "team "+n.Name)
}

// SaveTemplate saves a new version of a template in somebody's name.
func (o *Operator) SaveTemplate(ctx context.Context, creator string, d messages.TemplateDraft) error {
	u, err := o.user(ctx, creator)
	if err != nil {
		return err
	}
	d.CreatorID = u.ID
	if _, err := o.templates.Create(ctx, d); err != nil {
		return err
	}
	return o.note(ctx, "template saved", "template "+d.Name)
}

// SavePlan saves a new version of a plan in somebody's name; targets are found by role and name.
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
	if _, err := o.plans.Create(ctx, d); err != nil {
		return err
	}
	return o.note(ctx, "plan saved", "plan "+d.Name)
}

// HasPlan and HasTemplate report whether there is an active version of that name.
func (o *Operator) HasPlan(ctx context.Context, name string) (bool, error) {
	_, err := o.plans.ByName(ctx, name)
	return exists(err)
}

// HasTemplate is HasPlan for templates.
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

func (o *Operator) note(ctx context.Context, action, object string) error {
	err := o.audit.Record(ctx, access.AuditRecord{Actor: operatorName, Action: action, Object: object})
	if err != nil {
		return errors.Join(errors.New("it is done, but the audit log could not be written"), err)
	}
	return nil
}
