package pages

import (
	"context"
	"encoding/base64"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

type factorView struct {
	page.Frame
	State           accounts.State
	HasPassword     bool // Iris keeps the password
	Problem         string
	PasswordProblem page.Refusal
}

// show shows the reader's password and second factor.
func (a *Account) show(rw http.ResponseWriter, r *http.Request) {
	a.renderLogin(rw, r, http.StatusOK, page.Refusal{})
}

// renderLogin shows the page again with the problem of the form that was sent.
func (a *Account) renderLogin(rw http.ResponseWriter, r *http.Request, status int, problem page.Refusal) {
	v := factorView{Frame: a.pages.Frame(r, "Log-in", "account")}
	if r.URL.Path == passwordPath {
		v.PasswordProblem = problem
	} else {
		v.Problem = problem.Text
	}
	var err error
	if v.State, err = a.factors.State(r.Context(), page.Reader(r)); err == nil {
		v.HasPassword, err = a.Passwords.Kept(r.Context(), page.Reader(r))
	}
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	a.pages.Render(rw, r, status, "second-factor", v)
}

// confirmed checks the password of the reader. If it is wrong, it has answered.
func (a *Account) confirmed(rw http.ResponseWriter, r *http.Request) (users.User, bool) {
	reader := page.Reader(r)
	u, err := a.people.Authenticate(r.Context(), reader.Name, r.PostFormValue("password"))
	if err == nil && u.ID != reader.ID {
		err = fault.New(fault.Unauthenticated, "the password belongs to another person")
	}
	if err == nil {
		return u, true
	}
	if status, problem := Problem(rw, err); problem != "" {
		a.renderLogin(rw, r, status, page.Refusal{Field: "password", Text: problem})
	} else {
		a.pages.Fail(rw, r, err)
	}
	return u, false
}

// begin begins a set-up, which may replace a second factor.
func (a *Account) begin(rw http.ResponseWriter, r *http.Request) {
	u, ok := a.confirmed(rw, r)
	if !ok {
		return
	}
	p, err := a.factors.Begin(u)
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	a.sessions.Put(r.Context(), pendingSecret, p.Sealed)
	http.Redirect(rw, r, "/account/second-factor/set-up", http.StatusFound)
}

type setUpView struct {
	page.Frame
	QR, URL template.URL
	Secret  string
	To      string // of the form
	AtLogin bool
	Problem string
}

// renderSetUp shows the pending second factor of this session. If there is none, it begins one during a log-in;
// otherwise it redirects to the form that asks for the password.
func (a *Account) renderSetUp(rw http.ResponseWriter, r *http.Request, status int, u users.User, v setUpView) {
	ctx := r.Context()
	p, err := a.resume(ctx, u)
	if errors.Is(err, errNotBegun) {
		if !v.AtLogin {
			http.Redirect(rw, r, "/account/second-factor", http.StatusFound)
			return
		}
		if p, err = a.factors.Begin(u); err == nil {
			a.sessions.Put(ctx, pendingSecret, p.Sealed)
		}
	}
	if err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	v.Frame = page.Frame{Title: "Set up a second factor"}
	if !v.AtLogin {
		v.Frame = a.pages.Frame(r, v.Title, "account")
	}
	v.QR = template.URL("data:image/png;base64," + base64.StdEncoding.EncodeToString(p.QR))
	v.URL, v.Secret = template.URL(p.URL), p.Secret // an otpauth address that Begin built
	a.pages.Render(rw, r, status, "second-factor-set-up", v)
}

var errNotBegun = fault.New(fault.NotFound, "no set-up has begun")

func (a *Account) resume(ctx context.Context, u users.User) (accounts.Pending, error) {
	sealed := a.sessions.GetBytes(ctx, pendingSecret)
	if sealed == nil {
		return accounts.Pending{}, errNotBegun
	}
	return a.factors.Resume(u, sealed)
}

func (a *Account) showSetUp(rw http.ResponseWriter, r *http.Request) {
	a.renderSetUp(rw, r, http.StatusOK, page.Reader(r), setUpView{To: "/account/second-factor/set-up"})
}

func (a *Account) confirm(rw http.ResponseWriter, r *http.Request) {
	u := page.Reader(r)
	codes, err := a.store(r, u)
	a.finish(rw, r, u, codes, err, "/account/second-factor", setUpView{To: "/account/second-factor/set-up"})
}

// store stores the pending second factor of this session if the code is right.
func (a *Account) store(r *http.Request, u users.User) ([]string, error) {
	sealed := a.sessions.GetBytes(r.Context(), pendingSecret)
	if sealed == nil {
		return nil, errNotBegun
	}
	codes, err := a.factors.Confirm(r.Context(), u, sealed, r.PostFormValue("code"))
	if err == nil {
		a.sessions.Remove(r.Context(), pendingSecret)
	}
	return codes, err
}

type recoveryView struct {
	page.Frame
	Codes []string
	To    string // of the link that goes on
}

// finish shows the recovery codes, or the set-up again if the code was wrong.
func (a *Account) finish(rw http.ResponseWriter, r *http.Request, u users.User, codes []string, err error, to string, again setUpView) {
	switch {
	case err == nil:
		a.pages.Render(rw, r, http.StatusOK, "recovery-codes",
			recoveryView{page.Frame{Title: "Recovery codes", User: u.Name, ReadOnly: u.ReadOnly, Zone: u.TimeZone},
				codes, to})
	case errors.Is(err, accounts.ErrCode) || errors.Is(err, errNotBegun):
		if again.Problem = "The code is wrong. Check the clock of your phone, and type the newest code."; errors.Is(err, errNotBegun) {
			again.Problem = ""
		}
		a.renderSetUp(rw, r, http.StatusForbidden, u, again)
	default:
		a.pages.Fail(rw, r, err)
	}
}

// setUpAtLogin shows the set-up to a person who needs a second factor to log in.
func (a *Account) setUpAtLogin(rw http.ResponseWriter, r *http.Request) {
	if u, ok := a.mustSetUp(rw, r); ok {
		a.renderSetUp(rw, r, http.StatusOK, u, atLogin(r))
	}
}

func (a *Account) confirmAtLogin(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	u, ok := a.mustSetUp(rw, r)
	if !ok {
		return
	}
	codes, err := a.store(r, u)
	if err == nil {
		err = a.enter(r.Context(), u)
	}
	a.finish(rw, r, u, codes, err, next(r), atLogin(r))
}

func atLogin(r *http.Request) setUpView {
	return setUpView{To: "/login/second-factor/set-up?next=" + url.QueryEscape(next(r)), AtLogin: true}
}

// mustSetUp returns the person of a pending log-in who has no second factor. Somebody who has one is asked for a code:
// the password alone may not replace it.
func (a *Account) mustSetUp(rw http.ResponseWriter, r *http.Request) (users.User, bool) {
	u, ok := a.pending(rw, r)
	if !ok {
		return u, false
	}
	state, err := a.factors.State(r.Context(), u)
	switch {
	case err != nil:
		a.pages.Fail(rw, r, err)
	case state.On:
		http.Redirect(rw, r, "/login/second-factor?next="+url.QueryEscape(next(r)), http.StatusFound)
	default:
		return u, true
	}
	return u, false
}

func (a *Account) newRecovery(rw http.ResponseWriter, r *http.Request) {
	u, ok := a.confirmed(rw, r)
	if !ok {
		return
	}
	codes, err := a.factors.NewRecovery(r.Context(), u)
	a.finish(rw, r, u, codes, err, "/account/second-factor", setUpView{})
}

func (a *Account) remove(rw http.ResponseWriter, r *http.Request) {
	u, ok := a.confirmed(rw, r)
	if !ok {
		return
	}
	if err := a.factors.Remove(r.Context(), u); err != nil {
		a.pages.Fail(rw, r, err)
		return
	}
	a.sessions.Put(r.Context(), "flash", "Your second factor is removed. The password alone logs you in.")
	http.Redirect(rw, r, "/account/second-factor", http.StatusFound)
}
