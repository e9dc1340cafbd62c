package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// verbs are the changes of an incident that a page offers again after a log-in, with the texts of their buttons.
var verbs = map[string]string{"acknowledge": "Acknowledge", "reopen": "Escalate again", "resolve": "Resolve"}

// again is a page that asks before a change, or offers a change again that was not made. Its form keeps what was entered.
type again struct {
	frame
	Problem string
	// LogIn is where to log in, in another tab; "" = the reader is logged in.
	LogIn   string
	ID      incidents.ID
	Verb    string // the last part of the form's address
	Label   string
	Content string // of a comment
	Replace users.ID
	Back    string
	Leave   string // text of the link that leaves without the change
}

func (w *Web) showAgain(rw http.ResponseWriter, r *http.Request, status int, a again) {
	w.views.page(rw, r, w.d.Log, status, "again", a)
}

// offerPath is an incident's page that offers a change. The change itself needs a press on its button.
func offerPath(id, verb string) string {
	return "/incidents/" + id + "?" + url.Values{"offer": {verb}}.Encode()
}

// refusedChange answers a change that came without a session and offers it again after the log-in. It returns false for other requests.
func (w *Web) refusedChange(rw http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodPost || len(parts) != 3 || parts[0] != "incidents" {
		return false
	}
	id, err := incidentID(r)
	if err != nil {
		return false
	}
	if verbs[parts[2]] != "" {
		http.Redirect(rw, r, "/login/?next="+url.QueryEscape(offerPath(parts[1], parts[2])), http.StatusSeeOther)
		return true
	}
	if parts[2] != "comments" {
		return false
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxCommentForm)
	w.showAgain(rw, r, http.StatusUnauthorized, again{
		frame: frame{Title: "Your session has ended"}, LogIn: "/login/?next=" + url.QueryEscape("/incidents/"+parts[1]), ID: id,
		Problem: "Your comment was not saved. It is still here: log in, then add it.",
		Verb:    "comments", Label: "Add comment", Content: r.PostFormValue("content"),
	})
	return true
}

// lostChange returns the text of the log-in page about the change that was not made, if next is a page that offers it.
func lostChange(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return ""
	}
	label := verbs[u.Query().Get("offer")]
	id, ok := strings.CutPrefix(u.Path, "/incidents/")
	if label == "" || !ok {
		return ""
	}
	return fmt.Sprintf("Your session has ended, and incident %s was not changed. Log in to be offered “%s” again.", id, label)
}

// offer is the change that was not made because the session had ended.
type offer struct {
	Verb, Label string
	Possible    bool
}

func offered(r *http.Request, i incidentView) *offer {
	verb := r.URL.Query().Get("offer")
	if verbs[verb] == "" {
		return nil
	}
	possible := map[string]bool{"acknowledge": !i.Resolved, "reopen": i.CanReopen, "resolve": i.CanResolve}
	return &offer{verb, verbs[verb], possible[verb]}
}

// failChange answers a change that failed, and offers it again if it may succeed then.
func (w *Web) failChange(rw http.ResponseWriter, r *http.Request, err error, a again) {
	a.frame, a.Leave = w.frame(r, "Nothing was changed", "incidents"), "Back to the incident"
	status := http.StatusBadRequest
	switch fault.KindOf(err) {
	case fault.Unavailable:
		status, a.Problem = http.StatusServiceUnavailable, "The database cannot be reached. "+databaseAway
		rw.Header().Set("Retry-After", "5")
	case fault.Invalid:
		a.Problem = fault.Public(err)
		if a.Verb != "comments" { // a repetition fails too
			w.fail(rw, r, err)
			return
		}
	default:
		w.fail(rw, r, err)
		return
	}
	w.showAgain(rw, r, status, a)
}

// askFirst asks before taking over an incident that another person acknowledged.
func (w *Web) askFirst(rw http.ResponseWriter, r *http.Request, done incidents.Acknowledged, back string) {
	w.showAgain(rw, r, http.StatusConflict, again{
		frame:   w.frame(r, done.PreviousOwner+" has acknowledged this incident", "incidents"),
		Problem: "Nobody is paged for it any more. You can take it over; the timeline will say so.",
		ID:      done.ID, Verb: "acknowledge", Label: "Take over from " + done.PreviousOwner, Replace: done.OwnedBy, Back: back,
		Leave: "Leave it to " + done.PreviousOwner,
	})
}
