package messages

import (
	"bytes"
	"html"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	goldhtml "github.com/yuin/goldmark/renderer/html"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/markdown"
	"github.com/iris-oncall/iris/jinja"
)

// converter converts bodies to HTML: it keeps line breaks, links bare URLs, and drops HTML. HTML in marked data is shown
// as text.
var converter = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(goldhtml.WithHardWraps()),
)

// maxMarkdown is how many bytes of a body are parsed as Markdown; longer bodies are shown as they are. Parsing time can
// grow faster than the length.
const maxMarkdown = 20_000

// html is the HTML of an e-mail: the template's own HTML, else the body converted from Markdown. It adds the
// acknowledgement link unless the text has it.
func (s *source) html(body, own string) string {
	var foot strings.Builder
	text := body
	if own != "" {
		text = own
	}
	text = jinja.Raw(text)
	if s.AckURL != "" && !strings.Contains(text, s.AckURL) && !strings.Contains(text, html.EscapeString(s.AckURL)) {
		what := "Acknowledge this incident"
		if s.Batch != "" {
			what = "Acknowledge all incidents of this digest"
		}
		foot.WriteString(`<p><a href="` + html.EscapeString(s.AckURL) + `">` + what + `</a>`)
		if s.IncidentURL != "" {
			foot.WriteString(` &middot; <a href="` + html.EscapeString(s.IncidentURL) + `">Show it</a>`)
		}
		foot.WriteString("</p>\n")
	}
	if own != "" {
		if i := lastIndexFold(own, "</body>"); i >= 0 {
			return own[:i] + foot.String() + own[i:]
		}
		return own + foot.String()
	}
	return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n" +
		toHTML(withFooter(body, "", MaxBody)) + foot.String() + "</body></html>\n"
}

func lastIndexFold(s, sub string) int { return strings.LastIndex(strings.ToLower(s), sub) }

// toHTML converts Markdown in which data is marked. A text that is too long, or that breaks the converter, becomes
// preformatted text.
func toHTML(text string) string {
	if len(jinja.Raw(text)) <= maxMarkdown && !markdown.Heavy(text) {
		if out, err := convert(text); err == nil {
			return out
		}
	}
	return "<pre>" + html.EscapeString(jinja.Raw(text)) + "</pre>\n"
}

func convert(text string) (out string, err error) {
	defer fault.Recover(&err)
	var buf bytes.Buffer
	if err := converter.Convert([]byte(linked(text)), &buf); err != nil {
		return "", err
	}
	return htmlMarkup(encodedMark.ReplaceAllStringFunc(buf.String(), decodeMark)), nil
}
