//go:build browser

package browser

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// typeIn types a value into a field of the editor, as a person does.
func (b *tab) typeIn(field, value string) {
	b.t.Helper()
	ask[bool](b, `((f) => { f.value = `+quoted(value)+
		`; f.dispatchEvent(new Event("input", { bubbles: true })); f.dispatchEvent(new Event("change", { bubbles: true })); return true; })(document.getElementById("editor").elements.namedItem(`+quoted(field)+`))`)
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// A plan is built in the editor. Its preview equals what is then paged.
func TestAPlanIsBuiltAndItsPreviewIsWhatIsPaged(t *testing.T) {
	startDev(t)
	b := openTab(t)
	b.logIn("demo", "demo")
	b.do("the editor", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(home+"/plans/new"), visible(`#editor`))
	b.typeIn("name", "built-by-hand")
	b.typeIn("steps[0][0].target.role", "user")
	b.typeIn("steps[0][0].target.name", "nobody-of-that-name")
	b.typeIn("steps[0][0].template", "demo-template")
	b.do("the problem is at its field", visible(`.field.wrong input[name="steps[0][0].target.name"]`),
		visible(`fieldset.wrong[data-number="1"]`))
	require.Contains(t, b.text(`#draft [role=alert]`), "nobody-of-that-name")
	b.shot("90-plan-wrong")
	b.typeIn("steps[0][0].target.name", "ana")
	b.typeIn("steps[0][0].priority", "medium")
	b.typeIn("steps[0][0].wait_seconds", "1s")
	b.do("a further step", visible(`#draft .line`), chromedp.Click(`button[value="add-step"]`),
		visible(`[data-number="2"]`))
	require.Equal(t, "steps[1][0].target.role", ask[string](b, `document.activeElement.name`),
		"the focus is in the new step")
	b.typeIn("steps[1][0].target.name", "chloe")
	b.typeIn("steps[1][0].priority", "medium")
	b.typeIn("steps[1][0].wait_seconds", "1m")
	b.typeIn("application", "demo")
	b.do("the preview", visible(`#draft .line li:nth-child(2)`))
	b.shot("91-plan-editor")
	foreseen := ask[[]string](b, `[...document.querySelectorAll("#draft .line > li .stack > div")].map((d) => d.querySelector("bdi").textContent + " " + d.querySelector(".chip").textContent)`)
	require.Equal(t, []string{"ana email", "chloe email"}, foreseen)
	b.do("phone", chromedp.EmulateViewport(360, 800))
	require.LessOrEqual(t, ask[int](b, `document.documentElement.scrollWidth`), 360)
	b.shot("92-plan-editor-phone")
	b.do("save", chromedp.Click(`button[value="save"]`), visible(`.flash`), visible(`#simulation .line`))
	b.shot("93-plan-phone")
	b.do("wide", chromedp.EmulateViewport(1280, 900))
	b.shot("94-plan")
	firePlan(t, "built-by-hand", "the disk is full")
	require.Eventually(t, func() bool { return slices.Equal(foreseen, pagedAbout(t, "the disk is full")) },
		40*time.Second, 200*time.Millisecond)
}

// What is typed while the server answers a change of the form stays, and so does the focus.
func TestTypingInTheEditorIsKept(t *testing.T) {
	startDev(t)
	b := openTab(t)
	b.logIn("demo", "demo")
	b.do("the editor", chromedp.Navigate(home+"/plans/new"), visible(`#editor`))
	ask[bool](b, `(() => {
		const fields = document.getElementById("editor").elements, role = fields.namedItem("steps[0][0].target.role"), text = fields.namedItem("description");
		role.value = "incident";
		role.dispatchEvent(new Event("change", { bubbles: true }));
		text.focus();
		text.value = "typed meanwhile";
		text.setSelectionRange(5, 5);
		text.dispatchEvent(new Event("input", { bubbles: true }));
		return true;
	})()`)
	b.do("the other field", visible(`[name="steps[0][0].dynamic_index"]`))
	require.Equal(t, "description typed meanwhile 5", ask[string](b,
		`((e) => [e.name, e.value, e.selectionStart].join(" "))(document.activeElement)`))
	require.True(t, ask[bool](b, `(() => { const add = document.querySelector("button[value=add-step]"); add.click(); return document.getElementById("editor").inert; })()`), "no typing is lost")
	b.do("the new step", visible(`[data-number="2"]`))
	require.False(t, ask[bool](b, `document.getElementById("editor").inert`))
	b.typeIn("steps[0][0].target.role", "user")
	b.do("back again", visible(`[name="steps[0][0].target.name"]`))
}

// pagedAbout returns who got a message about something in the mailbox, and by which mode, in the order of the messages.
func pagedAbout(t *testing.T, about string) []string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, home+"/dev/mailbox.json", nil)
	require.NoError(t, err)
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	var mails []struct{ To, Mode, Subject, Body string }
	if json.NewDecoder(answer.Body).Decode(&mails) != nil {
		return nil
	}
	var out []string
	for _, m := range mails {
		if strings.Contains(m.Subject+m.Body, about) {
			name, _, _ := strings.Cut(m.To, "@")
			out = append(out, name+" "+m.Mode)
		}
	}
	slices.Sort(out)
	return out
}
