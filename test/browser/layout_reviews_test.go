//go:build browser

package browser

import (
	"fmt"
	"net/http"
	"strings"
)

// reviewsLayout adds a review, an update and a subscription, and returns their pages for TestLayout.
func reviewsLayout(api *client) []layoutPage {
	reviewed, plain := api.open(object{"title": "reviewed"}), api.open(object{"title": "not reviewed"})
	for _, id := range []int64{reviewed, plain} {
		api.call(http.MethodPost, fmt.Sprintf("/v1/incidents/%d/resolve", id), object{}, nil)
	}
	api.call(http.MethodPut, fmt.Sprintf("/v1/reviews/%d", reviewed), object{"title": odd + " " + unbroken[:100],
		"text": "# One\n\n## Two\n\n" + unbroken + "\n\n| a | b |\n|---|---|\n| " + unbroken + " | " + odd + " |\n\n> quoted\n\n```\n" + unbroken +
			"\n```\n\n- [ ] <b>open</b>\n- [link](https://example.com/" + unbroken + ")\n\n![a picture](https://example.com/1.png)\n",
		"tags": []string{unbroken[:40], "disk"}, "state": "published",
		"follow_ups": []object{{"title": odd + unbroken[:100], "url": "https://example.com/" + unbroken}}}, nil)
	api.call(http.MethodPost, "/v1/update-subscriptions", object{"application": "demo", "mode": "email"}, nil)
	api.call(http.MethodPost, "/v1/update-subscriptions", object{"team": emojiTeam, "mode": "email"}, nil)
	api.call(http.MethodPost, fmt.Sprintf("/v1/incidents/%d/updates", reviewed),
		object{"state": "resolved", "text": strings.Repeat(odd+" "+unbroken+"\n", 3)}, nil)
	at := fmt.Sprintf("/incidents/%d", reviewed)
	return []layoutPage{
		{"reviews", "/reviews", `td.title`}, {"no-reviews", "/reviews?tag=none", `.empty`},
		{"review", at + "/review", `.prose table`}, {"review-edit", at + "/review/edit", `textarea[name=text]`},
		{"no-review", fmt.Sprintf("/incidents/%d/review", plain), `.empty`},
		{"review-new", fmt.Sprintf("/incidents/%d/review/edit", plain), `textarea[name=text]`},
		{"incident-reviewed", at, `#review a`}, {"updates", at + "/updates", `.steps .alert-text`},
		{"no-updates", fmt.Sprintf("/incidents/%d/updates", plain), `textarea[name=text]`},
		{"subscriptions", fmt.Sprintf("/subscriptions?incident=%d", plain), `td.title`},
	}
}
