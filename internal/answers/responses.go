package answers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are the dependencies of the routes. A function of a vendor is nil if the vendor is not configured; the vendor's
// routes then refuse every request.
type Deps struct {
	Answers  AnswerDeps
	Links    LinkDeps
	Mail     MailDeps
	Slack    SlackDeps
	Twilio   TwilioDeps
	OneClick *auth.OneClick `optional:"true"` // verifies Gmail's button; nil = Gmail's button is switched off
	// Authenticator checks the signatures of relays.
	Authenticator *wire.Authenticator
	Errors        *wire.Errors
	Log           *zap.Logger
}

// Responses serves the routes. It is safe for concurrent use.
type Responses struct {
	links  *links
	slack  *slack
	twilio *twilio
	gmail  *gmail
	relays *relays
	errors *wire.Errors
}

// New returns an error if a required part is missing.
func New(d Deps) (*Responses, error) {
	if name := routing.Missing(d); name != "" {
		return nil, errors.New("responses: a part is missing: " + name)
	}
	log := d.Log.Named("responses")
	d.Twilio.PublicURL = strings.TrimRight(d.Twilio.PublicURL, "/")
	a := &answers{d.Answers, log}
	s := &Responses{
		links:  &links{LinkDeps: d.Links, answers: a, log: log},
		slack:  &slack{SlackDeps: d.Slack, answers: a, log: log},
		twilio: &twilio{TwilioDeps: d.Twilio, answers: a, log: log},
		gmail:  &gmail{oneClick: d.OneClick, answers: a},
		errors: d.Errors,
	}
	s.relays = &relays{
		authenticator: d.Authenticator, answers: a, slack: s.slack, twilio: s.twilio, gmail: s.gmail,
		mail: &mail{MailDeps: d.Mail, answers: a, log: log},
	}
	return s, nil
}

// Routes mounts the links, the routes of vendors and those of relays.
func (s *Responses) Routes(r chi.Router) {
	s.links.routes(r)
	r.Get("/api/v0/slack/authenticate", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("Message Received"))
	})
	for _, route := range []struct {
		method, path string
		handle       handler
	}{
		{http.MethodPost, "/api/v0/slack/messages/relay", s.slack.button},
		{http.MethodPost, "/api/v0/gmail-oneclick/relay", s.gmail.button},
		{http.MethodPost, "/api/v0/twilio/messages/relay", s.twilio.signed(s.twilio.sms)},
		{http.MethodPost, "/api/v0/twilio/calls/gather", s.twilio.signed(s.twilio.gather)},
		{http.MethodGet, "/api/v0/twilio/calls/say", s.twilio.signed(s.twilio.say)},
		{http.MethodPost, "/api/v0/twilio/calls/say", s.twilio.signed(s.twilio.say)},
		{http.MethodPost, "/api/v0/twilio/calls/relay", s.twilio.signed(s.twilio.key)},
		{http.MethodPost, "/api/v0/twilio/status", s.twilio.signed(s.twilio.status)},
	} {
		r.Method(route.method, route.path, s.serve(route.handle))
	}
	for path, handle := range s.relays.routes() {
		r.Method(http.MethodPost, path, s.relays.authenticator.Middleware(s.serve(handle)))
	}
}

// handler serves a request, or returns an error before it has written anything.
type handler func(http.ResponseWriter, *http.Request) error

// serve writes the errors of a handler.
func (s *Responses) serve(handle handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			s.errors.Write(w, r, err)
		}
	})
}

// maxForm is the largest form that is read, in bytes.
const maxForm = 64 << 10

// readForm reads a form and ignores the content type. The body of the returned request can be read again.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, *http.Request, error) {
	body, r, err := wire.Body(w, r, maxForm)
	if err != nil {
		return nil, r, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, r, fault.Titled("Invalid form", "the body is not form encoded")
	}
	return form, r, nil
}
