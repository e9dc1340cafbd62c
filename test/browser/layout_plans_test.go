//go:build browser

package browser

import "net/http"

// plansLayout adds hostile data with api and returns pages for TestLayout.
func plansLayout(c *client) []layoutPage {
	steps := [][]object{
		{{"target": object{"role": "team", "name": emojiTeam}, "priority": "urgent", "template": "demo-template",
			"wait_seconds": 90, "repeat": 2},
			{"dynamic_index": 0, "priority": "low", "template": "demo-template", "optional": true}},
		{{"target": object{"role": "user", "name": "ana"}, "priority": "high", "template": "demo-template",
			"wait_seconds": 300}},
	}
	hours := []object{{"step": 2, "team": emojiTeam,
		"windows": []object{{"days": []string{"mon", "sun"}, "from": "22:00", "to": "06:00"}}}}
	at := "/v1/plans/" + unbroken
	c.call(http.MethodPut, at, object{"description": odd + unbroken, "steps": steps, "conditions": hours,
		"flood": object{"threshold_count": 3, "threshold_window_seconds": 600, "aggregation_window_seconds": 300,
			"aggregation_reset_seconds": 300}}, nil)
	c.call(http.MethodPut, at+"/fallback", object{"role": "team", "target": emojiTeam}, nil)
	c.call(http.MethodPut, at+"/settings", object{"repeat": 2, "delay_seconds": 60,
		"resolved_notice": object{"email": true}}, nil)
	here := "/plans/" + unbroken
	return []layoutPage{
		{"plans-none", "/plans?show=all&name=none", `.empty`}, {"plans-all", "/plans?show=all",
			`td.title`}, {"plan-hostile", here, `#simulation .line`},
		{"plan-new", "/plans/new", `#editor`}, {"plan-edit", here + "/edit", `#draft .line`}, {"plan-copy",
			"/plans/new?from=" + unbroken, `#editor`},
		{"plan-versions", here + "/versions", `.diff`}, {"plan-test", here + "/test", `main button.primary`},
	}
}
