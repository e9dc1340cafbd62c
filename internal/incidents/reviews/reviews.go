package reviews

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// Bounds of a review.
const (
	MaxText      = 64 << 10 // bytes
	maxTitle     = 200      // characters
	maxTags      = 20
	maxTag       = 40 // characters
	maxFollowUps = 50
	maxURL       = 2000 // bytes
	maxSearched  = 200  // characters of a text that is searched
)

// State says whether a review is finished. Everybody who sees the incident sees both.
type State string

// The states.
const (
	Draft     State = "draft"
	Published State = "published"
)

// FollowUp is a link to work that follows from an incident.
type FollowUp struct {
	Title string `json:"title" doc:"At most 200 characters."`
	URL   string `json:"url" doc:"An address that begins with http or https."`
}

// Content is what people write.
type Content struct {
	Title     string     `json:"title" doc:"At most 200 characters."`
	Text      string     `json:"text" doc:"Markdown, at most 64 KiB. HTML in it is shown as text."`
	Tags      []string   `json:"tags" required:"false" nullable:"true" doc:"Words to find the review by: at most 20, each of at most 40 characters."`
	FollowUps []FollowUp `json:"follow_ups" required:"false" nullable:"true" doc:"Links to what is done afterwards, at most 50."`
	State     State      `json:"state" required:"false" enum:"draft,published" default:"draft" doc:"Whether the review is finished."`
}

// Check returns an Invalid fault that names all wrong fields.
func (c Content) Check() error {
	var wrong fault.Wrong
	wrong.If(strings.TrimSpace(c.Title) == "", "title", "title must not be empty")
	wrong.If(long(c.Title, maxTitle), "title", "title has more than %d characters", maxTitle)
	wrong.If(strings.ContainsAny(c.Title, "\r\n"), "title", "title must be one line")
	wrong.If(len(c.Text) > MaxText, "text", "text has more than %d KiB", MaxText>>10)
	wrong.If(len(c.Tags) > maxTags, "tags", "there can be at most %d tags", maxTags)
	for _, tag := range c.Tags {
		wrong.If(strings.TrimSpace(tag) == "" || long(tag, maxTag) || strings.ContainsAny(tag, ",\r\n"), "tags",
			"the tag %.60q must have 1 to %d characters, without commas", tag, maxTag)
	}
	wrong.If(len(c.FollowUps) > maxFollowUps, "follow_ups", "there can be at most %d follow-ups", maxFollowUps)
	for i, f := range c.FollowUps {
		field := fmt.Sprintf("follow_ups[%d]", i)
		wrong.If(strings.TrimSpace(f.Title) == "" || long(f.Title, maxTitle) || strings.ContainsAny(f.Title, "\r\n"), field+".title",
			"title of a follow-up must have 1 to %d characters in one line", maxTitle)
		wrong.If(!isLink(f.URL), field+".url", "%.60q is no address that begins with http or https", f.URL)
	}
	wrong.If(c.State != "" && c.State != Draft && c.State != Published, "state", "state must be draft or published")
	return wrong.Err()
}

func long(text string, most int) bool { return utf8.RuneCountInString(text) > most }

// isLink reports whether a text is an address that a page may link.
func isLink(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && len(text) <= maxURL &&
		!strings.ContainsAny(text, " <>\"\r\n\t")
}

// tidy returns the content as it is stored: without spaces around texts, and each tag once, ignoring case.
func (c Content) tidy() Content {
	out := Content{Title: strings.TrimSpace(c.Title), Text: strings.ReplaceAll(c.Text, "\r\n", "\n"), State: c.State,
		Tags: []string{}, FollowUps: []FollowUp{}}
	if out.State == "" {
		out.State = Draft
	}
	seen := map[string]bool{}
	for _, tag := range c.Tags {
		tag = strings.TrimSpace(tag)
		if key := strings.ToLower(tag); !seen[key] {
			seen[key] = true
			out.Tags = append(out.Tags, tag)
		}
	}
	for _, f := range c.FollowUps {
		out.FollowUps = append(out.FollowUps, FollowUp{strings.TrimSpace(f.Title), f.URL})
	}
	return out
}

// Review is a stored review.
type Review struct {
	Incident    incidents.ID `json:"incident"`
	Application string       `json:"application"`
	Content
	Author    string    `json:"author" doc:"Who wrote it first."`
	CreatedAt time.Time `json:"created_at"`
	ChangedBy string    `json:"changed_by"`
	ChangedAt time.Time `json:"changed_at"`

	made bool
}

// Tag names the state for If-Match.
func (r Review) Tag() string {
	return etag.Of([]any{r.Incident, r.Title, r.Text, r.Tags, r.FollowUps, r.State})
}

// Made reports whether the operation made the review.
func (r Review) Made() bool { return r.made }

// Location is the address of the review in /v1.
func (r Review) Location() string { return operation.Path(Get.Path, r.Incident) }

// ReviewInList is a review as lists show it: without its text.
type ReviewInList struct {
	Incident    incidents.ID `json:"incident"`
	Application string       `json:"application"`
	Title       string       `json:"title"`
	Tags        []string     `json:"tags"`
	FollowUps   int          `json:"follow_ups" doc:"How many follow-ups it has."`
	State       State        `json:"state" enum:"draft,published"`
	Author      string       `json:"author"`
	CreatedAt   time.Time    `json:"created_at"`
	ChangedBy   string       `json:"changed_by"`
	ChangedAt   time.Time    `json:"changed_at"`
}

// One names the review of an incident.
type One struct {
	Incident incidents.ID `path:"incident" json:"incident"`
}

// Edit makes or replaces a review.
type Edit struct {
	One
	operation.State
	Body Content `json:"body"`
}

// Check implements operation.Checker.
func (e Edit) Check() error { return e.Body.Check() }

// Removal deletes a review.
type Removal struct {
	One
	operation.State
}

// Filter selects reviews.
type Filter struct {
	operation.Paging
	Tag     string `query:"tag" json:"tag,omitempty" doc:"Only reviews with this tag."`
	Team    string `query:"team" json:"team,omitempty" doc:"The name of a team: reviews of incidents that page it, and of those of its plans and applications."`
	Text    string `query:"text" json:"text,omitempty" doc:"Only reviews whose title or text has this, at most 200 characters."`
	Written State  `query:"state" json:"state,omitempty" enum:"draft,published" doc:"Only reviews in this state."`
}

// Check implements operation.Checker.
func (f Filter) Check() error {
	var wrong fault.Wrong
	wrong.If(long(f.Text, maxSearched), "text", "text has more than %d characters", maxSearched)
	return wrong.Err()
}

// Document is a review as one Markdown file.
type Document struct {
	File     string `json:"file" doc:"A name for the file."`
	Markdown string `json:"markdown" doc:"The content of the file."`
}

// The operations on reviews.
var (
	List = operation.Define[Filter, operation.Page[ReviewInList]](operation.Doc{Name: "review.list", Method: http.MethodGet,
		Path: "/v1/reviews", Needs: operation.Reader, Summary: "Reviews of incidents, newest incident first"})
	Get = operation.Define[One, Review](operation.Doc{Name: "review.get", Method: http.MethodGet,
		Path: "/v1/reviews/{incident}", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "The review of an incident"})
	Put = operation.Define[Edit, Review](operation.Doc{Name: "review.save", Method: http.MethodPut,
		Path: "/v1/reviews/{incident}", Needs: operation.Member, Rule: operation.Confined,
		Audit: []audit.Action{audit.ReviewSaved}, Summary: "Write the review of an incident, or replace it",
		Errors: []int{http.StatusPreconditionFailed},
		Note:   "Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the review meanwhile."})
	Delete = operation.Define[Removal, operation.None](operation.Doc{Name: "review.delete", Method: http.MethodDelete,
		Path: "/v1/reviews/{incident}", Needs: operation.Member, Rule: operation.Confined,
		Audit: []audit.Action{audit.ReviewDeleted}, Summary: "Delete the review of an incident",
		Errors: []int{http.StatusPreconditionFailed}})
	MakeDraft = operation.Define[One, Content](operation.Doc{Name: "review.draft", Method: http.MethodGet,
		Path: "/v1/reviews/{incident}/draft", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "A first review from the timeline of an incident; nothing is stored"})
	Export = operation.Define[One, Document](operation.Doc{Name: "review.export", Method: http.MethodGet,
		Path: "/v1/reviews/{incident}/markdown", Needs: operation.Reader, Rule: operation.Confined,
		Summary: "The review of an incident as a Markdown file"})
)

// Kind is the kind of reviews, for the generic commands.
var Kind = operation.Kind(List, Get, Put, Delete, "INCIDENT=incident", "STATE=state", "TITLE=title",
	"TAGS=tags", "CHANGED BY=changed_by", "CHANGED=changed_at")

// Query selects reviews of a list.
type Query struct {
	Filter
	Application int64        // 0 = any
	Before      incidents.ID // 0 = from the newest
	Limit       int
}

// Store keeps reviews. Each method is one transaction. A review that does not exist is a NotFound fault. A change
// calls check with the tag of the present state, "" if there is no review, and changes nothing if check returns an error.
type Store interface {
	Review(ctx context.Context, id incidents.ID) (Review, error)
	Reviews(ctx context.Context, q Query) ([]ReviewInList, error)
	SaveReview(ctx context.Context, id incidents.ID, c Content, by string, check func(tag string) error) (made bool, err error)
	DeleteReview(ctx context.Context, id incidents.ID, by string, check func(tag string) error) error
}

// Incidents reads incidents. An incident that does not exist is a NotFound fault.
type Incidents interface {
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	// Timeline returns the entries of a timeline, oldest first.
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
	// Alerts returns at most so many alerts, after a fingerprint ("" = from the first one).
	Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error)
}

// Reviews are the operations on reviews. They are safe for concurrent use.
type Reviews struct {
	List   operation.Op[Filter, operation.Page[ReviewInList]]
	Get    operation.Op[One, Review]
	Put    operation.Op[Edit, Review]
	Delete operation.Op[Removal, operation.None]
	Draft  operation.Op[One, Content]
	Export operation.Op[One, Document]

	store     Store
	incidents Incidents
}

// New returns the operations.
func New(store Store, i Incidents) *Reviews {
	r := &Reviews{store: store, incidents: i}
	r.List, r.Get, r.Put, r.Delete = List.By(r.list), Get.By(r.get), Put.By(r.put), Delete.By(r.remove)
	r.Draft, r.Export = MakeDraft.By(r.draft), Export.By(r.export)
	return r
}

func (r *Reviews) list(ctx context.Context, by operation.Actor, f Filter) (out operation.Page[ReviewInList], err error) {
	before, err := f.Before()
	if err != nil {
		return out, err
	}
	found, err := r.store.Reviews(ctx, Query{Filter: f, Application: by.Application, Before: incidents.ID(before),
		Limit: f.Size() + 1})
	return operation.PageOf(f.Paging, found, func(i ReviewInList) incidents.ID { return i.Incident }), err
}

// find reads an incident that the caller reaches.
func (r *Reviews) find(ctx context.Context, by operation.Actor, id incidents.ID) (incidents.Incident, error) {
	found, err := r.incidents.Get(ctx, id)
	return found, by.Reached(found.Application, err)
}

func (r *Reviews) get(ctx context.Context, by operation.Actor, one One) (Review, error) {
	if _, err := r.find(ctx, by, one.Incident); err != nil {
		return Review{}, err
	}
	return r.store.Review(ctx, one.Incident)
}

func (r *Reviews) put(ctx context.Context, by operation.Actor, e Edit) (out Review, err error) {
	if _, err := r.find(ctx, by, e.Incident); err != nil {
		return out, err
	}
	made, err := r.store.SaveReview(ctx, e.Incident, e.Body.tidy(), by.Name, func(tag string) error {
		_, err := e.State.Check(tag)
		return err
	})
	if err != nil {
		return out, err
	}
	out, err = r.store.Review(ctx, e.Incident)
	out.made = made
	return out, err
}

func (r *Reviews) remove(ctx context.Context, by operation.Actor, d Removal) (none operation.None, err error) {
	if _, err := r.find(ctx, by, d.Incident); err != nil {
		return none, err
	}
	return none, r.store.DeleteReview(ctx, d.Incident, by.Name, func(tag string) error {
		_, err := d.State.Check(tag)
		return err
	})
}

// draft makes the first text.
func (r *Reviews) draft(ctx context.Context, by operation.Actor, one One) (out Content, err error) {
	i, err := r.find(ctx, by, one.Incident)
	if err != nil {
		return out, err
	}
	entries, err := r.incidents.Timeline(ctx, one.Incident)
	if err != nil {
		return out, err
	}
	alerts, err := r.incidents.Alerts(ctx, one.Incident, "", shownAlerts+1)
	if err != nil {
		return out, err
	}
	return First(i, entries, alerts), nil
}

func (r *Reviews) export(ctx context.Context, by operation.Actor, one One) (Document, error) {
	found, err := r.get(ctx, by, one)
	if err != nil {
		return Document{}, err
	}
	return Document{File: fmt.Sprintf("review-%d.md", found.Incident), Markdown: found.Markdown()}, nil
}
