//go:build browser

package browser

import (
	"net/http"
	"net/url"
)

// peopleLayout adds hostile data with api and returns pages for TestLayout.
func peopleLayout(api *client) []layoutPage {
	long := unbroken[:200]
	api.call(http.MethodPost, "/v1/users", object{"name": long, "full_name": odd + unbroken,
		"contacts": object{"email": "a@" + unbroken[:60] + ".example", "push": unbroken}}, nil)
	api.call(http.MethodPost, "/api/v0/roles", object{"name": unbroken[:90]}, nil)
	at := "/people/" + url.PathEscape(long)
	return []layoutPage{
		{"people", "/people", "h1"}, {"people-nobody", "/people?q=nobody-has-this-name", ".empty"}, {"people-mine",
			"/people/demo", "#contacts"},
		{"people-long", at, "#contacts"}, {"people-preferences", at + "/preferences", "#modes"}, {"people-reminders",
			"/people/demo/reminders", "#feeds"},
		{"people-reachability", "/reachability", ".numbers"}, {"people-roles", "/on-call-roles", "h1"},
	}
}
