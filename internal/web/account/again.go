package account

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/signon"
	"github.com/iris-oncall/iris/internal/wire"
)

type againView struct {
	page.Frame
	Action, Problem string
	Fields          []page.Field
	Providers       []provider
}

type provider struct{ Label, Href string }

// confirmed is the parameter of the address to which that form is sent.
const confirmed = "confirmed"

// Again returns a middleware that admits a form if it is not dangerous (auth.NeedsRecentLogin), if the log-in is at most within old (0 = any), or
// if the form has the reader's password. Otherwise it shows a page that asks for the password or a log-in at one of the providers, and sends the
// form again. The form must be read (page.Pages.ReadForm). It also shows that page when an API refuses a form for this reason (page.Pages.LogInAgain).
func (a *Account) Again(within time.Duration, providers []signon.Choice) func(http.Handler) http.Handler {
	g := guard{a, within, providers}
	a.pages.LogInAgain = func(rw http.ResponseWriter, r *http.Request) {
		g.askAgain(rw, r, http.StatusForbidden, "")
	}
	return g.middleware
}

type guard struct {
	*Account
	within  time.Duration
	choices []signon.Choice
}

func (g guard) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		needed := auth.NeedsRecentLogin(r.Method, r.URL.Path, page.Reader(r).Admin) && !wire.LoggedInWithin(r.Context(), g.sessions, g.within)
		if !needed && (r.Method != http.MethodPost || !r.URL.Query().Has(confirmed)) {
			next.ServeHTTP(rw, r)
			return
		}
		typed := r.PostForm.Get(page.ConfirmPassword)
		switch {
		case typed == "" && needed:
			g.askAgain(rw, r, http.StatusForbidden, "")
			return
		case typed == "": // after a log-in at a provider
			next.ServeHTTP(rw, r)
			return
		}
		reader := page.Reader(r)
		u, err := g.people.Authenticate(r.Context(), reader.Name, typed)
		switch {
		case err == nil && u.ID == reader.ID:
			wire.ConfirmLogin(r.Context(), g.sessions, time.Now())
			r.PostForm.Del(page.ConfirmPassword)
			r.Form.Del(page.ConfirmPassword)
			next.ServeHTTP(rw, r)
		case err == nil, fault.Is(err, fault.Unauthenticated):
			g.askAgain(rw, r, http.StatusForbidden, "The password is wrong.")
		case fault.Is(err, fault.Throttled), fault.Is(err, fault.Unavailable):
			g.askAgain(rw, r, wire.Status(err), "The password cannot be checked now: "+fault.Public(err)+". Wait a moment and try again.")
		default:
			g.pages.Fail(rw, r, err)
		}
	})
}

func (g guard) askAgain(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	v := againView{Frame: g.pages.Frame(r, "Confirm that it is you", ""), Problem: problem}
	query := r.URL.Query()
	query.Set(confirmed, "")
	v.Action = r.URL.EscapedPath() + "?" + query.Encode()
	r.PostForm.Del(page.ConfirmPassword)
	v.Fields = page.Fields(r.PostForm)
	for _, c := range g.choices {
		v.Providers = append(v.Providers, provider{c.Label, "/login/sso/" + url.PathEscape(c.Name) + "?again=1&next=" + url.QueryEscape(back(r))})
	}
	g.pages.Render(rw, r, status, "again", v)
}

// back is the page to which a log-in in another tab leads.
func back(r *http.Request) string {
	if strings.HasPrefix(r.URL.Path, "/login/") {
		return "/sessions"
	}
	return "/" + strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")[0]
}
