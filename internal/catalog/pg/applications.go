package pg

import (
	"context"
	"fmt"
	"strings"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

var _ auth.Applications = (*Applications)(nil)

// Applications stores applications. Their keys are sealed with the installation's key. It is safe for concurrent use.
type Applications struct {
	db     *postgres.DB
	keys   *auth.Keys
	byName *cache.Cache[string, auth.Application] // keeps nothing: concurrent callers share reads
}

// NewApplications returns the adapter over d; keys seal and unseal the applications' keys.
func NewApplications(d *postgres.DB, keys *auth.Keys) *Applications {
	return &Applications{db: d, keys: keys, byName: cache.New(cache.Config[string, auth.Application]{})}
}

// ApplicationSettings are the settings of an application apart from its keys and flags.
type ApplicationSettings struct {
	ContextTemplate   string
	SummaryTemplate   string
	MobileTemplate    string
	SampleContext     string
	TitleVariable     string
	Variables         []string // required ones first, then by name, when read
	RequiredVariables []string
	Modes             []users.Mode // that it may use
	DefaultModes      map[users.Priority]users.Mode
	Owners            []string // names; unknown ones are skipped when written
	FallbackRole      string   // "" = none
	FallbackTarget    string
}

// ByName finds an application by name, ignoring case, with its keys unsealed; a NotFound fault when there is none. It
// uses only reads that begin after the call, so that a new key or flag is used at once; in a storm many calls share a
// read. Callers must not change the application.
func (a *Applications) ByName(ctx context.Context, name string) (auth.Application, error) {
	return a.byName.Get(ctx, name, func(ctx context.Context) (auth.Application, error) { return a.read(ctx, name) })
}

func (a *Applications) read(ctx context.Context, name string) (auth.Application, error) {
	row, err := postgres.Query(ctx, a.db, (*postgresdb.Queries).ApplicationByName, postgres.Storable(name))
	if err != nil {
		return auth.Application{}, err
	}
	app := auth.Application{
		ID: row.ID, Name: row.Name, AuthOnly: row.AuthOnly, AllowOtherAppIncidents: row.AllowOtherAppIncidents,
		AllowAuthenticatingUsers: row.AllowAuthenticatingUsers, AllowOncall: row.AllowOncall, Relay: row.Relay, Paused: row.Paused,
		PendingCap:  row.PendingCap,
		DefaultPlan: row.DefaultPlan, LateWithin: postgres.FromSeconds(row.LateWithin), LateHold: postgres.FromSeconds(row.LateHold),
		Variables: row.Variables, Version: row.Version,
	}
	for _, sealed := range []struct {
		which string
		value []byte
	}{{"primary", row.KeySealed}, {"secondary", row.SecondaryKeySealed}} {
		if sealed.value == nil {
			continue
		}
		key, err := a.Unseal(row.ID, sealed.which, sealed.value)
		if err != nil {
			return auth.Application{}, err
		}
		app.Keys = append(app.Keys, key)
	}
	return app, nil
}

// Create adds an application that may use all modes except drop, and returns its id and its new key (64 hexadecimal
// digits). A name that exists, ignoring case, is a Conflict.
func (a *Applications) Create(ctx context.Context, name string) (id int64, key string, err error) {
	if name, err = postgres.CleanName(name); err != nil {
		return 0, "", err
	}
	if strings.Contains(name, ":") {
		return 0, "", fault.Invalidf("name", "the name of an application must not hold a colon")
	}
	key = auth.NewApplicationKey()
	err = a.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		id, err = q.CreateApplication(ctx, name)
		if postgres.SqlState(err) == "23505" {
			return fault.Wrap(fault.Conflict, err, "an application named "+name+" exists already")
		}
		if err != nil {
			return err
		}
		if err := q.AllowDefaultModes(ctx, id); err != nil {
			return err
		}
		if err := q.SetApplicationKeys(ctx, postgresdb.SetApplicationKeysParams{ID: id, KeySealed: a.Seal(id, "primary", key)}); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.ApplicationAdded, Object: "application " + name})
	})
	return id, key, err
}

// SetKey replaces the primary key and keeps the secondary one. The key must have at least 8 characters.
func (a *Applications) SetKey(ctx context.Context, id int64, key string) error {
	if len(key) < 8 {
		return fault.Invalidf("key", "the key of an application must have at least 8 characters")
	}
	return a.changeKeys(ctx, id, func(k *postgresdb.SetApplicationKeysParams) {
		k.KeySealed = a.Seal(id, "primary",
			key)
	})
}

// ReplaceKeys makes key the only key of an application.
func (a *Applications) ReplaceKeys(ctx context.Context, id int64, key string) error {
	return a.changeKeys(ctx, id, func(k *postgresdb.SetApplicationKeysParams) {
		k.KeySealed, k.SecondaryKeySealed = a.Seal(id, "primary", key), nil
	})
}

// Key returns the primary and the secondary key; "" = there is none. The audit log notes that somebody read them.
func (a *Applications) Key(ctx context.Context, id int64) (primary, secondary string, err error) {
	row, err := postgres.GetInTx(ctx, a.db, func(ctx context.Context, q *postgresdb.Queries) (postgresdb.LockApplicationRow, error) {
		row, err := q.LockApplication(ctx, id)
		if err != nil {
			return row, err
		}
		return row, auditlog.Write(ctx, q, audit.Entry{Action: audit.ApplicationKeyRead, Object: "application " +
			row.Name})
	})
	if err == nil && row.KeySealed != nil {
		primary, err = a.Unseal(id, "primary", row.KeySealed)
	}
	if err == nil && row.SecondaryKeySealed != nil {
		secondary, err = a.Unseal(id, "secondary", row.SecondaryKeySealed)
	}
	return primary, secondary, err
}

// changeKeys lets f change the sealed keys while the application is locked.
func (a *Applications) changeKeys(ctx context.Context, id int64, f func(*postgresdb.SetApplicationKeysParams)) error {
	return a.changing(ctx, id, "", audit.ApplicationKeysReplaced, func(ctx context.Context, q *postgresdb.Queries, row postgresdb.LockApplicationRow) error {
		k := postgresdb.SetApplicationKeysParams{ID: id, KeySealed: row.KeySealed,
			SecondaryKeySealed: row.SecondaryKeySealed}
		f(&k)
		return q.SetApplicationKeys(ctx, k)
	})
}

// setting changes columns of an application and adds an entry to the audit log.
func (a *Applications) setting(ctx context.Context, id int64, set func(context.Context, *postgresdb.Queries) (int64, error)) error {
	return a.changing(ctx, id, "", audit.ApplicationSettingsChanged, func(ctx context.Context, q *postgresdb.Queries, _ postgresdb.LockApplicationRow) error {
		return postgres.RequireRow(set(ctx, q))
	})
}

// SetFlags stores flags, pending cap and pause of app; its name and keys are left alone.
func (a *Applications) SetFlags(ctx context.Context, app auth.Application) error {
	return a.setting(ctx, app.ID, func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
		return q.SetApplicationFlags(ctx, postgresdb.SetApplicationFlagsParams{ID: app.ID, AuthOnly: app.AuthOnly,
			AllowOtherAppIncidents:   app.AllowOtherAppIncidents,
			AllowAuthenticatingUsers: app.AllowAuthenticatingUsers, AllowOncall: app.AllowOncall, Relay: app.Relay,
			PendingCap: app.PendingCap, Paused: app.Paused})
	})
}

// Settings returns the settings of an application.
func (a *Applications) Settings(ctx context.Context, id int64) (ApplicationSettings, error) {
	row, err := postgres.Query(ctx, a.db, (*postgresdb.Queries).ApplicationSettings, id)
	s := ApplicationSettings{
		ContextTemplate: row.ContextTemplate, SummaryTemplate: row.SummaryTemplate, MobileTemplate: row.MobileTemplate,
		SampleContext: row.SampleContext, TitleVariable: row.TitleVariable, Variables: row.Variables,
		RequiredVariables: row.RequiredVariables, Owners: row.Owners, FallbackRole: row.FallbackRole,
		FallbackTarget: row.FallbackTarget, DefaultModes: map[users.Priority]users.Mode{},
	}
	for _, m := range row.Modes {
		s.Modes = append(s.Modes, users.Mode(m))
	}
	for i, p := range row.DefaultPriorities {
		s.DefaultModes[users.Priority(p)] = users.Mode(row.DefaultModes[i])
	}
	return s, err
}

// SetSettings replaces the settings of an application in one transaction. Default modes that it may not use and
// owners that do not exist are skipped; a fallback that does not exist is Invalid.
func (a *Applications) SetSettings(ctx context.Context, id int64, s ApplicationSettings) error {
	var to *escalation.Target
	if s.FallbackRole != "" || s.FallbackTarget != "" {
		to = &escalation.Target{Role: s.FallbackRole, Name: s.FallbackTarget}
	}
	role, target, err := resolveFallback(ctx, a.db, to)
	if err != nil {
		return err
	}
	return a.changing(ctx, id, "", audit.ApplicationSettingsChanged, func(ctx context.Context, q *postgresdb.Queries, _ postgresdb.LockApplicationRow) error {
		err := postgres.RequireRow(q.UpdateApplicationSettings(ctx, postgresdb.UpdateApplicationSettingsParams{
			ID: id, ContextTemplate: s.ContextTemplate, SummaryTemplate: s.SummaryTemplate, MobileTemplate: s.MobileTemplate,
			SampleContext: s.SampleContext, TitleVariable: s.TitleVariable, FallbackRole: role, FallbackTargetID: target,
		}))
		if err != nil {
			return err
		}
		return replaceSettings(ctx, q, id, s)
	})
}

func replaceSettings(ctx context.Context, q *postgresdb.Queries, id int64, s ApplicationSettings) error {
	required := map[string]bool{}
	for _, name := range s.RequiredVariables {
		required[name] = true
	}
	vars := postgresdb.AddApplicationVariablesParams{ApplicationID: id}
	for _, name := range append(s.Variables[:len(s.Variables):len(s.Variables)], s.RequiredVariables...) {
		vars.Names, vars.Required = append(vars.Names, name), append(vars.Required, required[name])
	}
	modes := postgresdb.AddApplicationModesParams{ApplicationID: id}
	for _, m := range s.Modes {
		modes.Modes = append(modes.Modes, string(m))
	}
	defaults := postgresdb.AddApplicationDefaultModesParams{ApplicationID: id}
	for p, m := range s.DefaultModes {
		defaults.Priorities, defaults.Modes = append(defaults.Priorities, string(p)), append(defaults.Modes, string(m))
	}
	for _, step := range []func() error{
		func() error { return q.ClearApplicationVariables(ctx, id) },
		func() error { return q.AddApplicationVariables(ctx, vars) },
		func() error { return q.ClearApplicationDefaultModes(ctx, id) },
		func() error { return q.ClearApplicationModes(ctx, id) },
		func() error { return q.AddApplicationModes(ctx, modes) },
		func() error { return q.AddApplicationDefaultModes(ctx, defaults) },
		func() error { return q.ClearApplicationOwners(ctx, id) },
		func() error {
			return q.AddApplicationOwners(ctx, postgresdb.AddApplicationOwnersParams{ApplicationID: id,
				Names: s.Owners})
		},
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Names lists applications by name, without those that only authenticate unless asked for.
func (a *Applications) Names(ctx context.Context, withAuthOnly bool) (names []string, err error) {
	return postgres.Query(ctx, a.db, (*postgresdb.Queries).ApplicationNames, withAuthOnly)
}

// about binds a sealed key to its application and place.
func about(id int64, which string) string { return fmt.Sprintf("application %d %s", id, which) }

// Seal encrypts a key of an application for storage. which names the key.
func (a *Applications) Seal(id int64, which, key string) []byte {
	return a.keys.Seal([]byte(key), about(id, which))
}

// Unseal is the reverse of Seal. It fails for a value of another application or of another key.
func (a *Applications) Unseal(id int64, which string, sealed []byte) (string, error) {
	key, err := a.keys.Unseal(sealed, about(id, which))
	if err != nil {
		return "", fault.Wrap(fault.Internal, err, "the key of the application cannot be read")
	}
	return string(key), nil
}

// SetMarkup stores whether an application's contexts and texts contain markup on purpose.
func (a *Applications) SetMarkup(ctx context.Context, id int64, markup bool) error {
	return a.setting(ctx, id, func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
		return q.SetApplicationMarkup(ctx, postgresdb.SetApplicationMarkupParams{ID: id, Markup: markup})
	})
}
