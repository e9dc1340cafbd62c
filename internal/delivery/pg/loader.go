package pg

import (
	"context"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// textTTL is how long the contents of a template are cached. Within this time every process uses a new version.
const textTTL = time.Second

// Loader loads what rendering needs. It implements messages.Loader. It is safe for concurrent use.
type Loader struct {
	db        *postgres.DB
	templates *cache.Cache[messages.TemplateKey, messages.Found]
}

// NewLoader returns the adapter over d.
func NewLoader(d *postgres.DB) *Loader {
	return &Loader{db: d, templates: cache.New(cache.Config[messages.TemplateKey, messages.Found]{TTL: textTTL})}
}

var _ messages.Loader = (*Loader)(nil)

// Incidents returns contexts and names of incidents.
func (w *Loader) Incidents(ctx context.Context, ids []incidents.ID) (map[incidents.ID]messages.IncidentData, error) {
	out := make(map[incidents.ID]messages.IncidentData, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	err := w.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DataOfIncidents(ctx, numbers)
		for _, r := range rows {
			out[r.ID] = messages.IncidentData{
				Context: r.Context, CreatedAt: r.CreatedAt, PlanID: r.PlanID, Application: r.Application,
				TitleVariable: r.TitleVariable, Owner: r.Owner, Sender: r.Sender, Markup: r.Markup,
			}
		}
		return err
	})
	return out, err
}

// Requests returns accepted out-of-band notifications.
func (w *Loader) Requests(ctx context.Context, ids []int64) (map[int64]messages.RequestData, error) {
	out := make(map[int64]messages.RequestData, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := w.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DataOfRequests(ctx, ids)
		for _, r := range rows {
			out[r.ID] = messages.RequestData{
				Application: r.Application, Subject: r.Subject, Body: r.Body, EmailHTML: r.EmailHtml,
				Template: r.Template, Context: r.Context, Sender: r.Sender, Bare: r.Bare, ShownTo: r.ShownTo, Markup: r.Markup,
			}
		}
		return err
	})
	return out, err
}

// Plans returns what rendering needs of plan versions.
func (w *Loader) Plans(ctx context.Context, ids []int64) (map[int64]messages.PlanData, error) {
	out := make(map[int64]messages.PlanData, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := w.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DataOfPlans(ctx, ids)
		for _, r := range rows {
			p := messages.PlanData{Name: r.Name, Tracking: r.TrackingTemplate}
			for i, step := range r.DynamicSteps {
				p.Dynamic = append(p.Dynamic, messages.StepPosition{Step: step, Position: r.DynamicPositions[i]})
			}
			out[r.ID] = p
		}
		return err
	})
	return out, err
}

// Detours returns the last changes of target of messages, and what notices are about.
func (w *Loader) Detours(ctx context.Context, ids []messages.ID) (map[messages.ID]messages.Change, error) {
	out := make(map[messages.ID]messages.Change, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	err := w.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.DetoursOfMessages(ctx, numbers(ids))
		for _, r := range rows {
			out[r.MessageID] = messages.Change{At: r.At, Type: "target-change", Old: r.Old, New: r.New,
				Description: r.Description}
		}
		return err
	})
	return out, err
}

// Templates returns the contents of the active versions of templates, which may be up to textTTL old.
func (w *Loader) Templates(ctx context.Context, keys []messages.TemplateKey) (map[messages.TemplateKey]messages.Found, error) {
	folded := make([]messages.TemplateKey, len(keys))
	for i, k := range keys {
		folded[i] = foldKey(k)
	}
	found, err := w.templates.GetAll(ctx, folded, w.readTemplates)
	out := make(map[messages.TemplateKey]messages.Found, len(keys))
	for i, k := range keys {
		if f, known := found[folded[i]]; known {
			out[k] = f
		}
	}
	return out, err
}

func (w *Loader) readTemplates(ctx context.Context, keys []messages.TemplateKey) (map[messages.TemplateKey]messages.Found, error) {
	var p postgresdb.TextOfTemplatesParams
	for _, k := range keys {
		p.Templates, p.Applications, p.Modes = append(p.Templates, k.Template), append(p.Applications,
			k.Application), append(p.Modes, string(k.Mode))
	}
	out := make(map[messages.TemplateKey]messages.Found, len(keys))
	err := w.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.TextOfTemplates(ctx, p)
		for _, r := range rows {
			out[keys[r.N-1]] = messages.Found{
				Template: r.HasTemplate, Application: r.HasApplication, Mode: r.HasMode,
				Content: messages.TemplateContent{Subject: r.Subject, Body: r.Body, EmailHTML: r.EmailHtml},
			}
		}
		return err
	})
	return out, err
}

func foldKey(k messages.TemplateKey) messages.TemplateKey {
	return messages.TemplateKey{
		Template:    strings.ToLower(strings.TrimRight(k.Template, " ")),
		Application: strings.ToLower(k.Application),
		Mode:        users.Mode(strings.ToLower(string(k.Mode))),
	}
}
