package builtins

import (
	"regexp"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/py"
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

func urlize(b *py.Budget, a []py.Value) py.Value {
	rel := []string{"noopener"}
	if a[4] != nil && py.Truth(b, a[4]) {
		text, ok := py.AsString(a[4])
		py.RaiseIf(!ok, "AttributeError", "rel must be text, not %s", py.TypeName(a[4]))
		rel = append(rel, py.Fields(b, text, -1, false)...)
	}
	if py.Truth(b, a[2]) {
		rel = append(rel, "nofollow")
	}
	slices.Sort(rel)
	attrs := ` rel="` + py.EscapeHTML(b, strings.Join(slices.Compact(rel), " ")) + `"`
	if py.Truth(b, a[3]) {
		attrs += ` target="` + py.EscapeHTML(b, py.Str(b, a[3])) + `"`
	}
	u := urlizer{b: b, attrs: attrs, limit: a[1]}
	if a[5] != nil {
		for _, v := range py.Items(b, a[5]) {
			scheme := py.Str(b, v)
			py.RaiseIf(!schemeRe.MatchString(scheme), "FilterArgumentError", "%s is not the beginning of an address",
				py.Shown(v))
			u.schemes = append(u.schemes, scheme)
		}
	}
	var text string
	if m, ok := a[0].(py.Markup); ok {
		text = py.Unmark(string(m), func(c byte) string { return py.EscapeHTML(b, string(rune(c))) })
	} else {
		text = py.EscapeHTML(b, py.Str(b, a[0]))
	}
	return py.MarkupIf(b.Autoescape, u.text(text))
}

type urlizer struct {
	b       *py.Budget
	attrs   string
	schemes []string
	limit   py.Value // characters of a URL shown; nil = all
}

func (u *urlizer) text(s string) string {
	u.b.Step(int64(len(s)) / 4)
	j := py.NewJoiner(u.b, "")
	for _, s := range py.Words(s) {
		word := strings.TrimRightFunc(s, py.IsSpace)
		j.Add(u.word(word))
		j.Add(s[len(word):])
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
	if u.limit == nil || !py.Less(u.b, ">", int64(py.RuneCount(s)), u.limit) {
		return s
	}
	return py.Slice(u.b, s, nil, u.limit, nil).(string) + "..."
}
