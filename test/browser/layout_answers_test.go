//go:build browser

package browser

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// answer is a page that answers a form. TestLayout sends the form with these values from any page.
type answer struct {
	layoutPage
	form    string // as in the query of an address
	refused bool   // the form is shown again: the focus must be on the wrong field or on the reason
}

// answers lists the pages that answer forms of a person who is logged in, with the data of pages.
func (c *client) answers() []answer {
	c.t.Helper()
	fire(c.t, "taken by somebody else")
	taken := c.number("taken by somebody else")
	c.acknowledge(taken, "ana")
	incident := fmt.Sprintf("/incidents/%d", taken)
	long := url.QueryEscape(unbroken + " " + odd)
	plan, integration, template := "/plans/"+unbroken, "/integrations/"+unbroken, "/templates/t"+unbroken[:199]
	application := "/applications/a" + unbroken[:199]
	const problem = `#problem`
	return []answer{
		{layoutPage{"take-over", incident + "/acknowledge", `main a.button`}, "back=/incidents", false},
		{layoutPage{"confirm-log-in", "/tokens?confirmed=", `input[name=confirm_password]`}, "name=" + long +
			"&confirm_password=wrong", true},
		{layoutPage{"incident-new", "/incidents/new", problem}, "plan=none&application=demo&title=" + long, true},
		{layoutPage{"incident-reassign", incident + "/reassign", problem}, "owner=nobody", true},
		{layoutPage{"incident-snooze", incident + "/snooze", problem}, "for=at&until=soon", true},
		{layoutPage{"incident-merge", incident + "/merge", problem}, fmt.Sprintf("into=%d", taken), true},
		{layoutPage{"review-refused", incident + "/review/edit", problem}, "text=" + long + "&follow_ups=" + long + "&tags=" + long, true},
		{layoutPage{"review-preview", incident + "/review/edit", `#preview`}, "do=preview&title=" + long + "&text=%23+" + long, false},
		{layoutPage{"update-refused", incident + "/updates", problem}, "state=resolved&text=", true},
		{layoutPage{"update-preview", incident + "/updates", `#preview`}, "do=preview&state=resolved&text=" + long, false},
		{layoutPage{"subscription-refused", "/subscriptions", problem}, "team=" + long + "&mode=email", true},
		{layoutPage{"bulk", "/incidents/bulk", `main .flash`}, fmt.Sprintf("verb=acknowledge&id=%d&id=999999", taken),
			false},
		{layoutPage{"bulk-refused", "/incidents/bulk", `main h1`}, "verb=none", false},
		{layoutPage{"plan-refused", "/plans/new", problem}, "do=save&name=" + long + "&steps=1", true},
		{layoutPage{"plan-owner", plan + "/owner", problem}, "team=" + long, true},
		{layoutPage{"plan-tested", plan + "/test", problem}, "to=none&application=none", true},
		{layoutPage{"template-new", "/templates/new", problem}, "name=&application=demo&email.subject=x&email.body=" +
			long, true},
		{layoutPage{"template-refused", template + "/edit", problem}, "base=1&application=demo&sms.body=" +
			url.QueryEscape("{{ open "+unbroken), true},
		{layoutPage{"template-preview", template + "/edit", `.preview`}, "do=preview&application=demo&sms.body=" +
			long, false},
		{layoutPage{"integration-refused", "/add-integration?type=generic", problem},
			"type=generic&application=none&name=" + long, true},
		{layoutPage{"integration-settings", integration + "/settings", problem}, "name=" + unbroken +
			"&rate_per_minute=none", true},
		{layoutPage{"integration-mapping", integration + "/settings", `main .flash`}, "do=try&name=" + unbroken +
			"&rate_per_minute=1&settings.title=" + url.QueryEscape("{{ open") + "&payload={}", false},
		{layoutPage{"silence-refused", "/silences", problem}, "for=1h&comment=" + long, true},
		{layoutPage{"silence-preview", "/silences", `#hides p`}, "do=preview&for=1h&application=demo&comment=" + long,
			false},
		{layoutPage{"contact-refused", "/people/demo/contacts", problem}, "mode=webhook&destination=" + long, true},
		{layoutPage{"person-refused", "/people", problem}, "name=demo&full_name=" + long, true},
		{layoutPage{"role-refused", "/on-call-roles", problem}, "form=add&name=primary", true},
		{layoutPage{"application-refused", "/applications/new", problem}, "name=demo", true},
		{layoutPage{"application-settings", application + "/edit", problem}, "variables=" + long +
			"&sample_context=none", true},
		{layoutPage{"application-quota", application + "/quota", problem},
			"soft_threshold=1&hard_threshold=none&target=" + long, true},
		{layoutPage{"purge-refused", "/system/purge", problem}, "reason=&application=none", true},
		{layoutPage{"token-refused", "/tokens", problem}, "name=" + long, true},
		{layoutPage{"invitation-refused", "/invitations", problem}, "name=demo&email=none", true},
		{layoutPage{"factor-refused", "/account/second-factor", problem}, "password=wrong", true},
		{layoutPage{"password-refused", "/account/password", problem},
			"password=wrong&new_password=long+enough&again=long+enough", true},
	}
}

// publicAnswers need no session.
func publicAnswers() []answer {
	return []answer{
		{layoutPage{"login-refused", "/login/", `#problem`}, "username=demo&password=wrong", true},
		{layoutPage{"comment-kept", "/incidents/1/comments", `main textarea`}, "content=" +
			url.QueryEscape(unbroken+" "+odd), false},
		{layoutPage{"form-kept", "/silences", `main button.large`}, "comment=" + unbroken, false},
		{layoutPage{"secret-not-kept", "/account/second-factor", `main a.primary`}, "password=x", false},
	}
}

// send sends a form and waits for the page that answers it.
func (b *tab) send(a answer) {
	b.t.Helper()
	ask[bool](b, fmt.Sprintf(`((action, fields) => { const form = document.createElement("form");
		form.method = "post"; form.action = action;
		for (const [name, value] of new URLSearchParams(fields)) form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
		document.body.replaceChildren(form); form.submit(); return true; })(%q, %q)`, home+a.path, a.form))
	b.do(a.name, visible(chromedp.CSS(a.ready)))
}

// focused is whether the focus is on the first field that a reason describes, else on the reason.
const focused = `(() => { const reason = document.getElementById("problem"), field = document.querySelector("[aria-describedby=problem], [id^=wrong-]");
	return Boolean(reason?.checkVisibility()) && document.activeElement === (field || reason); })()`

// seen is whether the focus is in the window, and nothing lies over it.
const seen = `(() => { const e = document.activeElement; e.blur(); e.focus(); const r = e.getBoundingClientRect();
	return e.contains(document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2)); })()`

// plantFocus checks that focused and seen find faults: a focus elsewhere, and something over the field.
func plantFocus(b *tab) {
	b.t.Helper()
	b.send(answer{layoutPage{"an answer", "/applications/new", `#problem`}, "name=demo", true})
	b.until("the focus is on what is wrong", focused)
	require.True(b.t, ask[bool](b, seen))
	ask[bool](b, `(() => { const cover = document.body.appendChild(document.createElement("div")); cover.style.cssText = "position: fixed; inset: 0"; return true; })()`)
	require.False(b.t, ask[bool](b, seen))
	ask[bool](b, `document.activeElement.blur() === undefined`)
	require.False(b.t, ask[bool](b, focused))
}

// answered sends forms. It checks each answer in all looks.
func (b *tab) answered(axe string, answers []answer) {
	for _, a := range answers {
		b.t.Run(a.name, func(t *testing.T) {
			b := b.in(t)
			b.send(a)
			if a.refused {
				b.until("the focus is on what is wrong", focused)
			}
			b.soundIn(axe, "74-answer-"+a.name)
			if a.refused {
				b.look(look{"phone", 360, 480, "light"})
				require.True(t, ask[bool](b, seen), "the focus can be seen")
			}
		})
	}
}

// soundIn checks the page in all looks.
func (b *tab) soundIn(axe, shot string) {
	b.t.Helper()
	for _, l := range looks {
		b.look(l)
		b.shot(shot + "-" + l.name)
		b.sound(axe)
	}
	b.look(looks[0])
}

// disconnect makes the database of iris dev unavailable. It reads where the database is from the output of iris dev.
func disconnect(t *testing.T, output string) {
	t.Helper()
	said, err := os.ReadFile(output)
	require.NoError(t, err)
	find := func(pattern string) string {
		found := regexp.MustCompile(pattern).FindSubmatch(said)
		require.NotNil(t, found, "%s in %s", pattern, said)
		return string(found[1])
	}
	stored, err := filepath.Glob(find(`data in (\S+)`) + "/postgres/data-*/iris-password")
	require.NoError(t, err)
	require.Len(t, stored, 1)
	password, err := os.ReadFile(stored[0])
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), "postgres://iris:"+strings.TrimSpace(string(password))+"@"+
		find(`Database .*@(\S+?)/`)+"/postgres?sslmode=disable")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "alter database iris allow_connections false")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where datname = 'iris'")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

// refusals opens the pages about a request from another site, and about a database that cannot be reached.
func refusals(t *testing.T, b *tab, axe, output string) {
	b.do("another site", chromedp.Navigate("about:blank"))
	b.in(t).answered(axe, []answer{{layoutPage{"403", "/silences", `main h1`}, "comment=x", false}})
	disconnect(t, output)
	b.in(t).answered(axe, []answer{{layoutPage{"503-kept", "/silences", `main form`}, "comment=" + unbroken, false}})
	t.Run("503", func(t *testing.T) {
		b := b.in(t)
		b.do("a page", chromedp.Navigate(home+"/plans"), visible(`main h1`))
		b.soundIn(axe, "74-answer-503")
	})
}
