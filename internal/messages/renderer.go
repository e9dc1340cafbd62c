package messages

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// Renderer renders messages. It is safe for concurrent use.
type Renderer struct {
	loader    Loader
	templates *templateCache
	plans     *cache.Cache[int64, PlanData]
}

// NewRenderer returns a Renderer that reads templates, contexts and notifications from l.
func NewRenderer(l Loader) *Renderer {
	return &Renderer{loader: l, templates: newTemplateCache(),
		plans: cache.New(cache.Config[int64, PlanData]{TTL: cache.Forever, Entries: 4096})}
}

// Render returns the content of each request, in the order given. Every content can be sent: a template that is missing
// or fails is replaced by the built-in plain text, and Content.Problem says why. The error is not nil only if data
// could not be loaded (the database does not answer); then nothing was rendered, and a retry may help.
func (r *Renderer) Render(ctx context.Context, reqs []Request) ([]Content, error) {
	sources, err := r.load(ctx, reqs)
	if err != nil {
		return nil, err
	}
	out := make([]Content, len(reqs))
	for i := range sources {
		out[i] = r.one(&sources[i])
	}
	return out, nil
}

// source is the input for one message.
type source struct {
	Request
	incident    IncidentData
	notice      RequestData
	plan        PlanData
	application string
	gone        bool // the incident or notification does not exist any more
	key         TemplateKey
	found       Found
}

func (s *source) outOfBand() bool { return s.IncidentID == 0 }

// load reads the data of the requests, one query per kind.
func (r *Renderer) load(ctx context.Context, reqs []Request) ([]source, error) {
	sources := make([]source, len(reqs))
	incidentIDs, requestIDs, planIDs, diverted := map[incidents.ID]bool{}, map[int64]bool{}, map[int64]bool{}, map[ID]bool{}
	for i, q := range reqs {
		sources[i].Request = q
		if q.explained() && q.Note == "" {
			diverted[q.MessageID] = true
		}
		switch {
		case q.IncidentID != 0:
			incidentIDs[q.IncidentID] = true
		case q.RequestID != 0:
			requestIDs[q.RequestID] = true
		}
		if q.PlanID != 0 {
			planIDs[q.PlanID] = true
		}
	}
	found, err := readAll(ctx, "contexts of incidents", incidentIDs, r.loader.Incidents)
	if err != nil {
		return nil, err
	}
	notices, err := readAll(ctx, "notifications", requestIDs, r.loader.Requests)
	if err != nil {
		return nil, err
	}
	plans, err := readAll(ctx, "plans", planIDs, func(ctx context.Context, ids []int64) (map[int64]PlanData, error) {
		return r.plans.GetAll(ctx, ids, r.loader.Plans) // a version of a plan never changes
	})
	if err != nil {
		return nil, err
	}
	detours, err := readAll(ctx, "changes of targets", diverted, r.loader.Detours)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		s := &sources[i]
		var ok bool
		switch {
		case s.Batch != "":
			s.application, ok = s.Application, true
		case s.outOfBand():
			s.notice, ok = notices[s.RequestID]
			s.application = s.notice.Application
			if s.Template == "" {
				s.Template = s.notice.Template
			}
		default:
			s.incident, ok = found[s.IncidentID]
			s.application = s.incident.Application
		}
		s.gone = !ok
		s.plan = plans[s.PlanID]
		if s.explained() && s.Note == "" {
			s.Note = s.detourNote(detours[s.MessageID])
		}
	}
	return sources, r.loadTemplates(ctx, sources)
}

// readAll reads the values of the keys with one query. Without keys it makes no query.
func readAll[K comparable, V any](ctx context.Context, what string, keys map[K]bool, read func(context.Context, []K) (map[K]V, error)) (map[K]V, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := read(ctx, slices.Collect(maps.Keys(keys)))
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", what, err)
	}
	return found, nil
}

// maxDetour bounds, in characters, the sentence before a message that says why it goes to another person. A text
// message has little room.
const maxDetour = 250

// explained reports whether the message says why its recipient gets it: a fallback, a notice, or an added page, whose
// position is negative.
func (r Request) explained() bool {
	return r.Purpose == Fallback || r.Position < 0 || r.Purpose.Notice()
}

// detourNote returns the sentence that names the planned recipient of a message and says why another person gets it
// (docs/reference/escalation.md 4). Without a planned recipient it says why this person gets it. That of a notice is
// what happened.
func (s *source) detourNote(c Change) string {
	meant := c.Old
	if s.Purpose.Notice() {
		return s.happened(c)
	}
	if role, name, ok := strings.Cut(meant, "|"); ok {
		if meant = role + " of " + name; role == "user" {
			meant = name
		}
	}
	why := strings.TrimRight(oneLine(c.Description), ". ")
	switch {
	case why == "":
		return "You get this because nobody it was meant for could be reached; the incident's timeline says why."
	case meant == "", strings.HasPrefix(why, meant+" "):
		return "You get this because " + cutRunes(why, maxDetour) + "."
	}
	return "You get this instead of " + cutRunes(meant+". "+why, maxDetour) + "."
}

func (r *Renderer) loadTemplates(ctx context.Context, sources []source) error {
	keys := map[TemplateKey]bool{}
	for i := range sources {
		s := &sources[i]
		if s.Template == "" || s.Plain || s.gone || s.Purpose == TrackingMsg {
			continue
		}
		s.key = TemplateKey{Template: s.Template, Application: s.application, Mode: s.Mode}
		if s.Mode == users.Drop {
			s.key.Mode = users.Email
		}
		keys[s.key] = true
	}
	found, err := readAll(ctx, "templates", keys, r.loader.Templates)
	for i := range sources {
		sources[i].found = found[sources[i].key]
	}
	return err
}

// one renders one message. An error or panic of the template becomes the built-in text and a Problem.
func (r *Renderer) one(s *source) Content {
	c, err := r.shaped(s)
	if err != nil {
		return shape(s, builtIn(s, err.Error()))
	}
	return c
}

func (r *Renderer) shaped(s *source) (c Content, err error) {
	defer fault.Recover(&err)
	return shape(s, r.rendered(s)), nil
}

// rendered is a message before it is shaped for its mode.
type rendered struct {
	subject, body, html string // data in them is marked
	segment             string // the whole text of an SMS of one segment; "" = subject and body
	custom              bool   // body begins with a JSON object of Slack's parts
	problem             string
}

func (r *Renderer) rendered(s *source) rendered {
	switch {
	case s.Batch != "":
		return rendered{subject: jinja.Mark(DigestSubject(s.application, s.BatchSize, s.plan.Name)),
			body: jinja.Mark(DigestBody(s.Batch))}
	case s.gone:
		return builtIn(s, "its incident or notification does not exist any more")
	case s.Plain:
		return builtIn(s, "the template was suspended, because two processes died while rendering it")
	case s.Purpose == TrackingMsg:
		return r.tracking(s)
	case s.Template != "":
		return r.template(s)
	case s.outOfBand():
		d := rendered{subject: s.prefixed(s.data(s.notice.Subject)), body: s.notice.Body, html: s.notice.EmailHTML}
		if s.Mode == users.Slack { // elsewhere the sender writes Markdown
			d.body = s.data(d.body)
		}
		return d
	}
	return builtIn(s, "")
}

// prefixed adds the application's name before the subject of an out-of-band notification.
func (s *source) prefixed(subject string) string {
	prefix := "[" + s.application + "] "
	if s.application == "" || s.notice.Bare || strings.HasPrefix(jinja.Raw(subject), prefix) {
		return subject
	}
	return jinja.Mark(prefix) + subject
}

// template renders the message's template.
func (r *Renderer) template(s *source) rendered {
	switch {
	case !s.found.Template:
		return builtIn(s, fmt.Sprintf("template %s does not exist", s.Template))
	case !s.found.Application:
		return builtIn(s, fmt.Sprintf("template %s does not have application %s", s.Template, s.application))
	case !s.found.Mode:
		return builtIn(s, fmt.Sprintf("template %s does not have mode %s", s.Template, s.key.Mode))
	}
	return r.parts(s, s.found.Content, fmt.Sprintf("template %s", s.Template))
}

// parts renders subject, body and HTML with the variables of the message; what names the template in problems.
func (r *Renderer) parts(s *source, content TemplateContent, what string) rendered {
	vars, err := variables(s)
	if err != nil {
		return builtIn(s, fmt.Sprintf("the context cannot be read: %v", err))
	}
	titled := content.Subject != "" && s.needsID()
	if s.needsID() && !r.mentionsID(content.Subject) && !r.mentionsID(content.Body) {
		content.Subject = "{{ iris.message_id }} " + content.Subject
	}
	var d rendered
	printed := false
	for _, part := range []struct {
		name, src string
		out       *string
	}{{partSubject, content.Subject, &d.subject}, {partBody, content.Body, &d.body}, {partHTML, content.EmailHTML, &d.html}} {
		if part.src == "" || part.name == partHTML && s.Mode != users.Email && s.Mode != users.Drop {
			continue
		}
		if part.name == partBody && r.slackBlocks(s, &d, part.src, vars) {
			printed = true
			continue
		}
		text, shown, err := r.templates.render(part.src, s.marks(part.name), vars)
		if err != nil {
			return builtIn(s, fmt.Sprintf("%s %s failed to render: %s", what, part.name, shortError(err)))
		}
		*part.out = text
		printed = printed || shown
	}
	if !printed || s.blank(d, content) {
		return builtIn(s, what+" printed nothing of the context")
	}
	if titled && s.Mode != users.SMS && s.Mode != users.Call && !wordy(s.withoutID(d.subject)) {
		d.subject = strings.TrimSpace(d.subject) + " " + jinja.Mark(s.title())
	}
	if s.outOfBand() {
		if strings.TrimSpace(d.subject) == "" {
			d.subject = s.data(s.notice.Subject)
		}
		d.subject = s.prefixed(d.subject)
		if d.html == "" {
			d.html = s.notice.EmailHTML
		}
	}
	return d
}

// blank reports whether a rendered text is empty for readers: it has no letter, digit or symbol.
func (s *source) blank(d rendered, content TemplateContent) bool {
	if s.Mode == users.SMS || s.Mode == users.Call {
		return !wordy(s.withoutID(d.subject) + d.body)
	}
	return content.Body+content.EmailHTML != "" && !wordy(d.body) && !wordy(d.html)
}

// withoutID is a subject without a leading message number.
func (s *source) withoutID(subject string) string {
	return strings.TrimPrefix(strings.TrimSpace(jinja.Raw(subject)), fmt.Sprint(s.MessageID))
}

func wordy(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) ||
			unicode.IsSymbol(r)
	})
}

// The names of a template's parts in problems.
const (
	partSubject = "subject"
	partBody    = "body"
	partHTML    = "email html"
)

// slackBlocks fills the body of a Slack message whose template is a JSON object of Slack's parts. It returns false if
// the template is not one or does not print one: then it is text.
func (r *Renderer) slackBlocks(s *source, d *rendered, src string, vars jinja.Vars) bool {
	if s.Mode != users.Slack || s.markup() {
		return false
	}
	t, err := r.templates.compile(src)
	if err != nil || !t.StartsObject() {
		return false
	}
	text, _, err := r.templates.render(src, jinja.MarksJSON, vars)
	if err != nil {
		return false
	}
	d.body, d.custom = slackObject(text)
	return d.custom
}

// needsID reports whether people may reply with the message's number. Then the subject must show it.
func (s *source) needsID() bool { return !s.outOfBand() && s.Purpose != TrackingMsg }

func (r *Renderer) mentionsID(src string) bool {
	t, err := r.templates.compile(src)
	return err == nil && t.MentionsFirst("iris", "message_id")
}

// shortError is an engine's error without details for developers.
func shortError(err error) string {
	var e *jinja.Error
	if errors.As(err, &e) && e.Kind == "InternalError" {
		return "internal error of the template engine"
	}
	return cutRunes(oneLine(err.Error()), 300)
}
