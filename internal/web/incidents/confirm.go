package incidents

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// labels returns the texts of the buttons by the last part of their form's address.
func labels() map[string]string {
	return map[string]string{"acknowledge": "Acknowledge", "reopen": "Escalate again", "resolve": "Resolve"}
}

// confirmation is a page that asks for confirmation, or offers a change again that was not made. Its form keeps the entered values.
type confirmation struct {
	page.Frame
	Problem string
	LogIn   string // address of the log-in page, opened in another tab; "" = the reader is logged in
	ID      incidents.ID
	Verb    string // the last part of the form's address
	Label   string
	Content string // of a comment
	Replace users.ID
	Back    string
	Leave   string // text of the link that leaves without the change
}

func (h Handlers) confirm(rw http.ResponseWriter, r *http.Request, status int, c confirmation) {
	h.Pages.Render(rw, r, status, "confirm", c)
}

// RefuseChange answers a change of an incident that came without a session. After the log-in the change is offered again; it is
// not carried out by itself. RefuseChange returns false for any other request.
func (h Handlers) RefuseChange(rw http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodPost || len(parts) != 3 || parts[0] != "incidents" {
		return false
	}
	id, err := incidentID(r)
	if err != nil {
		return false
	}
	incident, verb := "/incidents/"+parts[1], parts[2]
	if labels()[verb] != "" {
		offer := incident + "?" + url.Values{"offer": {verb}}.Encode()
		http.Redirect(rw, r, "/login/?next="+url.QueryEscape(offer), http.StatusSeeOther)
		return true
	}
	if verb != "comments" {
		return false
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxCommentForm)
	h.confirm(rw, r, http.StatusUnauthorized, confirmation{
		Frame: page.Frame{Title: "Your session has ended"}, LogIn: "/login/?next=" + url.QueryEscape(incident), ID: id,
		Problem: "Your comment was not saved. It is still here: log in, then add it.",
		Verb:    verb, Label: "Add comment", Content: r.PostFormValue("content"),
	})
	return true
}

// LostChange returns the text for the log-in page about a change that was not made. next is the page that follows the log-in; if
// it does not offer such a change, LostChange returns "".
func LostChange(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return ""
	}
	label := labels()[u.Query().Get("offer")]
	id, ok := strings.CutPrefix(u.Path, "/incidents/")
	if label == "" || !ok {
		return ""
	}
	return fmt.Sprintf("Your session has ended, and incident %s was not changed. After the log-in you can press “%s” again.", id, label)
}

// offer is a change that was not made because the session had ended.
type offer struct {
	Verb, Label string
	Possible    bool
}

func offered(r *http.Request, i incidentView) *offer {
	verb := r.URL.Query().Get("offer")
	label := labels()[verb]
	if label == "" {
		return nil
	}
	possible := map[string]bool{"acknowledge": !i.Resolved, "reopen": i.CanReopen, "resolve": i.CanResolve}
	return &offer{verb, label, possible[verb]}
}

// failChange answers a change that failed. If the change can succeed later, the page offers it again.
func (h Handlers) failChange(rw http.ResponseWriter, r *http.Request, err error, c confirmation) {
	status := http.StatusBadRequest
	switch {
	case fault.Is(err, fault.Unavailable):
		status, c.Problem = http.StatusServiceUnavailable, "The database cannot be reached. "+page.DatabaseUnavailable
		rw.Header().Set("Retry-After", "5")
	case fault.Is(err, fault.Invalid) && c.Verb == "comments":
		c.Problem = fault.Public(err)
	default:
		h.Pages.Fail(rw, r, err)
		return
	}
	c.Frame, c.Leave = h.Pages.Frame(r, "Nothing was changed", "incidents"), "Back to the incident"
	h.confirm(rw, r, status, c)
}

// confirmTakeover asks the reader before an incident is taken over from the person who acknowledged it.
func (h Handlers) confirmTakeover(rw http.ResponseWriter, r *http.Request, done incidents.Acknowledged, back string) {
	h.confirm(rw, r, http.StatusConflict, confirmation{
		Frame:   h.Pages.Frame(r, done.PreviousOwner+" has acknowledged this incident", "incidents"),
		Problem: "Nobody is paged for it any more. You can take it over; the timeline will say so.",
		ID:      done.ID, Verb: "acknowledge", Label: "Take over from " + done.PreviousOwner, Replace: done.OwnedBy, Back: back,
		Leave: "Leave it to " + done.PreviousOwner,
	})
}
