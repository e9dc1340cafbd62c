package page

import (
	"bytes"
	"html/template"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// What is wrong with a field stands once, at the field, in the words of the form. The text on top leads there.
func TestAProblemStandsAtItsField(t *testing.T) {
	t.Parallel()
	p := &Pages{}
	templates := template.Must(template.New("").Funcs(p.functions()).ParseFiles("../../program/site/templates/components.html"))
	template.Must(templates.New("form").Parse(`{{template "problem" .}}` +
		`{{template "field" (dict "name" "grace_seconds" "label" "May be late by" "problem" .)}}` +
		`{{template "choice" (dict "name" "rules[0].mode" "label" "At once" "problem" .)}}`))
	render := func(r any) string {
		var b bytes.Buffer
		require.NoError(t, templates.ExecuteTemplate(&b, "form", r))
		return string(linkProblems(b.Bytes()))
	}
	body := render(Refusal{Status: 400, Field: "grace_seconds", Text: "grace_seconds must be a period", Others: []fault.Field{
		{Name: "rules[0].mode", Message: "use a <mode> for rules[0].mode"}, {Name: "other", Message: "other is missing"}}})
	require.Contains(t, body, `<p>Correct <a href="#wrong-grace_seconds">May be late by</a>.</p>`)
	require.Contains(t, body, `<p>Correct <a href="#wrong-rules%5B0%5D.mode">At once</a>.</p>`)
	require.Contains(t, body, `<p>other is missing</p>`, "a line without a field on the page keeps its text")
	require.Contains(t, body, `id="wrong-grace_seconds" aria-invalid="true" aria-describedby="why-grace_seconds"`)
	require.Contains(t, body, `>“May be late by” must be a period</small>`)
	require.Contains(t, body, `>use a &lt;mode&gt; for “At once”</small>`)
	require.NotContains(t, body, "grace_seconds must", "no name of the API")
	require.Contains(t, render(Refusal{Status: 409, Text: "somebody has it"}), `<p>somebody has it</p>`)
}
