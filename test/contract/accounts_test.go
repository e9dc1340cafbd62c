package contract

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
)

// The link of a mail for a new password begins with the configured address, and nobody can read its secret in the
// queue. A used link ends the sessions.
func TestPasswordReset(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	s.exec(`update user_contacts set verified_destination = destination, recovery_destination = destination
		where mode = 'email' and user_id = (select id from users where name = 'bob')`)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/login/password",
		strings.NewReader(formOf("login", "bob")))
	require.NoError(t, err)
	r.Host = "evil.test"
	r.Header.Set("X-Forwarded-Host", "evil.test")
	r.Header.Set(form[0], form[1])
	resp, err := browser(t).Do(r)
	require.NoError(t, err)
	known, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	unknown := s.do(anonymous, post, "/login/password", formOf("login", "nobody"), form...).is(200).body
	require.Equal(t, unknown, string(known))
	stored := s.text("select body from notification_requests where subject = 'Iris: set a new password'")
	require.Regexp(t, regexp.QuoteMeta(s.url)+"/login/password/iris-sealed-[0-9a-f]{100,}\n", stored)
	require.NotRegexp(t, "[A-Z2-7]{26}", stored)
	require.NotContains(t, stored, "evil")

	s.do(bob, get, "/v1/tokens", nil).is(200)
	token := "TOKEN"
	s.exec(fmt.Sprintf(`update password_resets set hash = '\x%x'`, sha256.Sum256([]byte(token))))
	require.Contains(t, s.do(anonymous, get, "/login/password/"+token, nil).is(200).body, `value="bob"`)
	fresh := "a new password"
	s.do(anonymous, post, "/login/password/"+token, formOf("password", fresh, "again", fresh), form...).is(200)
	s.do(anonymous, post, "/login/password/"+token, formOf("password", fresh, "again", fresh), form...).is(404)
	s.do(anonymous, post, "/login", formOf("username", "bob", "password", password), form...).is(401)
	s.do(anonymous, post, "/login", formOf("username", "bob", "password", fresh), form...).is(200)
	require.Equal(t, "1", s.text("select count(*)::text from notification_requests where subject = 'Iris: your password was changed'"))
	s.do(bob, get, "/v1/tokens", nil).is(401)
}

// Under the policy, the password of an administrator alone begins no session, also of clients that log in with JSON.
// The operator's command removes a lost second factor.
func TestSecondFactorByPolicy(t *testing.T) {
	t.Parallel()
	s := newServer(t, configured(t, "auth: {second_factor: admins}\n"))
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	to := s.do(anonymous, post, "/login/?next=/plans", formOf("username", "root", "password", password),
		form...).is(302).header.Get("Location")
	require.Equal(t, "/login/second-factor/set-up?next=%2Fplans", to)
	require.Contains(t, s.do(anonymous, post, "/login", formOf("username", "root", "password", password),
		form...).is(401).body, "set up a second factor")
	s.do(anonymous, post, "/login", formOf("username", "bob", "password", password), form...).is(200)
	withFactor(s)
	require.Contains(t, s.do(anonymous, post, "/login", formOf("username", "bob", "password", password),
		form...).is(401).body, "second_factor")
	s.iris([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "IRIS_DATABASE_URL=" +
		s.db.Config().ConnString()}, "", "user", "remove-factor", "BOB")
	s.do(anonymous, post, "/login", formOf("username", "bob", "password", password), form...).is(200)
	require.Equal(t, "second factor removed user bob",
		s.text("select action || ' ' || object from audit_log where actor_kind = 'operator' order by id desc limit 1"))
}

// People set up, renew and remove their second factor on pages, with their password.
func TestOwnSecondFactor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	s.do(bob, post, "/account/second-factor", formOf("password", password), form...).is(302)
	found := regexp.MustCompile(`class="mono secret">([A-Z2-7]+)<`).FindStringSubmatch(s.do(bob, get,
		"/account/second-factor/set-up", nil).is(200).body)
	require.Len(t, found, 2)
	code, err := totp.GenerateCode(found[1], time.Now())
	require.NoError(t, err)
	require.Contains(t, s.do(bob, post, "/account/second-factor/set-up", formOf("code", code), form...).is(200).body,
		"Recovery codes")
	require.Contains(t, s.do(bob, post, "/account/second-factor/recovery-codes", formOf("password", password),
		form...).is(200).body, "Recovery codes")
	s.do(bob, post, "/account/second-factor/remove", formOf("password", password), form...).is(302)
	require.Zero(t, s.number("select count(*) from second_factors"))
	require.Equal(t, "person bob", s.text("select distinct actor_kind || ' ' || actor from audit_log where action like 'second factor%'"))
}

// People change their password with the old one. Their other sessions end, and this one goes on.
func TestOwnPassword(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const at, other = "/account/password", "correct horse battery"
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	s.join("dora")
	dora := caller{name: "dora", session: "dora"}
	second, _, _ := s.logIn("dora")
	elsewhere := func() int {
		r, err := second.Get(s.url + "/v1/incidents")
		require.NoError(t, err)
		defer r.Body.Close()
		return r.StatusCode
	}
	for want, typed := range map[string]string{
		"The password is wrong":    formOf("password", "guess", "new_password", other, "again", other),
		"The new passwords differ": formOf("password", password, "new_password", other, "again", "other one"),
		"at least 8":               formOf("password", password, "new_password", "short", "again", "short"),
	} {
		a := s.do(dora, post, at, typed, form...)
		require.Contains(t, []int{403, 422}, a.status)
		require.Contains(t, a.body, want)
		require.NotContains(t, a.body, other)
	}
	require.Equal(t, 200, elsewhere())
	s.do(dora, post, at, formOf("password", password, "new_password", other, "again", other), form...).is(303)
	require.Contains(t, s.do(dora, get, "/account/second-factor", nil).is(200).body, "Your password is changed")
	require.Equal(t, 401, elsewhere())
	s.do(anonymous, post, "/login", formOf("username", "dora", "password", password), form...).is(401)
	s.do(anonymous, post, "/login", formOf("username", "dora", "password", other), form...).is(200)
	require.Equal(t, "password set by person dora",
		s.text("select action || ' by ' || actor_kind || ' ' || actor from audit_log where object = 'user dora' and action like 'password%'"))
}

// An invited person creates the account with the link of the mail, which nobody can read in the queue.
func TestInvitation(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	made := s.do(admin, post, "/v1/invitations", m{"name": "zoe", "email": "zoe@example.com",
		"teams": []string{"ops"}}).is(201)
	require.NotContains(t, made.body, "token")
	require.Equal(t, 409, s.do(admin, post, "/v1/invitations", m{"name": "ZOE", "email": "zoe@example.com"}).status,
		"invited already")
	require.Equal(t, 409, s.do(admin, post, "/v1/invitations", m{"name": "bob", "email": "b@example.com"}).status,
		"a person has the name")
	for field, wrong := range map[string]any{"name": " ", "email": "zoe", "role": "root", "teams": []string{"nix"}} {
		body := m{"name": "yan", "email": "yan@example.com"}
		body[field] = wrong
		a := s.do(admin, post, "/v1/invitations", body)
		require.Equal(t, 400, a.status, a.body)
		require.Contains(t, a.body, field)
	}
	stored := s.text("select body from notification_requests where subject = 'Iris: invitation'")
	require.Regexp(t, regexp.QuoteMeta(s.url)+"/invitation/iris-sealed-[0-9a-f]{100,}\n", stored)
	require.NotRegexp(t, "[A-Z2-7]{26}", stored)

	s.exec(fmt.Sprintf(`update invitations set hash = '\x%x' where name = 'zoe'`, sha256.Sum256([]byte("TOKEN"))))
	require.Contains(t, s.do(anonymous, get, "/invitation/TOKEN", nil).is(200).body, `value="zoe"`)
	s.do(anonymous, post, "/invitation/TOKEN", formOf("password", "short", "again", "short"), form...).is(422)
	s.do(anonymous, post, "/invitation/TOKEN", formOf("password", password, "again", password), form...).is(303)
	s.do(anonymous, post, "/invitation/TOKEN", formOf("password", password, "again", password), form...).is(404)
	s.do(anonymous, post, "/login", formOf("username", "zoe", "password", password), form...).is(200)
	require.NotContains(t, s.do(admin, get, "/v1/invitations", nil).is(200).body, "zoe",
		"an accepted invitation is over")
	require.Contains(t, s.do(admin, get, "/v1/users/zoe", nil).is(200).body, `"ops"`)
}
