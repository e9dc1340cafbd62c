package sources

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// maxEvents bounds the incidents that one delivery opens.
const maxEvents = 1000

// Generic returns a decoder of any body: a JSON object or a list of them, a form, XML, or text. A recipe, or the
// expressions of the integration, find titles, keys, statuses and so on; else those with the usual names count. An
// object without a key is identified by its title and host. A text is an event of its own.
func Generic(book *recipes.Book) intake.Decoder {
	return func(r intake.Request) ([]intake.Event, error) {
		x, err := intake.Parse(r.Settings)
		if err != nil {
			return nil, err
		}
		return reader{book, x, r.At}.events(r)
	}
}

// reader reads payloads by the settings of an integration.
type reader struct {
	book *recipes.Book
	x    intake.Expressions
	at   time.Time
}

func (g reader) events(r intake.Request) ([]intake.Event, error) {
	kind, params, _ := mime.ParseMediaType(r.Header("Content-Type"))
	switch body := strings.TrimSpace(string(r.Body)); {
	case body == "":
		return nil, fault.New(fault.Invalid, "the body is empty")
	case r.Text:
		return ofText(body, intake.Failure{Reason: "the body nests too deep to be read: it pages as text"}), nil
	case kind == "multipart/form-data":
		form, err := multipartForm(r.Body, params["boundary"])
		if err != nil {
			return ofText(body, intake.Failure{Reason: "the body cannot be read as the multipart form that Content-Type names: it pages as text"}), nil
		}
		return g.ofForm(form)
	// curl calls JSON and texts a form unless it is told otherwise.
	case kind == "application/x-www-form-urlencoded" && !strings.ContainsAny(body[:1], "{[") &&
		strings.Contains(body, "="):
		form, err := url.ParseQuery(body)
		if err != nil {
			return ofText(body), nil
		}
		return g.ofForm(form)
	case xmlLike.MatchString(body):
		raw, err := xmlObject(body)
		m, notObject := object(raw)
		if err != nil || notObject != nil {
			return ofText(body), nil
		}
		return g.event(m, raw), nil
	case jsonLike.MatchString(body) && !json.Valid(r.Body):
		return ofText(body, intake.Failure{Reason: "the body begins like JSON and is not valid JSON: it pages as text"}), nil
	case strings.ContainsAny(body[:1], "{[") && !json.Valid(r.Body):
		return ofText(body), nil
	case body[0] == '{':
		m, err := object(r.Body)
		if err != nil {
			return nil, err
		}
		return g.event(m, r.Body), nil
	case body[0] == '[':
		var raw []json.RawMessage
		if json.Unmarshal(r.Body, &raw) != nil {
			return nil, fault.New(fault.Invalid, "the body is not valid JSON")
		}
		if len(raw) > maxEvents {
			return nil, fault.Newf(fault.Invalid, "the list has more than %d objects: send several lists", maxEvents)
		}
		var out []intake.Event
		read := false
		for _, one := range raw {
			if m, err := object(one); err == nil {
				out = append(out, g.event(m, one)...)
				read = true
			}
		}
		if !read {
			return nil, fault.New(fault.Invalid, "the list has no JSON object")
		}
		return out, nil
	default:
		return ofText(body), nil
	}
}

// ofText is the event of a text: its first line is the title.
func ofText(body string, failures ...intake.Failure) []intake.Event {
	title, rest, _ := strings.Cut(body, "\n")
	return []intake.Event{{Status: intake.Firing, Title: humanize.Shorten(title, maxSummary),
		Summary: strings.TrimSpace(rest), Failures: failures}}
}

// jsonLike matches the beginning of a JSON object, or of a list of objects.
var jsonLike = regexp.MustCompile(`^(\[\s*)?\{\s*["}]`)

// maxFormFields bounds the fields of a multipart form. The size of the body is bounded by the door.
const maxFormFields = 1000

// multipartForm reads the fields of a multipart form. Files are fields too.
func multipartForm(body []byte, boundary string) (url.Values, error) {
	form := url.Values{}
	parts := multipart.NewReader(bytes.NewReader(body), boundary)
	for range maxFormFields {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return form, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		form.Add(part.FormName(), string(text))
	}
	return nil, fault.Newf(fault.Invalid, "the form has more than %d fields", maxFormFields)
}

func (g reader) ofForm(form url.Values) ([]intake.Event, error) {
	for _, name := range []string{"payload", "data"} {
		if m, err := object([]byte(form.Get(name))); err == nil {
			return g.event(m, []byte(form.Get(name))), nil
		}
	}
	texts := map[string]string{}
	for name := range form {
		texts[name] = form.Get(name)
	}
	raw := encoded(texts)
	m, err := object(raw)
	if err != nil {
		return nil, fault.New(fault.Invalid, "the form is empty")
	}
	return g.event(m, raw), nil
}

// event returns the event of an object; none if the object says nothing about an alert.
func (g reader) event(m members, body []byte) []intake.Event {
	own := g.x.Find(body)
	read, use := g.recipe(body, g.book.Webhook)
	if use == nil {
		e := generic(m, body, own.Over(read.Facts))
		if own.Ignore {
			return nil
		}
		return []intake.Event{e}
	}
	found := own.Over(read.Facts)
	if found.Ignore {
		return nil
	}
	inner, err := object(read.Payload)
	if err != nil {
		inner = m
	}
	e := generic(inner, read.Payload, found)
	e.Recipe = use
	if before := generic(m, body, own).Key; before != e.Key && before != "" {
		e.OtherKeys = []string{before}
	}
	return []intake.Event{e}
}

// recipe reads a payload by the recipe of the settings. Without one, a recipe may recognise the payload if there are no
// expressions. The use is nil if no recipe read it.
func (g reader) recipe(payload []byte, read func(string, []byte, time.Time) (recipes.Reading, bool)) (recipes.Reading, *intake.RecipeUse) {
	if g.book == nil || g.x.Recipe == "" && g.x.Given() {
		return recipes.Reading{}, nil
	}
	out, ok := read(g.x.Recipe, payload, g.at)
	if !ok {
		return out, nil
	}
	return out, &out.Use
}

// generic returns the event of an object with the facts that were found; what they lack has one of the usual names.
func generic(m members, body []byte, found intake.Facts) intake.Event {
	e := intake.Event{
		Title: humanize.Shorten(firstOf(found.Title, m.text("title", "summary", "subject", "name", "text",
			"message")), maxSummary),
		Summary: firstOf(found.Summary, m.text("description", "message", "details", "text", "body")),
		Labels:  m.within("labels").texts(), StartsAt: instant(m.text("timestamp", "time",
			"date")), Context: body, Failures: found.Failures,
		Key: ShortKey(firstOf(found.Key, m.text("dedup_key", "dedup", "fingerprint", "alert_uid", "alias", "id",
			"key"))),
	}
	e.SayStatus(firstOf(found.Status, stateOf(m)))
	e.SaySeverity(firstOf(found.Severity, m.text("severity", "level", "priority")))
	if host := m.text("host"); host != "" && e.Labels["host"] == "" {
		e.Labels["host"] = host
	}
	maps.Copy(e.Labels, found.Labels)
	inside := titles{}
	if e.Title == "" {
		inside = titlesIn(body)
		e.Title = inside.identity
	}
	if e.Key == "" && e.Title != "" {
		e.Key = hashed(e.Title + "\x00" + e.Labels["host"])
	}
	if e.Title == "" && e.Status == intake.Firing { // a resolve keeps the title of its incident
		e.Title = firstOf(inside.title, inside.texts)
	}
	e.Links = addLink(addLink(nil, found.Link, "Source"), m.text("url", "link", "link_to_upstream_details"), "Source")
	e.Images = addImages(nil, m.text("image_url", "imageUrl"))
	return e
}

// finished are words that say that something is over, and not how it ended.
var finished = map[string]bool{"completed": true, "complete": true, "done": true}

// stateOf returns the word with which a payload says its state. Of something that is over, the result counts. An action
// that only says that something is over, as GitHub sends it, is no state.
func stateOf(m members) string {
	word, action := m.text("status", "state"), m.text("action", "event_action")
	switch {
	case finished[strings.ToLower(word)]:
		return firstOf(m.text("conclusion", "result", "outcome"), word)
	case word == "" && finished[strings.ToLower(action)]:
		return m.text("conclusion", "result", "outcome")
	}
	return firstOf(word, action)
}
