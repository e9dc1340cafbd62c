package page

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// faults are the lines of a problem on top of a form: of a Refusal, or of the arguments of dict with a Text.
func faults(v any) []fault.Field {
	switch v := v.(type) {
	case Refusal:
		return append([]fault.Field{{Name: v.Field, Message: v.Text}}, v.Others...)
	case map[string]any:
		return []fault.Field{{Message: fmt.Sprint(v["Text"])}}
	}
	return nil
}

// worded is what is wrong with a field, with the label of the field instead of its name in the API.
func worded(text, name, label string) string {
	if rest, ok := strings.CutPrefix(text, name+" "); ok {
		return "“" + label + "” " + rest
	}
	if strings.ContainsAny(name, "_.[") {
		text = strings.ReplaceAll(text, name, "“"+label+"”")
	}
	return text
}

var (
	problemLine = regexp.MustCompile(`<p data-problem="([^"]*)">([^<]*)</p>`)
	wrongField  = regexp.MustCompile(`<small class="reason" id="why-([^"]*)" data-label="([^"]*)">`)
)

// linkProblems shortens the lines of problems on top of forms. A line whose field is on the page leads to the field,
// which has the text. The other lines keep their text.
func linkProblems(body []byte) []byte {
	if !bytes.Contains(body, []byte(`<p data-problem="`)) {
		return body
	}
	labels := map[string]string{}
	for _, field := range wrongField.FindAllSubmatch(body, -1) {
		labels[string(field[1])] = string(field[2])
	}
	return problemLine.ReplaceAllFunc(body, func(line []byte) []byte {
		part := problemLine.FindSubmatch(line)
		name := string(part[1])
		label, ok := labels[name]
		if !ok {
			return fmt.Appendf(nil, "<p>%s</p>", part[2])
		}
		return fmt.Appendf(nil, `<p>Correct <a href="#wrong-%s">%s</a>.</p>`, html.EscapeString(fragment(html.UnescapeString(name))), label)
	})
}

// fragment escapes a name for the fragment of an address.
func fragment(name string) string {
	return strings.NewReplacer("%", "%25", "[", "%5B", "]", "%5D", " ", "%20").Replace(name)
}
