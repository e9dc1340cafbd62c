package pages

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

type againView struct {
	page.Frame
	Action, Problem string
	Fields          []page.Field
	Providers       []provider
}

type provider struct{ Label, Href string }

// Again shows a page that asks for the password or a log-in at one of the providers when a form is refused because its
// change needs a recent log-in (auth.Confirmed, page.Pages.LogInAgain). That page sends the form again. Again returns
// the middleware that checks the password in such a form. The form must be read (page.Pages.ReadForm).
func (a *Account) Again(providers []signon.Choice) func(http.Handler) http.Handler {
	g := guard{a, providers}
	a.pages.LogInAgain = func(rw http.ResponseWriter, r *http.Request) {
		g.askAgain(rw, r, http.StatusForbidden, "")
	}
	return g.middleware
}

type guard struct {
	*Account
	choices []signon.Choice
}

func (g guard) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		typed := r.PostForm.Get(page.ConfirmPassword)
		if typed == "" {
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
			actor := wire.Actor(r.Context())
			actor.OldLogin = false
			next.ServeHTTP(rw, r.WithContext(wire.WithActor(r.Context(), actor, auth.Application{})))
		case err == nil, fault.Is(err, fault.Unauthenticated):
			g.askAgain(rw, r, http.StatusForbidden, "The password is wrong.")
		case fault.Is(err, fault.Throttled), fault.Is(err, fault.Unavailable):
			g.askAgain(rw, r, wire.Status(err), "The password cannot be checked now: "+fault.Public(err)+
				". Wait a moment and try again.")
		default:
			g.pages.Fail(rw, r, err)
		}
	})
}

func (g guard) askAgain(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	v := againView{Frame: g.pages.Frame(r, "Confirm that it is you", ""), Problem: problem}
	v.Action = r.URL.RequestURI()
	r.PostForm.Del(page.ConfirmPassword)
	v.Fields = page.Fields(r.PostForm)
	for _, c := range g.choices {
		v.Providers = append(v.Providers, provider{c.Label, "/login/sso/" + url.PathEscape(c.Name) + "?again=1&next=" +
			url.QueryEscape(back(r))})
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
