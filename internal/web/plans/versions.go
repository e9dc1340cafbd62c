package plans

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/iris-oncall/iris/internal/humanize"
	"github.com/iris-oncall/iris/internal/web/page"
)

// maxVersions is how many versions of a plan are listed.
const maxVersions = 50

type versionsView struct {
	page.Frame
	P        plan // the newer of the two versions
	Old      plan
	Versions []plan
	Diff     []diffLine
	Same     bool
	Next     string
}

// versions shows the versions of a plan, and the difference of two of them: ?from=NUMBER&to=NUMBER. Without them, the difference of the version
// in the path to the one before.
func (h Handlers) versions(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := r.URL.Query()
	q := url.Values{"versions": {"all"}, "name": {p.Name}, "limit": {fmt.Sprint(maxVersions)}}
	if v.Get("cursor") != "" {
		q.Set("cursor", v.Get("cursor"))
	}
	var all page.Listed[plan]
	if err = h.Pages.API(r).Get("/v1/plans?"+q.Encode(), &all); err == nil && v.Get("to") != "" {
		p, err = h.version(r, v.Get("to"), p.Name)
	}
	view := versionsView{Frame: h.Pages.Frame(r, "Versions of "+p.Name, "plans"), Versions: all.Items}
	from := v.Get("from")
	for i := 0; from == "" && i < len(all.Items); i++ {
		if all.Items[i].ID < p.ID {
			from = fmt.Sprint(all.Items[i].ID)
		}
	}
	if err == nil && from != "" {
		view.Old, err = h.version(r, from, p.Name)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view.P = p
	if view.Old.ID != 0 {
		view.Diff = difference(view.Old.text(), p.text())
		view.Same = view.Old.text() == p.text()
	}
	if all.Next != "" {
		view.Next = r.URL.Path + "?" + url.Values{"cursor": {all.Next}}.Encode()
	}
	h.Pages.Render(rw, r, http.StatusOK, "plan-versions", view)
}

// version reads a version of a plan by its number.
func (h Handlers) version(r *http.Request, number, name string) (p plan, err error) {
	p, err = h.named(r, number)
	if err == nil && !strings.EqualFold(p.Name, name) {
		err = errOtherPlan
	}
	return p, err
}

// text returns the content of a version as lines that people can compare.
func (p plan) text() string {
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write("description: %s", p.Description)
	for i, s := range line(p, 0) {
		write("step %d%s", i+1, map[bool]string{true: ", only " + s.When}[s.When != ""])
		for _, n := range s.Rows {
			parts := []string{strings.TrimSpace("page " + n.Who + " " + n.Name), "priority " + n.Priority, "template " + cmp.Or(n.Template, "none (built-in text)")}
			for _, more := range []string{n.Repeat, n.Wait} {
				if more != "" {
					parts = append(parts, more)
				}
			}
			if n.Optional {
				parts = append(parts, "optional")
			}
			write("  %s", strings.Join(parts, ", "))
		}
	}
	f := p.Flood
	write("flood: more than %d pages within %s, digests every %s, ends after %s", f.Count, humanize.Duration(seconds(f.Window)),
		humanize.Duration(seconds(f.Every)), humanize.Duration(seconds(f.Reset)))
	if t := p.Tracking; t != nil {
		write("tracking: %s by %s", t.Destination, t.Mode)
		write("tracking texts: %s", t.Templates)
	}
	return b.String()
}

// diffLine is a line of a difference. Kind is add, del or same.
type diffLine struct{ Kind, Text string }

// maxCompared bounds the lines of a text that are compared one by one.
const maxCompared = 1500

// difference returns the lines of two texts, with the longest common subsequence as same.
func difference(before, after string) []diffLine {
	a, b := strings.Split(strings.TrimSuffix(before, "\n"), "\n"), strings.Split(strings.TrimSuffix(after, "\n"), "\n")
	a, b = a[:min(len(a), maxCompared)], b[:min(len(b), maxCompared)]
	common := make([][]int16, len(a)+1) // length of the longest common subsequence of a[i:] and b[j:]
	for i := range common {
		common[i] = make([]int16, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []diffLine
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, diffLine{"same", a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			out = append(out, diffLine{"del", a[i]})
			i++
		default:
			out = append(out, diffLine{"add", b[j]})
			j++
		}
	}
	return out
}
