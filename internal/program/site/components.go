// This file serves /dev/components, which shows each component of the pages.

package site

import (
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
)

// Handlers serves the page. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

// Routes mounts the page. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/dev/components", h.show)
}

type view struct {
	page.Frame
	Wrong    page.Refusal
	Options  []page.Option
	Tabs     []page.Tab
	Warnings []page.Warning
	Fields   []page.Field
	Line     page.Chart
	Bars     page.Chart
	Nothing  page.Chart
	Stack    page.Chart
	Ranking  page.Rank
	At       time.Time
}

func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	now := time.Now()
	line := page.Chart{Title: "Messages per hour", Names: []string{"e-mail", "calls"}}
	for i := range 24 {
		line.Rows = append(line.Rows, page.ChartRow{At: now.Add(time.Duration(i-24) * time.Hour),
			Values: []float64{float64(20 + 7*i%31), float64(5 * i % 17)}})
	}
	v := view{
		Frame: h.Pages.Frame(r, "Components", ""), At: now,
		Wrong:   page.Refusal{Status: http.StatusBadRequest, Field: "wrong", Text: "wrong: a name has no blanks"},
		Options: page.Options("high", "medium", "low"),
		Tabs:    []page.Tab{{Label: "Open", Href: "#tabs", Current: true, Count: "12"}, {Label: "All", Href: "#tabs"}},
		Warnings: []page.Warning{{Text: "You have no phone number: calls and texts cannot reach you.",
			Href: "#warnings", Action: "Add one"},
			{Text: "Nobody is on call for the team database on Sunday."}},
		Line: line,
		Bars: page.Chart{Title: "Time to acknowledge", Kind: "bar", Unit: "s", Axis: "Team", Names: []string{"median"}, Rows: []page.ChartRow{
			{Label: "database", Values: []float64{42}}, {Label: "network", Values: []float64{75}}, {Label: "storage",
				Values: []float64{18}}}},
		Nothing: page.Chart{Title: "Failures"},
	}
	v.Stack = page.Chart{Title: "Sent messages by mode", Kind: "stack", Names: []string{"e-mail", "calls"},
		Rows: line.Rows[:12]}
	v.Ranking = page.Rank{Title: "Incidents by team", Axis: "Team", Names: []string{"incidents"},
		Rows: []page.RankRow{{Label: "database", Share: 100, Values: []string{"40"}},
			{Label: "network", Share: 25, Values: []string{"10"}}}}
	v.Charts = true
	h.Pages.Render(rw, r, http.StatusOK, "dev-components", v)
}
