package pages

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/markdown"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/page"
)

// MountReviews adds the operations on reviews to /v1.
func MountReviews(a *mount.API, r *reviews.Reviews) {
	mount.Mount(a, r.List)
	mount.Mount(a, r.Get)
	mount.Mount(a, r.Put)
	mount.Mount(a, r.Delete)
	mount.Mount(a, r.Draft)
	mount.Mount(a, r.Export)
}

// ReviewDeps are the parts that the pages of reviews work on.
type ReviewDeps struct {
	Reviews *reviews.Reviews
	Teams   *teams.Teams
}

// ReviewPages serves the list of reviews, the page of one, and the form that writes it. It is safe for concurrent use.
type ReviewPages struct {
	ReviewDeps
	Pages *page.Pages
}

// Routes mounts the pages that change nothing.
func (h ReviewPages) Routes(r chi.Router) {
	page.Get(r, "/reviews", h.list)
	page.Get(r, "/incidents/{id}/review", h.show)
	page.Get(r, "/incidents/{id}/review.md", h.export)
	page.Get(r, "/incidents/{id}/review/edit", h.edit)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h ReviewPages) ChangeRoutes(r chi.Router) {
	r.Post("/incidents/{id}/review/edit", h.save)
	r.Post("/incidents/{id}/review/delete", h.remove)
}

type reviewsView struct {
	page.Frame
	Refusal page.Refusal
	Typed   url.Values
	States  []page.Option
	Teams   []string
	Rows    []reviews.ReviewInList
	Next    string
	Chosen  bool // there is a filter
}

// list shows reviews, newest incident first.
func (h ReviewPages) list(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := reviewsView{Frame: h.Pages.Frame(r, "Reviews", "reviews"), Typed: q, Teams: pagesusers.TeamNames(r, h.Teams),
		States: page.OptionsOr("any state", reviews.Draft, reviews.Published)}
	f := reviews.Filter{Paging: operation.Paging{Limit: page.ListLength, Cursor: q.Get("cursor")},
		Tag: typedIn(q, "tag"), Team: typedIn(q, "team"), Text: typedIn(q, "text"), Written: reviews.State(typedIn(q, "state"))}
	v.Chosen = f.Tag+f.Team+f.Text+string(f.Written) != ""
	found, err := h.Reviews.List.Do(r.Context(), page.Actor(r), f)
	if err != nil {
		refusal, ok := h.Pages.Refused(rw, r, err)
		if !ok {
			return
		}
		v.Refusal = refusal
	}
	v.Rows = found.Items
	if found.Next != nil {
		v.Next = page.Query("/reviews", "tag", f.Tag, "team", f.Team, "text", f.Text, "state", string(f.Written), "cursor", *found.Next)
	}
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "reviews", v)
}

func typedIn(q url.Values, name string) string { return strings.TrimSpace(page.Storable(q.Get(name))) }

type reviewView struct {
	page.Frame
	R    reviews.Review
	None bool // nobody has written it
	ID   incidents.ID
	Text template.HTML
}

// show shows the review of an incident. If there is none, it offers to write it.
func (h ReviewPages) show(rw http.ResponseWriter, r *http.Request) {
	id, found, err := h.read(r)
	none := fault.Is(err, fault.NotFound) && id != 0
	if none {
		_, err = h.Reviews.Draft.Do(r.Context(), page.Actor(r), reviews.One{Incident: id}) // no such incident?
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "review", reviewView{Frame: h.Pages.Frame(r, fmt.Sprintf("Review of incident %d", id), "reviews"),
		R: found, None: none, ID: id, Text: markdown.HTML(found.Text)})
}

// read reads the review that the address names. Its number is returned if only the review does not exist.
func (h ReviewPages) read(r *http.Request) (incidents.ID, reviews.Review, error) {
	id, err := incidentID(r)
	if err != nil {
		return 0, reviews.Review{}, err
	}
	found, err := h.Reviews.Get.Do(r.Context(), page.Actor(r), reviews.One{Incident: id})
	return id, found, err
}

// export answers with the review as a Markdown file.
func (h ReviewPages) export(rw http.ResponseWriter, r *http.Request) {
	id, err := incidentID(r)
	var d reviews.Document
	if err == nil {
		d, err = h.Reviews.Export.Do(r.Context(), page.Actor(r), reviews.One{Incident: id})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "text/markdown; charset=utf-8")
	rw.Header().Set("Content-Disposition", `attachment; filename="`+d.File+`"`)
	_, _ = rw.Write([]byte(d.Markdown))
}

type reviewForm struct {
	page.Frame
	ID      incidents.ID
	Refusal page.Refusal
	Typed   url.Values
	States  []page.Option
	Tag     string // for If-Match; "" = there is no review yet
	Stored  bool
	Preview template.HTML // "" = none was asked for
}

// edit shows the form with the review, or with the first text from the timeline.
func (h ReviewPages) edit(rw http.ResponseWriter, r *http.Request) {
	id, found, err := h.read(r)
	v := reviewForm{ID: id, Stored: err == nil}
	if fault.Is(err, fault.NotFound) && id != 0 {
		found.Content, err = h.Reviews.Draft.Do(r.Context(), page.Actor(r), reviews.One{Incident: id})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if v.Stored {
		v.Tag = page.ETag(found)
	}
	var links []string
	for _, f := range found.FollowUps {
		links = append(links, f.URL+" "+f.Title)
	}
	v.Typed = url.Values{"title": {found.Title}, "text": {found.Text}, "tags": {strings.Join(found.Tags, ", ")},
		"follow_ups": {strings.Join(links, "\n")}, "state": {string(found.State)}}
	h.form(rw, r, v)
}

func (h ReviewPages) form(rw http.ResponseWriter, r *http.Request, v reviewForm) {
	v.Frame, v.States = h.Pages.Frame(r, fmt.Sprintf("Review of incident %d", v.ID), "reviews"), page.Options(reviews.Draft, reviews.Published)
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "review-form", v)
}

// save stores the typed review, or shows how it will look.
func (h ReviewPages) save(rw http.ResponseWriter, r *http.Request) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	typed := page.Typed(r)
	v := reviewForm{ID: id, Typed: typed, Tag: typed.Get("if_match"), Stored: typed.Get("if_match") != ""}
	if typed.Get("do") == "preview" {
		v.Preview = markdown.HTML(typed.Get("text"))
		h.form(rw, r, v)
		return
	}
	in := reviews.Edit{One: reviews.One{Incident: id}, State: operation.State{IfMatch: v.Tag}, Body: typedReview(typed)}
	if !v.Stored {
		in.State = operation.State{IfNoneMatch: "*"}
	}
	_, err = h.Reviews.Put.Do(r.Context(), page.Actor(r), in)
	h.Pages.Finish(rw, r, "The review was saved.", fmt.Sprintf("/incidents/%d/review", id), inReviewForm(err), func(refusal page.Refusal) {
		v.Refusal = refusal
		if refusal.Status == http.StatusPreconditionFailed {
			if _, now, err := h.read(r); err == nil {
				v.Tag, v.Stored = page.ETag(now), true
			}
		}
		h.form(rw, r, v)
	})
}

// typedReview reads the form. A follow-up is a line with an address and a title.
func typedReview(typed url.Values) reviews.Content {
	c := reviews.Content{Title: typed.Get("title"), Text: typed.Get("text"), State: reviews.State(typed.Get("state"))}
	for _, tag := range strings.FieldsFunc(typed.Get("tags"), func(c rune) bool { return strings.ContainsRune(",\r\n", c) }) {
		if tag = strings.TrimSpace(tag); tag != "" {
			c.Tags = append(c.Tags, tag)
		}
	}
	for _, text := range strings.Split(typed.Get("follow_ups"), "\n") {
		if address, title, _ := strings.Cut(strings.TrimSpace(text), " "); address != "" {
			c.FollowUps = append(c.FollowUps, reviews.FollowUp{Title: cmp.Or(strings.TrimSpace(title), address), URL: address})
		}
	}
	return c
}

// inReviewForm returns err with the field of the form in place of that of a single follow-up or tag.
func inReviewForm(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	out := *f
	out.Field, _, _ = strings.Cut(f.Field, "[")
	out.Others = append([]fault.Field{}, f.Others...)
	for i := range out.Others {
		out.Others[i].Name, _, _ = strings.Cut(out.Others[i].Name, "[")
	}
	return &out
}

func (h ReviewPages) remove(rw http.ResponseWriter, r *http.Request) {
	id, err := incidentID(r)
	if err == nil {
		_, err = h.Reviews.Delete.Do(r.Context(), page.Actor(r), reviews.Removal{One: reviews.One{Incident: id}})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, fmt.Sprintf("/incidents/%d", id), "The review was deleted.")
}
