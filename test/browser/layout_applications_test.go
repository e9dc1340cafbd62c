//go:build browser

package browser

import (
	"net/http"
	"strconv"
)

func number(n int64) string { return strconv.FormatInt(n, 10) }

// applicationsLayout adds an application with a name of 200 characters, and returns pages for TestLayout.
func applicationsLayout(api *client) []layoutPage {
	name := "a" + unbroken[:199]
	api.call(http.MethodPost, "/v1/applications", object{"name": name}, nil)
	at := "/applications/" + name
	api.call(http.MethodPut, "/v1"+at, object{"variables": []string{unbroken, odd}, "title_variable": unbroken,
		"owners":         []string{"demo", "ana", "chloe"},
		"sample_context": object{unbroken: odd + unbroken}}, nil)
	api.call(http.MethodPost, "/v0/categories/"+name,
		[]object{{"name": unbroken, "description": odd + unbroken, "mode": "sms"}}, nil)
	return []layoutPage{
		{"applications", "/applications", `td.title`}, {"no-application", "/applications?name=none",
			`.empty`}, {"application", at, `#keys`}, {"application-edit", at + "/edit", `.foot`},
		{"application-new", "/applications/new", `input[name=name]`},
	}
}
