package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/internal/program"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/online"
	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/users"
)

// operator opens the configured database for one command. A Run method with an *operator.Operator gets it; run closes
// it.
func (e *env) operator(ctx context.Context) (*operator.Operator, error) {
	c, err := config.Load(e.config, e.environ)
	if err != nil {
		return nil, err
	}
	common, err := c.Database("")
	if err != nil {
		return nil, err
	}
	db, in, err := database.Connect(ctx, common)
	if err != nil {
		return nil, err
	}
	e.close = db.Close
	o := operator.New(db, in.Keys).WithRegion(users.Region(common.PhoneRegion))
	return o, nil
}

// local returns what answers requests to /v1 in this process, on the configured database; nil if none is configured.
// run closes the database.
func (e *env) local(ctx context.Context) (http.RoundTripper, error) {
	if e.api != nil {
		return e.api, nil
	}
	c, err := config.Load(e.config, e.environ)
	if err != nil || c.DatabaseURL() == "" {
		return nil, err
	}
	e.api, e.close, err = program.Local(ctx, c)
	return e.api, err
}

// common returns the configuration for work on a database; url "" = the configured one.
func (e *env) common(url string) (config.Common, error) {
	c, err := config.Load(e.config, e.environ)
	if err != nil {
		return config.Common{}, err
	}
	return c.Database(config.Secret(url))
}

type migrateCommand struct{}

// Run applies the migrations.
func (migrateCommand) Run(ctx context.Context, e *env) error {
	common, err := e.common("")
	if err != nil {
		return err
	}
	log, err := program.NewLogger(config.Log{Level: "info", Format: "console"})
	if err != nil {
		return err
	}
	if err := database.Migrate(ctx, common, log); err != nil {
		return err
	}
	fmt.Fprintln(e.stderr, "the schema is up to date")
	return nil
}

type userCommand struct {
	Add  userAddCommand  `cmd:"" help:"Add a user. The password is read from the terminal or from standard input. Needs the database."`
	List userListCommand `cmd:"" help:"List users. Needs the database."`

	Passwd  userPasswdCommand  `cmd:"" help:"Set a user's password and end their sessions. It is read from the terminal or from standard input. Needs the database."`
	Disable userDisableCommand `cmd:"" help:"Switch a user off: no log-in, no pages, sessions end. Needs the database."`
	Enable  userEnableCommand  `cmd:"" help:"Switch a user on again. Needs the database."`
	Rule    commands.UserRule  `cmd:"" help:"List and set how pages of each priority reach a user."`
	Quiet   commands.UserQuiet `cmd:"" help:"Print and set the quiet-time limits of a user."`
	commands.UserLinks
	Delete commands.UserDelete `cmd:"" help:"Delete a user who is not in use: no log-in, no pages, in no rotation. The history is kept."`
}

type userAddCommand struct {
	Name       string `arg:"" help:"Log-in name."`
	Admin      bool   `help:"The user may change everything."`
	Email      string `help:"E-mail address." placeholder:"ADDRESS"`
	Phone      string `help:"Phone number for texts and calls, such as +15551234567." placeholder:"NUMBER"`
	Slack      string `help:"Slack name, or e-mail address in Slack." placeholder:"NAME"`
	FullName   string `help:"Full name."`
	TimeZone   string `help:"Time zone, such as Europe/Zurich." default:"UTC"`
	NoPassword bool   `help:"The user cannot log in."`
}

// Run adds a user with contacts.
func (c userAddCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	u := operator.NewUser{Name: c.Name, FullName: c.FullName, TimeZone: c.TimeZone, Admin: c.Admin,
		Contacts: map[users.Mode]string{}}
	for mode, destination := range map[users.Mode]string{users.Email: c.Email, users.SMS: c.Phone, users.Call: c.Phone, users.Slack: c.Slack} {
		if destination != "" {
			u.Contacts[mode] = destination
		}
	}
	if !c.NoPassword {
		var err error
		if u.Password, err = e.password(c.Name, ", or --no-password for a user who never logs in"); err != nil {
			return err
		}
	}
	if err := o.AddUser(ctx, u); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "user %s added\n", c.Name)
	if len(u.Contacts) == 0 {
		fmt.Fprintf(e.stderr, "warning: %s has no contact and cannot be paged: add one with iris contact set\n", c.Name)
	}
	return nil
}

// password reads a password twice from a terminal, or else the first line of standard input. instead is added to the
// error about a missing password: what to do without one.
func (e *env) password(user, instead string) (string, error) {
	if f, ok := e.stdin.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		var typed [2]string
		for i, prompt := range []string{"Password for " + user + ": ", "Again: "} {
			fmt.Fprint(e.stderr, prompt)
			raw, err := term.ReadPassword(int(f.Fd()))
			fmt.Fprintln(e.stderr)
			if err != nil {
				return "", fmt.Errorf("read the password: %w", err)
			}
			typed[i] = string(raw)
		}
		if typed[0] != typed[1] {
			return "", errors.New("the two passwords differ: try again")
		}
		return typed[0], nil
	}
	line, err := bufio.NewReader(io.LimitReader(e.stdin, 4096)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read the password: %w", err)
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return "", errors.New("no password on standard input: give one" + instead)
	}
	return line, nil
}

type userListCommand struct{}

// Run lists users with their contacts.
func (userListCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	list, err := o.Users(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFULL NAME\tADMIN\tACTIVE\tCONTACTS")
	for _, u := range list {
		var contacts []string
		for _, mode := range users.Modes {
			if d := u.Contacts[mode]; d != "" {
				contacts = append(contacts, string(mode)+"="+d)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", u.Name, u.FullName, yes(u.Admin), yes(u.Active),
			strings.Join(contacts, " "))
	}
	return w.Flush()
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

type appCommand struct {
	Add   appAddCommand   `cmd:"" help:"Add an application and print its key, once. Needs the database."`
	Set   appSetCommand   `cmd:"" help:"Change what an application may do. Needs the database."`
	Rekey appRekeyCommand `cmd:"" help:"Replace the keys of an application by a new one and print it once. The old keys become invalid at once. Needs the database."`
}

type appAddCommand struct {
	Name           string   `arg:"" help:"Name, without colons."`
	Variable       []string `help:"A variable that its incidents may have. May be repeated." placeholder:"NAME"`
	Title          string   `help:"The variable that is the title of an incident." placeholder:"NAME"`
	ActsForUsers   bool     `help:"It may act in the name of users (X-IRIS-USERNAME)."`
	OpensForOthers bool     `help:"It may open incidents in the name of other applications."`
	UsesOnCall     bool     `help:"It may use the on-call API (/api/v0) and change everything there."`
	Relay          bool     `help:"It may relay the responses of users and the receipts of vendors (/v0/response/*)."`
}

// Run adds an application. Standard output has only the key, for scripts.
func (c appAddCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	key, err := o.AddApplication(ctx, operator.NewApplication{
		Name: c.Name, Variables: c.Variable, TitleVariable: c.Title, ActsForUsers: c.ActsForUsers, OpensForOthers: c.OpensForOthers,
		UsesOnCall: c.UsesOnCall, Relay: c.Relay,
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "application %s added; its key, which is shown only once:\n", c.Name)
	_, err = fmt.Fprintln(e.stdout, key)
	return err
}

type appSetCommand struct {
	Name       string  `arg:"" help:"Name."`
	UsesOnCall *bool   `negatable:"" help:"It may use the on-call API (/api/v0) and change everything there."`
	Relay      *bool   `negatable:"" help:"It may relay the responses of users and the receipts of vendors (/v0/response/*)."`
	Markup     *bool   `negatable:"" help:"Its contexts and texts contain markup: nothing in them is escaped."`
	Fallback   *string `help:"Target that is paged when no recipient of a step can be reached and the plan has no fallback; empty = none." placeholder:"ROLE:NAME"`
	intakeFlags
}

// Run changes an application.
func (c appSetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if c.Markup == nil && c.UsesOnCall == nil && c.Relay == nil && c.Fallback == nil && !c.given() {
		return remote.Usagef("nothing to change: give at least one flag")
	}
	if c.Fallback != nil {
		if err := o.SetApplicationFallback(ctx, c.Name, *c.Fallback); err != nil {
			return err
		}
	}
	if c.Markup != nil {
		if err := o.TrustMarkup(ctx, c.Name, *c.Markup); err != nil {
			return err
		}
	}
	if c.UsesOnCall != nil || c.Relay != nil {
		if err := o.SetPermissions(ctx, c.Name, operator.Permissions{UsesOnCall: c.UsesOnCall, Relay: c.Relay}); err != nil {
			return err
		}
	}
	if err := c.set(ctx, o, c.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "application %s changed\n", c.Name)
	return nil
}

type appRekeyCommand struct {
	Name string `arg:"" help:"Name."`
}

// Run replaces the keys of an application. Standard output has only the new key.
func (c appRekeyCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	key, err := o.ReplaceKeys(ctx, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "the keys of application %s are replaced; the new one, which is shown only once:\n", c.Name)
	_, err = fmt.Fprintln(e.stdout, key)
	return err
}

type teamCommand struct {
	Add    teamAddCommand      `cmd:"" help:"Add a team. Needs the database."`
	Delete commands.TeamDelete `cmd:"" help:"Delete a team that is not in use. Its history is kept."`
}

type teamAddCommand struct {
	Name    string   `arg:"" help:"Name of the team."`
	Also    []string `arg:"" optional:"" name:"user" help:"Further members."`
	Member  []string `help:"A member, in the order in which they are on call. May be repeated." placeholder:"USER"`
	Manager string   `help:"The user with the role manager." placeholder:"USER"`

	Director string `help:"The user with the role director." placeholder:"USER"`
}

// Run adds a team.
func (c teamAddCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.AddTeam(ctx, operator.NewTeam{Name: c.Name, Members: append(c.Member, c.Also...), Manager: c.Manager, Director: c.Director}); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "team %s added\n", c.Name)
	if len(c.Member)+len(c.Also) == 0 {
		fmt.Fprintln(e.stderr, "warning: it has no members: a page to it reaches nobody")
	}
	return nil
}

type contactCommand struct {
	Set    contactSetCommand    `cmd:"" help:"Set the contact of a user in a mode; an empty destination removes it. Needs the database."`
	Verify contactVerifyCommand `cmd:"" help:"Mark a contact of a user as verified: replies from it count as the user's. Needs the database."`
}

type contactSetCommand struct {
	User        string `arg:"" help:"Log-in name."`
	Mode        string `arg:"" enum:"email,sms,call,slack,push,webhook" help:"One of email, sms, call, slack, push, webhook."`
	Destination string `arg:"" help:"Address, number, name or URL."`
}

// Run sets or removes a contact.
func (c contactSetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.SetContact(ctx, c.User, users.Mode(c.Mode), c.Destination); err != nil {
		return err
	}
	if c.Destination == "" {
		fmt.Fprintf(e.stderr, "%s has no contact for %s any more\n", c.User, c.Mode)
	} else {
		fmt.Fprintf(e.stderr, "%s: contact for %s is now %s\n", c.User, c.Mode, c.Destination)
	}
	return nil
}

type contactVerifyCommand struct {
	User string `arg:"" help:"Log-in name."`
	Mode string `arg:"" enum:"email,sms,call,slack" help:"One of email, sms, call, slack."`
}

// Run marks a contact as verified.
func (c contactVerifyCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.VerifyContact(ctx, c.User, users.Mode(c.Mode)); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "the %s contact of %s is verified\n", c.Mode, c.User)
	return nil
}

type checkConfigCommand struct {
	Only   string `help:"Check for one server only: api or processor." enum:"both,api,processor" default:"both"`
	Online bool   `help:"Also connect to what is configured: database, vendors, directory, providers, processors. No message is sent."`
}

// Run prints each problem and each warning on a line, and with Online each target. The exit code is 1 if there is a
// problem.
func (c checkConfigCommand) Run(ctx context.Context, e *env) error {
	var targets online.Config
	cfg, err := config.Load(e.config, e.environ)
	var problems []string
	note := func(err error) {
		if err == nil {
			return
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			if !slices.Contains(problems, line) {
				problems = append(problems, line)
			}
		}
	}
	note(err)
	if cfg != nil {
		if c.Only != "processor" {
			api, err := cfg.API()
			if note(err); err == nil {
				targets.API, targets.Database = &api, api.Common
				note(operator.DirectoryProblem(api.LDAP, api.Sync, api.Slack))
			}
		}
		if c.Only != "api" {
			processor, err := cfg.Processor()
			if note(err); err == nil {
				targets.Processor, targets.Database = &processor, processor.Common
				note(operator.DirectoryProblem(processor.LDAP, processor.Sync, processor.Slack))
			}
		}
		if url := cfg.DatabaseURL().Reveal(); url != "" {
			note(database.URLProblem(url))
		}
		for _, w := range cfg.Warnings() {
			fmt.Fprintln(e.stderr, "warning:", w)
		}
	}
	for _, p := range problems {
		fmt.Fprintln(e.stderr, "error:", p)
	}
	if len(problems) > 0 {
		return remote.ExitCode(1)
	}
	fmt.Fprintln(e.stdout, "the configuration is valid")
	if c.Online {
		return tryTargets(ctx, e, targets)
	}
	return nil
}

// tryTargets prints a line for each target. The exit code is 1 if one fails.
func tryTargets(ctx context.Context, e *env, c online.Config) error {
	var failed error
	for _, t := range online.Check(ctx, c, online.Within) {
		switch {
		case t.Problem != "":
			fmt.Fprintf(e.stdout, "failed: %s: %s\n", t.Name, t.Problem)
			failed = remote.ExitCode(1)
		case t.Note != "":
			fmt.Fprintf(e.stdout, "ok: %s: %s\n", t.Name, t.Note)
		default:
			fmt.Fprintf(e.stdout, "ok: %s\n", t.Name)
		}
	}
	return failed
}
