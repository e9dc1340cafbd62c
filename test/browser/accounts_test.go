//go:build browser

package browser

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
)

// mailed waits for a mail to an address whose link begins with that path, and returns the link.
func mailed(t *testing.T, path string) (link string) {
	t.Helper()
	require.Eventually(t, func() bool {
		resp, err := http.Get(home + "/dev/mailbox.json")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		var mails []struct {
			Links []string `json:"links"`
		}
		if json.NewDecoder(resp.Body).Decode(&mails) != nil {
			return false
		}
		for _, m := range mails {
			for _, l := range m.Links {
				if strings.HasPrefix(l, home+path) {
					link = l
					return true
				}
			}
		}
		return false
	}, 20*time.Second, 100*time.Millisecond, "a mail with a link to "+path)
	return link
}

// An administrator invites zoe. She chooses a password on her phone, sets up a second factor, and forgets the password.
func TestAccounts(t *testing.T) {
	startDev(t)
	root := openTab(t)
	root.logIn("demo", "demo")
	root.do("invite", chromedp.Navigate(home+"/invitations"), visible(`input[name=email]`),
		chromedp.SendKeys(`input[name=name]`, "zoe"),
		chromedp.SendKeys(`input[name=full_name]`, "Zoe Quispe"), chromedp.SendKeys(`input[name=email]`,
			"zoe@example.com"),
		chromedp.Click(`form[action="/invitations"] button.primary`), visible(`td.title`))
	require.Contains(t, root.text(`td.title`), "zoe@example.com")
	look := func(b *tab, name string) {
		t.Helper()
		b.shot(name)
		require.Empty(t, ask[[]string](b, overflowing), name)
		if axe, err := os.ReadFile(os.Getenv("IRIS_AXE")); err == nil {
			b.loadAxe(string(axe))
			require.Empty(t, b.axe(), name)
		}
	}
	look(root, "100-invitations")
	root.do("on a phone", chromedp.EmulateViewport(360, 780))
	look(root, "101-invitations-phone")

	b := openTab(t)
	b.do("the invitation", chromedp.EmulateViewport(360, 780), chromedp.Navigate(mailed(t, "/invitation/")),
		visible(`input[name=password]`))
	look(b, "102-invitation-phone")
	b.do("choose a password", chromedp.SendKeys(`input[name=password]`, "first password"),
		chromedp.SendKeys(`input[name=again]`, "first password"),
		chromedp.Click(`button.primary`), visible(`#on-call-now`))
	const password, begin = `form[action="/account/second-factor"] input[name=password]`, `form[action="/account/second-factor"] button:not([formaction])`
	b.do("the second factor", chromedp.Navigate(home+"/account/second-factor"), visible(password))
	look(b, "103-second-factor-phone")
	b.do("set up", chromedp.SendKeys(password, "first password"), chromedp.Click(begin), visible(`img.qr`))
	require.Equal(t, 240.0, ask[float64](b, `document.querySelector("img.qr").naturalWidth`), "the picture is drawn")
	secret := b.text(`.secret`)
	code := func(later time.Duration) string {
		t.Helper()
		code, err := totp.GenerateCode(secret, time.Now().Add(later))
		require.NoError(t, err)
		return code
	}
	look(b, "104-set-up-phone")
	b.do("confirm", chromedp.SendKeys(`input[name=code]`, code(0)), chromedp.Click(`main button.primary`),
		visible(`.codes`))
	look(b, "105-recovery-codes-phone")
	recovery, _, _ := strings.Cut(b.text(`.codes`), "\n")
	b.do("go on", chromedp.Click(`main a.primary`), visible(`form[action="/account/second-factor"]`))
	look(b, "106-second-factor-on-phone")

	b.do("forget the password", chromedp.Click(`.who summary`), chromedp.Click(`form[action="/logout/"] button`),
		visible(`a[href="/login/password"]`), chromedp.Click(`a[href="/login/password"]`),
		visible(`input[name=login]`), chromedp.SendKeys(`input[name=login]`,
			"zoe@example.com"), chromedp.Click(`main button.primary`), visible(`[role=status]`))
	look(b, "107-forgotten-phone")
	b.do("the mail", chromedp.Navigate(mailed(t, "/login/password/")), visible(`input[name=again]`))
	look(b, "108-new-password-phone")
	b.do("set it", chromedp.SendKeys(`input[name=password]`, "second password"),
		chromedp.SendKeys(`input[name=again]`, "second password"), chromedp.Click(`button.primary`),
		visible(`a[href="/login"].primary`))
	logIn := func(code string) {
		t.Helper()
		b.do("log in", chromedp.Navigate(home+"/login"), chromedp.SendKeys(`input[name=username]`, "zoe"),
			chromedp.SendKeys(`input[name=password]`, "second password"),
			chromedp.Click(`button.primary`), visible(`input[name=code]`), chromedp.SendKeys(`input[name=code]`,
				code), chromedp.Click(`button.primary`))
	}
	logIn("000000x")
	b.do("refused", visible(`#problem`))
	b.until("the focus is on the code", focused)
	look(b, "109-code-refused-phone")
	logIn(code(30 * time.Second))
	b.do("logged in", visible(`#on-call-now`), chromedp.Click(`.who summary`),
		chromedp.Click(`form[action="/logout/"] button`), visible(`input[name=password]`))
	logIn(recovery)
	b.do("logged in with a recovery code", visible(`#on-call-now`), chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate(home+"/account/second-factor"), visible(`form[action="/account/second-factor"]`))
	require.Contains(t, b.text(`main`), "9 recovery codes are left")
	look(b, "110-second-factor")
	b.do("the set-up, wide", chromedp.SendKeys(password, "second password"), chromedp.Click(begin), visible(`img.qr`))
	look(b, "111-set-up")
}
