//go:build browser

package browser

import (
	"net/http"
	"net/url"
	"strings"
)

// textsLayout adds a template of 200 lines with a long name, and returns pages for TestLayout.
func textsLayout(api *client) []layoutPage {
	long := strings.Repeat("{{ iris.title }} "+odd+"\n", 199) + unbroken
	name := "t" + unbroken[:199]
	content := []object{
		{"application": "demo", "mode": "email", "subject": "{{ iris.title }} " + unbroken, "body": long,
			"email_html": "<p>" + unbroken + "</p><img src='http://127.0.0.1:1/x.png'><script>1</script>"},
		{"application": "demo", "mode": "slack", "subject": unbroken, "body": "{{ iris.title }} *" + unbroken +
			"* <http://127.0.0.1:1/|" + odd + ">"},
		{"application": "demo", "mode": "sms", "subject": "", "body": "{{ iris.title }} " + unbroken},
		{"application": "demo", "mode": "call", "subject": "", "body": "{{ no.such.variable }} " + unbroken},
	}
	api.call(http.MethodPost, "/v1/templates", object{"name": name, "content": content}, nil)
	var made struct {
		ID int64 `json:"id"`
	}
	api.call(http.MethodPut, "/v1/templates/"+name, object{"content": content[:1]}, &made)
	api.call(http.MethodPut, "/v1/templates/"+name, object{"content": content}, nil)
	at := "/templates/" + url.PathEscape(name)
	return []layoutPage{
		{"templates", "/templates", `td.title`}, {"no-template", "/templates?name=none", `.empty`}, {"template", at,
			`table`},
		{"template-difference", at + "/versions?from=" + number(made.ID), `.diff`}, {"template-edit", at + "/edit",
			`.preview .flash.bad`}, {"template-new", "/templates/new", `#text-form`},
	}
}
