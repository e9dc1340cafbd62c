package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
)

// RefuseChange answers an acknowledgement that came without a session. After the log-in it is offered again; it is not
// carried out by itself. RefuseChange returns false for any other request: page.Pages.KeepForm keeps the values of
// other forms.
func (h Handlers) RefuseChange(rw http.ResponseWriter, r *http.Request) bool {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if r.Method != http.MethodPost || len(parts) != 3 || parts[0] != "incidents" || parts[2] != "acknowledge" {
		return false
	}
	if _, err := incidentID(r); err != nil {
		return false
	}
	offer := "/incidents/" + parts[1] + "?" + url.Values{"offer": {"acknowledge"}}.Encode()
	http.Redirect(rw, r, "/login/?next="+url.QueryEscape(offer), http.StatusSeeOther)
	return true
}

// LostChange returns the text for the log-in page about an acknowledgement that was not made. next is the page that
// follows the log-in; if it does not offer the acknowledgement, LostChange returns "".
func LostChange(next string) string {
	u, err := url.Parse(next)
	if err != nil {
		return ""
	}
	id, ok := strings.CutPrefix(u.Path, "/incidents/")
	if !ok || u.Query().Get("offer") != "acknowledge" {
		return ""
	}
	return fmt.Sprintf("Your session has ended, and incident %s was not changed. After the log-in you can press “Acknowledge” again.", id)
}

// failChange answers a change that failed. If a value is wrong or the state of the incident does not permit the change,
// the page of the incident shows the reason and what was typed.
func (h Handlers) failChange(rw http.ResponseWriter, r *http.Request, id incidents.ID, err error) {
	if !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.Conflict) {
		h.Pages.Fail(rw, r, err)
		return
	}
	if refusal, ok := h.Pages.Refused(rw, r, err); ok {
		h.showIncident(rw, r, id, incidentPage{Refusal: refusal, Action: path.Base(r.URL.Path), Typed: r.PostForm})
	}
}

// confirmTakeover asks the reader before an incident is taken over from the person who acknowledged it.
func (h Handlers) confirmTakeover(rw http.ResponseWriter, r *http.Request, id incidents.ID, owned *incidents.OwnedError) {
	r.PostForm.Set("replace", fmt.Sprint(owned.Owner))
	h.Pages.Render(rw, r, http.StatusConflict, "confirm", page.Offer{
		Frame:   h.Pages.Frame(r, owned.Name+" has acknowledged this incident", "incidents"),
		Problem: "Nobody is paged for it any more. You can take it over; the timeline will say so.",
		Action:  r.URL.Path, Fields: page.Fields(r.PostForm), Label: "Take over from " + owned.Name,
		Leave: "Leave it to " + owned.Name, Back: fmt.Sprintf("/incidents/%d", id),
	})
}
