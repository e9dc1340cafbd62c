package incidents

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// change changes one incident and redirects to the page that the reader came from.
func (h Handlers) change(rw http.ResponseWriter, r *http.Request, verb string, do func(context.Context, incidents.Change) ([]incidents.Acknowledged, error)) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	done, err := do(r.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: page.Reader(r).Name, Via: incidents.ViaWeb,
		AskFirst: true, Replace: users.ID(replace)})
	err = found(done, err)
	back := r.PostFormValue("back") // the list with the reader's filter
	if back != "/incidents" && !strings.HasPrefix(back, "/incidents?") {
		back = ""
	}
	if err != nil {
		h.failChange(rw, r, err, confirmation{ID: id, Verb: verb, Label: labels()[verb], Replace: users.ID(replace), Back: back})
		return
	}
	if done[0].OwnedBy != 0 {
		h.confirmTakeover(rw, r, done[0], back)
		return
	}
	h.Wake(buckets.Of(int(int64(id) % buckets.Count)))
	if back == "" {
		back = fmt.Sprintf("/incidents/%d", id)
	}
	http.Redirect(rw, r, back, http.StatusSeeOther)
}

func (h Handlers) acknowledge(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, "acknowledge", func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		return h.Transitions.Acknowledge(ctx, c, page.Reader(r))
	})
}

func (h Handlers) reopen(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, "reopen", h.Transitions.Reopen)
}

func (h Handlers) resolve(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, "resolve", func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		return h.Transitions.Resolve(ctx, c, true)
	})
}

// maxCommentForm is the largest form with a comment, in encoded bytes. It is well above the longest comment.
const maxCommentForm = 1 << 20

func (h Handlers) comment(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxCommentForm)
	id, err := incidentID(r)
	if err == nil && r.ParseForm() != nil {
		err = fault.Invalidf("content", "The comment is too long or cannot be read")
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	content := r.PostFormValue("content")
	if _, err := h.Transitions.AddComment(r.Context(), id, page.Reader(r), content); err != nil {
		h.failChange(rw, r, err, confirmation{ID: id, Verb: "comments", Label: "Add comment", Content: content})
		return
	}
	h.Pages.Sessions.Put(r.Context(), "commented", true)
	http.Redirect(rw, r, fmt.Sprintf("/incidents/%d", id), http.StatusSeeOther)
}
