// This file builds the edges that take the deliveries of integrations: HTTP, and SMTP if an address is configured.

package apiserver

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/intake"
	intakehooks "github.com/iris-oncall/iris/internal/intake/hooks"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/intake/smtpd"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are what the edges share.
type Deps struct {
	Config     config.API
	Stores     *server.Stores
	Recipes    *recipes.Book
	Receiver   *receiving.Receiver
	Activity   *receiving.Activity
	Wake       receiving.Wake
	Errors     *wire.Errors
	Bodies     *wire.Bodies
	Log        *zap.Logger
	Registerer prometheus.Registerer
}

// Deliveries are the edges.
type Deliveries struct {
	hooks *intakehooks.Hooks
	mails *smtpd.Server // nil = none
}

// newDeliveries creates the edges and opens the listener for mails.
func newDeliveries(d Deps) (*Deliveries, error) {
	s, decoders := d.Stores, sources.All(d.Recipes)
	parts := intakehooks.Deps{
		Integrations: s.Integrations, Applications: s.Applications, Receiver: d.Receiver, Activity: d.Activity, Errors: d.Errors,
		Heartbeats: s.Heartbeats,
		Decoders:   decoders, PagerDutyV1: sources.PagerDutyV1, Alerts: s.Integrations, Incidents: s.Incidents, Messages: s.Messages, AlertEdits: s.Integrations,
		Transitions: s.Incidents, Responders: s.Responders(), People: s.Users, Addresses: s.Responses, Wake: d.Wake,
	}
	if name := routing.Missing(parts); name != "" {
		return nil, errors.New("hooks: a part is missing: " + name)
	}
	out := &Deliveries{hooks: intakehooks.New(parts)}
	if d.Config.Intake.SMTP.Addr == "" {
		return out, nil
	}
	var err error
	out.mails, err = smtpd.New(mailConfig(d.Config), smtpd.Deps{Integrations: s.Integrations,
		Applications: s.Applications, Receiver: d.Receiver,
		Activity: d.Activity, Decode: decoders[intake.Email], Room: d.Bodies.Take, Log: d.Log, Registerer: d.Registerer})
	return out, err
}

// mailConfig translates the configuration of the SMTP server.
func mailConfig(c config.API) smtpd.Config {
	in := c.Intake.SMTP
	out := smtpd.Config{Addr: in.Addr, Domain: c.MailDomain(), MaxSize: int64(in.MaxSize), PerMinute: in.PerMinute}
	if in.CertFile != "" {
		out.RequireTLS = !in.Insecure
		out.TLS = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			cert, err := tls.LoadX509KeyPair(in.CertFile, in.KeyFile) // a renewed certificate needs no restart
			return &cert, err
		}}
	}
	return out
}

// Routes mounts the routes.
func (d *Deliveries) Routes(r chi.Router) { d.hooks.Routes(r) }

// NoteMethod records a request of a hook that is refused because of its method.
func (d *Deliveries) NoteMethod(r *http.Request) { d.hooks.NoteMethod(r) }

// Run receives mails until ctx ends.
func (d *Deliveries) Run(ctx context.Context) error {
	if d.mails == nil {
		return nil
	}
	return d.mails.Run(ctx)
}
