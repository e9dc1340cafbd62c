// This file serves the pages about a person's own log-in: the second factor after the password, and its set-up. Package
// site calls it when a password is right. The rules are in internal/auth/accounts.

package pages

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/accounts"
	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// People checks passwords and finds people by name.
type People interface {
	Authenticate(ctx context.Context, name, password string) (users.User, error)
	ByName(ctx context.Context, name string) (users.User, error)
}

// Tokens ends personal tokens.
type Tokens interface {
	// RevokeAll revokes all tokens of a person and returns how many there were.
	RevokeAll(ctx context.Context, u users.User) (int, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Factors   *accounts.Factors
	Passwords accounts.Passwords
	Resets    accounts.Resets
	// Invitations must accept, too.
	Invitations    accounts.Invitations
	Administration *accounts.Administration
	// Tokens has the personal tokens, which a person may end with a new password.
	Tokens Tokens
	// Mails reports whether Iris can send mails now.
	Mails func(ctx context.Context) (bool, error)
	// Pause is how long the answer to a forgotten password takes at least, so that its time does not reveal whether
	// there is such a person.
	Pause time.Duration `optional:"true"`
}

// Account serves the pages. It is safe for concurrent use.
type Account struct {
	Deps
	factors  *accounts.Factors
	log      *zap.Logger
	people   People
	sessions *scs.SessionManager
	pages    *page.Pages
	userKey  string
}

// New returns the pages. userKey is the session key of the logged-in person's name.
func New(d Deps, people People, pages *page.Pages, userKey string, log *zap.Logger) *Account {
	return &Account{Deps: d, log: log, factors: d.Factors, people: people, sessions: pages.Sessions, pages: pages,
		userKey: userKey}
}

// LoginRoutes mounts the routes for people whose password was right. They need loaded sessions.
func (a *Account) LoginRoutes(r chi.Router) {
	page.Get(r, "/login/second-factor", a.ask)
	r.Post("/login/second-factor", a.answer)
	page.Get(r, "/login/second-factor/set-up", a.setUpAtLogin)
	r.Post("/login/second-factor/set-up", a.confirmAtLogin)
	a.passwordRoutes(r)
	page.Get(r, "/invitation/{token}", a.showInvitation)
	r.Post("/invitation/{token}", a.accept)
}

// Routes mounts the routes for people who are logged in.
func (a *Account) Routes(r chi.Router) {
	page.Get(r, "/account/second-factor", a.show)
	r.Post(passwordPath, a.changePassword)
	page.Get(r, "/account/second-factor/set-up", a.showSetUp)
	r.Post("/account/second-factor", a.begin)
	r.Post("/account/second-factor/set-up", a.confirm)
	r.Post("/account/second-factor/recovery-codes", a.newRecovery)
	r.Post("/account/second-factor/remove", a.remove)
	page.Get(r, "/invitations", a.invitations)
	r.Post("/invitations", a.invite)
	r.Post("/invitations/{invitation}/send", a.resend)
	r.Post("/invitations/{invitation}/revoke", a.revoke)
}

// Keys of a session between the password and the second factor, and of a set-up that is not confirmed.
const (
	pendingName   = "pending_user"
	pendingID     = "pending_user_id"
	pendingEpoch  = "pending_login_epoch"
	pendingUntil  = "pending_until"
	pendingSecret = "pending_second_factor" // sealed
)

// pendingLife is how long a person has between the password and the end of the log-in.
const pendingLife = 10 * time.Minute

// maxForm is the largest form of somebody who has not logged in, in bytes.
const maxForm = 16 << 10

// byPassword says how a session began.
const byPassword = "password"

// Enter begins the session of a person whose password was right, or asks for the second factor first. It returns where
// the browser goes on to; next is where the person wants to go.
func (a *Account) Enter(r *http.Request, u users.User, next string) (to string, err error) {
	ctx := r.Context()
	state, err := a.factors.State(ctx, u)
	if err != nil {
		return "", err
	}
	if !state.On && !state.Required {
		_, err := wire.BeginSession(ctx, a.sessions, a.userKey, u, byPassword, time.Now())
		return next, err
	}
	// The session of a person who was logged in in this browser ends.
	if err := a.sessions.Clear(ctx); err != nil {
		return "", err
	}
	if err := a.sessions.RenewToken(ctx); err != nil {
		return "", err
	}
	a.sessions.Put(ctx, pendingName, u.Name)
	a.sessions.Put(ctx, pendingID, int64(u.ID))
	a.sessions.Put(ctx, pendingEpoch, u.LoginEpoch)
	a.sessions.Put(ctx, pendingUntil, time.Now().Add(pendingLife).Unix())
	to = "/login/second-factor"
	if !state.On {
		to += "/set-up"
	}
	return to + "?next=" + url.QueryEscape(next), nil
}

// Refusals of log-ins by programs.
var (
	errCodeNeeded = &fault.Error{Kind: fault.Unauthenticated, Message: "Second factor required",
		Detail: "send the code in the field second_factor"}
	errCodeWrong = &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure",
		Detail: "the code of the second factor is wrong, or was used already"}
	errSetUpFirst = &fault.Error{Kind: fault.Unauthenticated, Message: "Second factor required",
		Detail: "log in on the page of Iris and set up a second factor"}
)

// Check checks the second factor of a person whose password was right, for log-ins that consist of one request. code is
// "" if the request has none.
func (a *Account) Check(ctx context.Context, u users.User, code string) error {
	state, err := a.factors.State(ctx, u)
	switch {
	case err != nil:
		return err
	case !state.On && state.Required:
		return errSetUpFirst
	case !state.On:
		return nil
	case code == "":
		return errCodeNeeded
	}
	err = a.factors.Check(ctx, u, code)
	if errors.Is(err, accounts.ErrCode) {
		return errCodeWrong
	}
	return err
}

// pending returns the person of this session whose password was right. If there is none, it has redirected to the
// log-in.
func (a *Account) pending(rw http.ResponseWriter, r *http.Request) (u users.User, ok bool) {
	ctx := r.Context()
	if name := a.sessions.GetString(ctx, pendingName); name != "" && time.Now().Unix() < a.sessions.GetInt64(ctx, pendingUntil) {
		u, err := a.people.ByName(ctx, name)
		switch {
		case err != nil && !fault.Is(err, fault.NotFound):
			a.pages.Fail(rw, r, err)
			return u, false
		case err == nil && u.Active && int64(u.ID) == a.sessions.GetInt64(ctx, pendingID) &&
			u.LoginEpoch == a.sessions.GetInt(ctx, pendingEpoch):
			return u, true
		}
	}
	a.forget(ctx)
	a.sessions.Put(ctx, "flash", "The log-in took too long. Begin again.")
	http.Redirect(rw, r, "/login/?next="+url.QueryEscape(next(r)), http.StatusFound)
	return users.User{}, false
}

func (a *Account) forget(ctx context.Context) {
	for _, key := range []string{pendingName, pendingID, pendingEpoch, pendingUntil, pendingSecret} {
		a.sessions.Remove(ctx, key)
	}
}

// enter ends the pending log-in and begins the session.
func (a *Account) enter(ctx context.Context, u users.User) error {
	a.forget(ctx)
	_, err := wire.BeginSession(ctx, a.sessions, a.userKey, u, byPassword, time.Now())
	return err
}

// next returns where the person wants to go.
func next(r *http.Request) string {
	if to := r.URL.Query().Get("next"); signon.LocalPath(to) {
		return to
	}
	return "/"
}

type askView struct {
	page.Frame
	Next, Problem string
}

func (a *Account) ask(rw http.ResponseWriter, r *http.Request) {
	if u, ok := a.pending(rw, r); ok && !a.toSetUp(rw, r, u) {
		a.renderAsk(rw, r, http.StatusOK, "")
	}
}

func (a *Account) renderAsk(rw http.ResponseWriter, r *http.Request, status int, problem string) {
	a.pages.Render(rw, r, status, "second-factor-ask", askView{page.Frame{Title: "Second factor"}, next(r), problem})
}

// toSetUp redirects a person without a second factor to the set-up, and reports whether it has answered.
func (a *Account) toSetUp(rw http.ResponseWriter, r *http.Request, u users.User) bool {
	state, err := a.factors.State(r.Context(), u)
	if err != nil {
		a.pages.Fail(rw, r, err)
		return true
	}
	if !state.On {
		http.Redirect(rw, r, "/login/second-factor/set-up?next="+url.QueryEscape(next(r)), http.StatusFound)
	}
	return !state.On
}

func (a *Account) answer(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	u, ok := a.pending(rw, r)
	if !ok {
		return
	}
	err := a.factors.Check(r.Context(), u, r.PostFormValue("code"))
	if err == nil {
		err = a.enter(r.Context(), u)
	}
	status, problem := Problem(rw, err)
	switch {
	case err == nil:
		http.Redirect(rw, r, next(r), http.StatusFound)
	case errors.Is(err, accounts.ErrNoFactor): // an administrator removed it meanwhile: the log-in begins again
		a.forget(r.Context())
		http.Redirect(rw, r, "/login/?next="+url.QueryEscape(next(r)), http.StatusFound)
	case problem == "":
		a.pages.Fail(rw, r, err)
	default:
		a.renderAsk(rw, r, status, problem)
	}
}

// Problem returns the status and the text about a refused password or code for the form that had it; "" = the error is
// something else. It sets Retry-After if the person must wait.
func Problem(rw http.ResponseWriter, err error) (status int, text string) {
	var f *fault.Error
	switch {
	case errors.Is(err, accounts.ErrCode):
		return http.StatusForbidden, "The code is wrong, or was used already. Wait for the next one."
	case fault.Is(err, fault.Unauthenticated):
		return http.StatusForbidden, "The password is wrong."
	case fault.Is(err, fault.Throttled) && errors.As(err, &f):
		wait := int((f.RetryAfter + time.Second - 1) / time.Second)
		rw.Header().Set("Retry-After", fmt.Sprint(wait))
		return http.StatusTooManyRequests, fmt.Sprintf("Too many attempts. Wait %d seconds and try again.", wait)
	}
	return 0, ""
}
