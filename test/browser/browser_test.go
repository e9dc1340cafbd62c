//go:build browser

// Package browser drives the pages in a real Chromium. It runs outside `go test ./...`: test/browser.sh installs the
// browser.
package browser

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// home is the address of `iris dev`. IRIS_BROWSER_PORT changes the port, so that several checkouts can be tested at the
// same time.
var home = "http://" + address()

func address() string { return "127.0.0.1:" + cmp.Or(os.Getenv("IRIS_BROWSER_PORT"), "16649") }

// startDev runs `iris dev` with a state directory of its own until the test ends. It returns the paths of the program
// and of its output.
func startDev(t *testing.T, args ...string) (bin, output string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.Chmod(dir, 0o755))
	bin, output = filepath.Join(dir, "iris"), filepath.Join(dir, "output")
	build := exec.Command("go", "build", "-o", bin, "../../cmd/iris")
	out, err := build.CombinedOutput()
	require.NoError(t, err, string(out))
	state, err := os.MkdirTemp("/var/tmp", "iris-browser-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(state, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(state) })
	cmd := exec.Command(bin, append([]string{"dev", "--processors", "2", "--state-dir", state}, args...)...)
	cmd.Env = append(os.Environ(), "IRIS_HTTP_ADDR="+address())
	log, err := os.Create(output)
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	require.NoError(t, cmd.Start())
	_ = log.Close()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		if t.Failed() {
			said, _ := os.ReadFile(output)
			t.Log(string(said))
		}
	})
	require.Eventually(t, func() bool {
		resp, err := http.Get(home + "/readyz/paging")
		if err != nil {
			return false
		}
		_ = resp.Body.Close()
		said, _ := os.ReadFile(output) // else another server may answer, such as one that an aborted test left
		return resp.StatusCode == http.StatusOK && strings.Contains(string(said), "Iris is running")
	}, time.Minute, 100*time.Millisecond, "iris dev is ready")
	return bin, output
}

func fire(t *testing.T, summary string) {
	t.Helper()
	firePlan(t, "demo-plan", summary)
}

func firePlan(t *testing.T, plan, summary string) {
	t.Helper()
	body := fmt.Sprintf(`{"version":"4","status":"firing","groupKey":%q,"groupLabels":{},"commonLabels":{"alertname":"DiskFull"},
		"commonAnnotations":{"summary":%[1]q},"alerts":[{"status":"firing","labels":{"alertname":"DiskFull"},"annotations":{"summary":%[1]q},
		"startsAt":"2026-11-20T10:00:00Z","fingerprint":"f1"}]}`, summary)
	resp, err := http.Post(home+"/v0/webhooks/alertmanager?application=demo&key=demo-key&plan="+plan,
		"application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, resp.StatusCode, string(answer))
}

func TestPages(t *testing.T) {
	startDev(t)
	b := openTab(t)
	b.do("open", chromedp.Navigate(home+"/"), visible(`input[name=password]`))
	b.shot("1-login")
	b.do("a wrong password", chromedp.SendKeys(`input[name=username]`, "demo"),
		chromedp.SendKeys(`input[name=password]`, "wrong"),
		chromedp.Click(`button.primary`), visible(`[role=alert]`))
	b.shot("2-login-refused")
	b.do("log in", chromedp.SendKeys(`input[name=username]`, "demo"), chromedp.SendKeys(`input[name=password]`, "demo"),
		chromedp.Click(`button.primary`), visible(`#on-call-now`))
	b.shot("3-home")
	b.do("the list", chromedp.Navigate(home+"/incidents"), visible(`.tabs`))

	fire(t, "disk of db1 is full")
	b.do("the list shows a new incident by itself", visible(`td.title a`))
	require.Contains(t, b.text(`td.title a`), "disk of db1 is full")
	b.shot("4-incidents")
	b.do("see the incident", chromedp.Click(`td.title a`), visible(`.timeline`), visible(`.chip.sent, .chip.delivered`))
	b.shot("5-incident")
	b.do("acknowledge", chromedp.Click(`form[action$=acknowledge] button`), visible(`.chip.acknowledged`))
	require.Equal(t, "acknowledged by demo", b.text(`.chip.acknowledged`))
	b.shot("6-acknowledged")

	b.do("the incident's plan", chromedp.Click(`.facts a[href^="/plans/"]`), visible(`#simulation .line`))
	require.Contains(t, b.text(`.line`), "demo")
	require.Contains(t, b.text(`#simulation`), "The plan is exhausted at")
	b.do("ask what would happen", chromedp.SetValue(`input[name=at]`, "2027-01-01T02:00"),
		chromedp.SetValue(`select[name=assume]`, "ack-after=5m"),
		chromedp.Click(`.ask button`), visible(`#simulation[data-at^="2027-01-01T02:00"]`))
	require.Regexp(t, `^Somebody acknowledges at Fri, Jan 1, 2027, 02:05:00, as assumed`,
		b.text(`#simulation > p > strong`))
	require.Regexp(t, `Fri, Jan 1, 2027, 02:01:00`, ask[string](b,
		`document.querySelector("#simulation table").textContent`))
	b.shot("6-plan")

	b.do("members", chromedp.Navigate(home+"/system"), visible(`.buckets`))
	require.Contains(t, b.text(`main`), "256 of 256 owned")
	b.shot("7-members")
	b.do("mailbox", chromedp.Navigate(home+"/dev/mailbox"), visible(chromedp.CSS(`article.letter`)))
	require.Contains(t, b.text(`main`), "disk of db1 is full")
	b.shot("8-mailbox")

	fire(t, "disk of db2 is full")
	b.do("a link shows first", chromedp.Navigate(ackLink(t, "db2")), visible(`button.primary`))
	b.shot("9-link")
	b.do("and acts on the button", chromedp.Click(`button.primary`), chromedp.WaitNotPresent(`button.primary`))
	require.Contains(t, b.text(`.chip`), "Acknowledged by demo")
	b.shot("10-link-done")
	b.do("on a phone", chromedp.EmulateViewport(390, 800), chromedp.Navigate(home+"/incidents"), visible(`.chip`))
	b.shot("11-phone")
}

func ackLink(t *testing.T, about string) string {
	t.Helper()
	var link string
	require.Eventually(t, func() bool {
		resp, err := http.Get(home + "/dev/mailbox.json")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		link = linkIn(resp.Body, about)
		return link != ""
	}, 20*time.Second, 100*time.Millisecond, "a link in the mailbox")
	return link
}
