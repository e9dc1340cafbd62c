package irisapi

import (
	"errors"
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/iris-oncall/iris/internal/web/routing"
)

// Deps are the parts that the API works on. New sets Admit of Mount and the functions Refused of the parts.
type Deps struct {
	Mount        routing.Mount
	Applications ApplicationsDeps
	Catalog      CatalogDeps
	Incidents    IncidentsDeps
	Messages     MessagesDeps
	Opening      OpeningDeps
	People       PeopleDeps
	Vocabulary   VocabularyDeps
	Health       Health
	Registerer   prometheus.Registerer
}

// API serves the routes. It is safe for concurrent use.
type API struct {
	Deps
	metrics *metrics
}

// New returns an error if a required part is missing.
func New(d Deps) (*API, error) {
	if d.Registerer == nil {
		return nil, errors.New("irisapi: a part is missing: Registerer")
	}
	a := &API{Deps: d, metrics: newMetrics(d.Registerer)}
	a.Mount.Admit = routing.Opened(d.Incidents.Openings)
	a.Opening.Opener.Refused, a.Messages.Refused = a.metrics.refusedIncidents.Inc, a.metrics.refusedNotifications.Inc
	if name := routing.Missing(a.Deps); name != "" {
		return nil, errors.New("irisapi: a part is missing: " + name)
	}
	return a, nil
}

// Routes mounts the API on a router, which should use wire.TrimSlash.
func (a *API) Routes(r chi.Router) {
	a.Mount.Routes(r, slices.Concat(
		IncidentsRoutes(a.Incidents),
		OpeningRoutes(a.Opening),
		CatalogRoutes(a.Catalog),
		MessagesRoutes(a.Messages),
		ApplicationsRoutes(a.Applications),
		Routes(a.People),
		VocabularyRoutes(a.Vocabulary),
		a.Health.routes(),
	))
	// Without these routes, GET would match /v0/incidents/{id} with the id "claim".
	onlyPost := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Allow", http.MethodPost)
		a.Mount.Errors.MethodNotAllowed(w, r)
	}
	r.Get("/v0/incidents/claim", onlyPost)
	r.Head("/v0/incidents/claim", onlyPost)
}

type metrics struct {
	// Requests that are refused because too many messages of the application wait.
	refusedIncidents, refusedNotifications prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	refused := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "iris_httpapi_overload_refused_total", Help: "Requests refused because too many messages of the application wait.",
	}, []string{"what"})
	return &metrics{refused.WithLabelValues("incident"), refused.WithLabelValues("notification")}
}
