package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/auth/tokens"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// asked is what a command line asks for with the address that it opens in the browser.
type asked struct {
	tokens.Grant
	Port  int    // of its listener on the loopback interface
	State string // it gets back the same text
}

// maxState is the longest state, in bytes.
const maxState = 512

// readAsked reads the parameters. Only the loopback interface can be the destination: the request names no host.
func readAsked(field func(name string) string) (a asked, err error) {
	const lowest, highest = 1024, 65535
	if a.Port, err = strconv.Atoi(field("port")); err != nil || a.Port < lowest || a.Port > highest {
		return a, fault.Invalidf("port", "port must be between %d and %d", lowest, highest)
	}
	if a.State = field("state"); a.State == "" || len(a.State) > maxState {
		return a, fault.Invalidf("state", "state must have 1 to %d bytes", maxState)
	}
	a.Name, a.Challenge = page.Storable(strings.TrimSpace(field("name"))), field("challenge")
	var names []string
	if list := field("scopes"); list != "" {
		names = strings.Split(list, ",")
	}
	if a.Scopes, err = tokens.ParseScopes(names); err != nil {
		return a, err
	}
	return a, a.Check()
}

// address returns where the browser takes the answer.
func (a asked) address(key, value string) string {
	return fmt.Sprintf("http://127.0.0.1:%d/?%s", a.Port, url.Values{key: {value}, "state": {a.State}}.Encode())
}

type allowView struct {
	page.Frame
	asked
	List  string // the scopes, as the form sends them
	Rules []scope
	Life  string
}

// askPerson asks the reader whether a command line gets a token.
func (h TokenPages) askPerson(rw http.ResponseWriter, r *http.Request) {
	a, err := readAsked(r.URL.Query().Get)
	if err == nil {
		err = wire.Actor(r.Context()).MayWrite()
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := allowView{Frame: h.Pages.Frame(r, "Log in from the command line", ""), asked: a,
		Life: humanize.Age(tokens.UsualLife(h.Tokens.Most))}
	for _, one := range a.Scopes {
		v.Rules = append(v.Rules, described(one))
	}
	v.List = join(a.Scopes)
	// A browser applies form-action to the redirect of the answer too.
	rw.Header().Set("Content-Security-Policy", strings.Replace(rw.Header().Get("Content-Security-Policy"),
		"form-action 'self'",
		fmt.Sprintf("form-action 'self' http://127.0.0.1:%d", a.Port), 1))
	h.Pages.Render(rw, r, http.StatusOK, "command-line", v)
}

// answerCommandLine redirects to the command line, with a code if the reader allowed the token.
func (h TokenPages) answerCommandLine(rw http.ResponseWriter, r *http.Request) {
	a, err := readAsked(r.PostFormValue)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if r.PostFormValue("answer") != "allow" {
		http.Redirect(rw, r, a.address("error", "access_denied"), http.StatusSeeOther)
		return
	}
	// The command line exchanges the code without a session, so the change is checked here.
	if err := audit.Confirmed(audit.From(r.Context()), audit.Entry{Action: audit.TokenCreated}); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	reader, code := page.Reader(r), tokens.MakeCode()
	a.User, a.UserName = reader.ID, reader.Name
	if err := h.Grants.Add(r.Context(), tokens.HashCode(code), a.Grant); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, a.address("code", code), http.StatusSeeOther)
}
