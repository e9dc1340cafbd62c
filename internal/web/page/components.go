package page

import "time"

// Option is a choice of a select.
type Option struct{ Value, Label string }

// Options returns choices whose label is their value.
func Options[T ~string](values ...T) []Option {
	options := make([]Option, 0, len(values)+1)
	for _, v := range values {
		options = append(options, Option{string(v), string(v)})
	}
	return options
}

// OptionsOr are Options after the empty choice none.
func OptionsOr[T ~string](none string, values ...T) []Option {
	return append([]Option{{Label: none}}, Options(values...)...)
}

// Tab is a link to another view of a page.
type Tab struct {
	Label, Href string
	Current     bool
	Count       string // "" = not shown
}

// Tabs marks the tab whose address is current.
func Tabs(current string, tabs ...Tab) []Tab {
	for i := range tabs {
		tabs[i].Current = tabs[i].Href == current
	}
	return tabs
}

// Warning is a text that needs attention, with what to do about it.
type Warning struct{ Text, Href, Action string }

// Chart is a diagram, with its table behind it. A row has one value for each name.
type Chart struct {
	Title string
	Kind  string // "line", "bar", or "stack": bars on each other
	Unit  string // such as "s"; "" = a count
	Axis  string // heading of the first column; "" = Time
	Names []string
	Rows  []ChartRow
	Empty string // text without rows
}

// ChartRow is a place on the axis of a chart: an instant or a label.
type ChartRow struct {
	At     time.Time
	Label  string
	Values []float64 // NaN = there is none
}

// Rank is a table of names with figures, and a bar for the first one.
type Rank struct {
	Title string
	Axis  string // heading of the names
	Names []string
	Rows  []RankRow
	Empty string // text without rows
}

// RankRow is a row of a ranking.
type RankRow struct {
	Label  string
	Share  float64 // length of the bar, in percent
	Values []string
}
