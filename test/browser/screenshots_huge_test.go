//go:build browser && screenshots

package browser

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

// each calls f for 1 to n, four at a time.
func each(n int, f func(i int)) {
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := w + 1; i <= n; i += 4 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// huge is a company with hundreds of objects of each kind.
func huge(c *client) objects {
	words := []string{"payments", "search", "network", "database", "mobile", "identity", "billing", "storage"}
	name := func(kind string, i int) string { return fmt.Sprintf("%s-%s-%03d", words[i%len(words)], kind, i) }
	now := time.Now().Unix()
	each(500, func(i int) {
		c.call(http.MethodPost, "/v1/users", object{"name": fmt.Sprintf("person%03d", i),
			"full_name": fmt.Sprintf("Person Number %d", i),
			"contacts":  object{"email": fmt.Sprintf("person%03d@example.com", i)}}, nil)
	})
	each(101, func(i int) {
		team := name("team", i)
		at := "/api/v0/teams/" + team
		c.call(http.MethodPost, "/api/v0/teams", object{"name": team, "scheduling_timezone": "Europe/Berlin",
			"description": "Runs " + words[i%len(words)]}, nil)
		c.call(http.MethodPost, at+"/rosters", object{"name": "engineers"}, nil)
		members, shifts := 4, 2
		if i == 1 {
			members, shifts = 60, 150
		}
		for m := range members {
			c.call(http.MethodPost, at+"/rosters/engineers/users",
				object{"name": fmt.Sprintf("person%03d", (i+m)%500+1)}, nil)
		}
		c.call(http.MethodPost, at+"/rosters/engineers/users", object{"name": "demo"}, nil)
		for s := range shifts {
			length := int64(45 * 86400)
			if s > 1 {
				length = 8 * 3600
			}
			start := now - 3600 + int64(s/2)*8*3600
			c.call(http.MethodPost, "/api/v0/events", object{"team": team,
				"role": []string{"primary", "secondary"}[s%2], "user": fmt.Sprintf("person%03d", (i+s)%members+
					i%400+1), "start": start, "end": start + length}, nil)
		}
	})
	each(300, func(i int) {
		c.call(http.MethodPost, "/v1/plans", object{"name": name("plan", i), "description": "Pages the people of " + words[i%len(words)], "steps": [][]object{
			{{"target": object{"role": "oncall-primary", "name": name("team", i%101+1)}, "priority": "low",
				"template": "demo-template", "wait_seconds": 300}},
			{{"target": object{"role": "team", "name": name("team", i%101+1)}, "priority": "low",
				"template": "demo-template", "wait_seconds": 600, "repeat": 2}}}}, nil)
		c.call(http.MethodPost, "/v1/templates", object{"name": name("template", i),
			"content": []object{{"application": "demo", "mode": "email", "subject": "{{ iris.title }}",
				"body": "{{ iris.title }}"}}}, nil)
	})
	each(150, func(i int) {
		c.call(http.MethodPost, "/v1/applications", object{"name": name("application", i)}, nil)
		c.call(http.MethodPut, "/v1/integrations/"+name("integration", i),
			object{"type": "generic", "application": "demo", "default_plan": name("plan", i)}, nil)
		c.call(http.MethodPut, fmt.Sprintf("/v1/integrations/demo-heartbeat/heartbeats/job-%03d", i),
			object{"every_seconds": 86400, "grace_seconds": 600}, nil)
		c.call(http.MethodPost, "/v1/silences", object{"match": "host=db-" + number(int64(i)), "application": "demo",
			"for_seconds": 3600 * i, "comment": "New disk"}, nil)
		c.call(http.MethodPost, "/api/v0/roles", object{"name": fmt.Sprintf("on-call-role-%d", i)}, nil)
	})
	each(45, func(i int) { // a person can have 50
		c.call(http.MethodPost, "/v1/tokens", object{"name": fmt.Sprintf("script %d", i), "scopes": []string{"read"}},
			nil)
	})
	each(1000, func(i int) {
		c.call(http.MethodPost, "/v1/incidents", object{"plan": name("plan", i%300+1), "application": "demo",
			"title": fmt.Sprintf("%s is slow on host %d", words[i%len(words)], i),
			"severity": []string{"critical", "error", "warning",
				"info"}[i%4], "labels": object{"host": fmt.Sprintf("host-%d", i), "service": words[i%len(words)]}}, nil)
	})
	each(200, func(i int) {
		c.call(http.MethodPost, "/v1/incidents/1000/comments",
			object{"content": fmt.Sprintf("Comment %d: still looking.", i)}, nil)
	})
	there := demoObjects()
	there["teams"], there["plans"], there["incidents"], there["people"] = name("team", 1), name("plan",
		8), "1000", "person010"
	return there
}
