// This file stores integrations, their tokens as hashes, their encrypted secrets, and what they received. The edge that
// takes deliveries, /v1 and the command line use it.

package pg

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Integrations stores integrations. Every change has an entry in the audit log, in the same transaction. It is safe for
// concurrent use.
type Integrations struct {
	db      *postgres.DB
	keys    *auth.Keys                          // encrypt secrets
	byToken *cache.Cache[string, authenticated] // by the hash of the token; keeps nothing: concurrent callers share reads
}

// authenticated is the integration of a token, and the number of the token.
type authenticated struct {
	integration intake.Integration
	token       int64
}

// NewIntegrations returns the adapter over d.
func NewIntegrations(d *postgres.DB, keys *auth.Keys) *Integrations {
	return &Integrations{d, keys, cache.New(cache.Config[string, authenticated]{})}
}

// ByToken returns the integration with a token and the number of the token. An unknown token is a NotFound fault. The
// integration has no tokens and no activity. ByToken uses only reads that begin after the call; in a storm many calls
// share a read. Callers must not change the integration.
func (s *Integrations) ByToken(ctx context.Context, token string) (intake.Integration, int64, error) {
	hash := intake.Hash(token)
	a, err := s.byToken.Get(ctx, string(hash),
		func(ctx context.Context) (authenticated, error) { return s.authenticate(ctx, hash) })
	return a.integration, a.token, err
}

func (s *Integrations) authenticate(ctx context.Context, hash []byte) (authenticated, error) {
	r, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).IntegrationByToken, hash)
	if err != nil {
		return authenticated{}, postgres.Named(err, "no integration has this token")
	}
	i := intake.Integration{ID: intake.ID(r.ID), ApplicationID: r.ApplicationID, Application: r.Application,
		Content: integrationsContent(r.Name, r.Type, r.DefaultPlan, r.DefaultSeverity, r.Settings, r.RatePerMinute,
			r.Enabled)}
	for _, sealed := range r.Secrets {
		secret, err := s.keys.Unseal(sealed, aboutSecret(i.ID))
		if err != nil {
			return authenticated{integration: i}, fault.Wrap(fault.Internal, err, "a secret of the integration "+
				i.Name+" cannot be read: set it again")
		}
		i.Secrets = append(i.Secrets, intake.Secret(secret))
	}
	i.Rules, err = rules(r.Rules)
	return authenticated{i, r.TokenID}, err
}

// aboutSecret binds an encrypted secret to its integration.
func aboutSecret(id intake.ID) string { return fmt.Sprintf("integration %d secret", id) }

// SetSecrets replaces the secrets of an integration.
func (s *Integrations) SetSecrets(ctx context.Context, i intake.Integration, secrets []string, actor string) error {
	return s.edit(ctx, i, func(ctx context.Context, q *postgresdb.Queries) error {
		had, err := q.DeleteIntegrationSecrets(ctx, int64(i.ID))
		if err != nil {
			return err
		}
		p := postgresdb.AddIntegrationSecretsParams{IntegrationID: int64(i.ID)}
		for _, secret := range secrets {
			p.Sealed = append(p.Sealed, s.keys.Seal([]byte(secret), aboutSecret(i.ID)))
		}
		if err := q.AddIntegrationSecrets(ctx, p); err != nil {
			return err
		}
		return integrationsNote(ctx, q, actor, audit.IntegrationSecretsSet, i.Name,
			fmt.Sprintf("secrets: %d -> %d", had, len(secrets)), nil)
	})
}

// List returns the selected integrations by name, upper case as lower case.
func (s *Integrations) List(ctx context.Context, q intake.Query) ([]intake.Integration, error) {
	return s.read(ctx, postgresdb.IntegrationsParams{After: postgres.Storable(q.After),
		Part: postgres.Storable(q.Part), Team: postgres.Storable(q.Team),
		Application: postgres.Storable(q.Application), Refused: q.Refused, Most: q.Most})
}

// ByName returns an integration, ignoring case. An unknown name is a NotFound fault.
func (s *Integrations) ByName(ctx context.Context, name string) (intake.Integration, error) {
	missing := fault.Newf(fault.NotFound, "there is no integration %.100q", name)
	if name == "" || postgres.Storable(name) != name {
		return intake.Integration{}, missing
	}
	found, err := s.read(ctx, postgresdb.IntegrationsParams{Name: name, Most: 1})
	if err != nil || len(found) == 0 {
		if err == nil {
			err = missing
		}
		return intake.Integration{}, err
	}
	return found[0], nil
}

func (s *Integrations) read(ctx context.Context, p postgresdb.IntegrationsParams) ([]intake.Integration, error) {
	rows, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).Integrations, p)
	if err != nil {
		return nil, err
	}
	ids := postgres.Convert(rows, func(r postgresdb.IntegrationsRow) int64 { return r.ID })
	tokens, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).IntegrationTokens, ids)
	if err != nil {
		return nil, err
	}
	of := map[int64][]intake.Token{}
	for _, t := range tokens {
		of[t.IntegrationID] = append(of[t.IntegrationID], intake.Token{ID: t.ID, CreatedAt: t.CreatedAt,
			LastUsedAt: postgres.Deref(t.LastUsedAt)})
	}
	out := make([]intake.Integration, len(rows))
	for k, r := range rows {
		out[k] = intake.Integration{ID: intake.ID(r.ID), ApplicationID: r.ApplicationID, Application: r.Application,
			Team:      r.Team,
			CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt, Tokens: of[r.ID],
			Content: integrationsContent(r.Name, r.Type, r.DefaultPlan, r.DefaultSeverity, r.Settings, r.RatePerMinute,
				r.Enabled),
			Activity: intake.Activity{Accepted: r.Accepted, Refused: r.Refused, LastRefusal: r.LastRefusal,
				LastAcceptedAt: postgres.Deref(r.LastAcceptedAt), LastRefusedAt: postgres.Deref(r.LastRefusedAt),
				FailedExpressions: r.FailedExpressions, LastFailureAt: postgres.Deref(r.LastFailureAt), LastFailure: r.LastFailure}, SecretsSetAt: r.SecretsSetAt}
		if out[k].Rules, err = rules(r.Rules); err != nil {
			return nil, err
		}
		out[k].Ends = ends(r.ResolveAfterSeconds, r.CloseAfterSeconds)
	}
	return out, nil
}

func integrationsContent(name, kind, plan, severity string, settings json.RawMessage, perMinute int, enabled bool) intake.Content {
	return intake.Content{Name: name, Type: kind, DefaultPlan: plan, DefaultSeverity: intake.Severity(severity),
		Settings:      settings,
		RatePerMinute: perMinute, Enabled: enabled}
}

// ends returns stored times; stored does the reverse.
func ends(resolve, closing *int) (e intake.Ends) {
	e.ResolveAfter = postgres.FromSeconds(postgres.Deref(resolve))
	if closing != nil {
		d := postgres.FromSeconds(*closing)
		e.CloseAfter = &d
	}
	return e
}

func stored(e intake.Ends) (resolve, closing *int) {
	if e.ResolveAfter > 0 {
		s := postgres.ToSeconds(e.ResolveAfter)
		resolve = &s
	}
	if e.CloseAfter != nil {
		s := postgres.ToSeconds(*e.CloseAfter)
		closing = &s
	}
	return resolve, closing
}

func rules(raw json.RawMessage) (out []intake.Rule, err error) {
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("read the rules of an integration: %w", err)
	}
	return out, nil
}

// Create stores an integration with a token. A name that is in use is a Conflict fault.
func (s *Integrations) Create(ctx context.Context, application auth.Application, c intake.Content, token, actor string) (intake.ID, error) {
	raw, err := json.Marshal(append([]intake.Rule{},
		c.Rules...)) // never null, as slices.Concat of empty lists would be
	if err != nil {
		return 0, err
	}
	resolve, closing := stored(c.Ends)
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (intake.ID, error) {
		id, err := q.AddIntegration(ctx, postgresdb.AddIntegrationParams{ApplicationID: application.ID,
			Name: postgres.Storable(c.Name), Type: c.Type,
			DefaultPlan: postgres.Storable(c.DefaultPlan), DefaultSeverity: string(c.DefaultSeverity), Rules: raw, Settings: c.Settings,
			RatePerMinute: c.RatePerMinute, Enabled: c.Enabled, ResolveAfterSeconds: resolve, CloseAfterSeconds: closing,
			CreatedBy: postgres.Storable(actor)})
		if err != nil {
			return 0, taken(err, c.Name)
		}
		if err := q.AddIntegrationToken(ctx, postgresdb.AddIntegrationTokenParams{IntegrationID: id, Hash: intake.Hash(token)}); err != nil {
			return 0, takenToken(err)
		}
		return intake.ID(id), integrationsNote(ctx, q, actor, audit.IntegrationAdded, c.Name, "application "+
			application.Name, audit.Diff(nil, c))
	})
}

// taken turns the violation of the unique name into a Conflict fault.
func taken(err error, name string) error {
	if postgres.SqlState(err) == integrationsUniqueViolation {
		return fault.Wrap(fault.Conflict, err, "there is an integration named "+name)
	}
	return err
}

func takenToken(err error) error {
	if postgres.SqlState(err) == integrationsUniqueViolation {
		return fault.Wrap(fault.Conflict, err, "another integration has this token")
	}
	return err
}

const integrationsUniqueViolation = "23505"

// Replace stores the content of an integration. The type does not change. before is the integration as the editor read
// it.
func (s *Integrations) Replace(ctx context.Context, before intake.Integration, c intake.Content, actor string) error {
	raw, err := json.Marshal(append([]intake.Rule{},
		c.Rules...)) // never null, as slices.Concat of empty lists would be
	if err != nil {
		return err
	}
	resolve, closing := stored(c.Ends)
	return s.edit(ctx, before, func(ctx context.Context, q *postgresdb.Queries) error {
		_, err := q.ReplaceIntegration(ctx, postgresdb.ReplaceIntegrationParams{ID: int64(before.ID),
			Name:        postgres.Storable(c.Name),
			DefaultPlan: postgres.Storable(c.DefaultPlan), DefaultSeverity: string(c.DefaultSeverity), Rules: raw, Settings: c.Settings,
			RatePerMinute: c.RatePerMinute, Enabled: c.Enabled, ResolveAfterSeconds: resolve, CloseAfterSeconds: closing})
		if err != nil {
			return taken(err, c.Name)
		}
		if c.Enabled && !before.Enabled { // while it was switched off, no pings could arrive
			if err := q.RestartHeartbeats(ctx, int64(before.ID)); err != nil {
				return err
			}
		}
		return integrationsNote(ctx, q, actor, audit.IntegrationChanged, c.Name, "", audit.Diff(before.Content, c))
	})
}

// AddToken stores a further token of an integration. The older of two tokens is deleted, so that an integration has at
// most two.
func (s *Integrations) AddToken(ctx context.Context, i intake.Integration, token, actor string) error {
	return s.edit(ctx, i, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.DeleteOldIntegrationTokens(ctx, int64(i.ID)); err != nil {
			return err
		}
		if err := q.AddIntegrationToken(ctx, postgresdb.AddIntegrationTokenParams{IntegrationID: int64(i.ID), Hash: intake.Hash(token)}); err != nil {
			return takenToken(err)
		}
		return integrationsNote(ctx, q, actor, audit.IntegrationTokenAdded, i.Name, "", nil)
	})
}

// DropOldTokens deletes the tokens of an integration except the newest.
func (s *Integrations) DropOldTokens(ctx context.Context, i intake.Integration, actor string) error {
	return s.edit(ctx, i, func(ctx context.Context, q *postgresdb.Queries) error {
		n, err := q.DeleteOldIntegrationTokens(ctx, int64(i.ID))
		if err != nil || n == 0 {
			return err
		}
		return integrationsNote(ctx, q, actor, audit.OldIntegrationTokenRemoved, i.Name, "", nil)
	})
}

// Delete deletes an integration. Its incidents stay.
func (s *Integrations) Delete(ctx context.Context, i intake.Integration, actor string) error {
	return s.edit(ctx, i, func(ctx context.Context, q *postgresdb.Queries) error {
		if _, err := q.DeleteIntegration(ctx, int64(i.ID)); err != nil {
			return err
		}
		return integrationsNote(ctx, q, actor, audit.IntegrationRemoved, i.Name, "", audit.Diff(i.Content, nil))
	})
}

// edit runs change in a transaction that locks the integration. An integration that was deleted or changed since it was
// read is a Stale fault.
func (s *Integrations) edit(ctx context.Context, i intake.Integration, change func(context.Context, *postgresdb.Queries) error) error {
	return s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		r, err := q.LockIntegration(ctx, int64(i.ID))
		if err != nil {
			return postgres.Named(err, "there is no integration "+i.Name)
		}
		now := integrationsContent(r.Name, r.Type, r.DefaultPlan, r.DefaultSeverity, r.Settings, r.RatePerMinute,
			r.Enabled)
		if now.Rules, err = rules(r.Rules); err != nil {
			return err
		}
		now.Ends = ends(r.ResolveAfterSeconds, r.CloseAfterSeconds)
		if err := i.Unchanged(now); err != nil {
			return err
		}
		return change(ctx, q)
	})
}

// integrationsNote writes an entry of the audit log.
func integrationsNote(ctx context.Context, q *postgresdb.Queries, actor string, action audit.Action, name, detail string, changes []audit.Change) error {
	return auditlog.Write(ctx, q, audit.Entry{Actor: actor, Action: action, Object: "integration " + name,
		Detail: detail, Changes: changes})
}
