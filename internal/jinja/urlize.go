package jinja

import (
	"regexp"
	"sort"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

const word = `[\p{L}\p{N}_]`

var (
	linkRe = regexp.MustCompile(`(?i)^(?:` +
		`(?:https?://|www\.)(?:(?:[\p{L}\p{N}_%-]+\.)+)?(?:[a-z]{2,63}|xn--[\p{L}\p{N}_%]{2,59})` +
		`|(?:[\p{L}\p{N}_%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)` +
		`|https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])` +
		`)(?::\d{1,5})?(?:[/?#]\S*)?\n?$`)
	emailRe  = regexp.MustCompile(`^\S+@` + word + `[\p{L}\p{N}_.-]*\.` + word + `+\n?$`)
	schemeRe = regexp.MustCompile(`^[\p{L}\p{N}_.+-]{2,}:/{0,2}$`)
	headRe   = regexp.MustCompile(`^(?:[(<]|&lt;)+`)
	tailRe   = regexp.MustCompile(`(?:[)>.,\n]|&gt;)+$`)
)

func urlizeFilter(r *render, a []py.Value) py.Value {
	b := r.Budget
	parts := map[string]bool{"noopener": true}
	if rel := or(a[4], nil); rel != nil && py.Truth(b, rel) {
		text, ok := py.AsString(rel)
		if !ok {
			py.Raise("AttributeError", "'%s' object has no attribute 'split'", py.TypeName(rel))
		}
		for _, p := range py.Fields(b, text, -1) {
			parts[p] = true
		}
	}
	if py.Truth(b, or(a[2], false)) {
		parts["nofollow"] = true
	}
	var rel []string
	for p := range parts {
		rel = append(rel, p)
	}
	sort.Strings(rel)
	attrs := ` rel="` + py.EscapeHTML(b, strings.Join(rel, " ")) + `"`
	if target := or(a[3], nil); target != nil && py.Truth(b, target) {
		attrs += ` target="` + py.EscapeHTML(b, py.Str(b, target)) + `"`
	}
	var schemes []string
	if s := or(a[5], nil); s != nil {
		next := py.Iter(b, s)
		for v, ok := next(); ok; v, ok = next() {
			scheme := py.Str(b, v)
			if !schemeRe.MatchString(scheme) {
				py.Raise("FilterArgumentError", "%s is not a valid URI scheme prefix.", py.Repr(b, v))
			}
			schemes = append(schemes, scheme)
		}
	}
	var text string
	if m, ok := a[0].(py.Markup); ok {
		text = py.Unmark(string(m), func(c byte) string { return py.EscapeHTML(b, string(rune(c))) })
	} else {
		text = py.EscapeHTML(b, py.Str(b, a[0]))
	}
	u := urlizer{r: r, attrs: attrs, schemes: schemes, limit: or(a[1], nil)}
	out := u.text(text)
	if r.autoescape {
		return py.Markup(out)
	}
	return out
}

type urlizer struct {
	r       *render
	attrs   string
	schemes []string
	limit   py.Value // characters of a URL shown; nil = all
}

func (u *urlizer) text(s string) string {
	u.r.Step(int64(len(s)) / 4)
	j := py.NewJoiner(u.r.Budget, "")
	for s != "" {
		i := strings.IndexFunc(s, py.IsSpace)
		if i < 0 {
			i = len(s)
		}
		if i > 0 {
			j.Add(u.word(s[:i]))
		}
		n := strings.IndexFunc(s[i:], func(c rune) bool { return !py.IsSpace(c) })
		if n < 0 {
			n = len(s) - i
		}
		j.Add(s[i : i+n])
		s = s[i+n:]
	}
	return j.String()
}

func (u *urlizer) word(w string) string {
	head := headRe.FindString(w)
	middle, tail := w[len(head):], ""
	if loc := tailRe.FindStringIndex(middle); loc != nil {
		middle, tail = middle[:loc[0]], middle[loc[0]:]
	}
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		starts := strings.Count(middle, pair[0])
		if starts <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(starts, strings.Count(tail, pair[1])) {
			end := strings.Index(tail, pair[1]) + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return head + u.link(middle) + tail
}

func (u *urlizer) link(s string) string {
	switch {
	case linkRe.MatchString(s):
		href := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			href = "https://" + s
		}
		return `<a href="` + href + `"` + u.attrs + `>` + u.shown(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && emailRe.MatchString(s[7:]):
		return `<a href="` + s + `">` + s[7:] + `</a>`
	case strings.Contains(s, "@") && !strings.HasPrefix(s, "www.") && !strings.HasPrefix(s, "@") &&
		!strings.Contains(s, ":") && emailRe.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range u.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			s = `<a href="` + s + `"` + u.attrs + `>` + s + `</a>`
		}
	}
	return s
}

func (u *urlizer) shown(s string) string {
	if u.limit == nil || !py.Less(u.r.Budget, ">", length(u.r, s), u.limit) {
		return s
	}
	return py.Slice(u.r.Budget, s, nil, u.limit, nil).(string) + "..."
}
