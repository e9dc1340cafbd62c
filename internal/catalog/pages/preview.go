package pages

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/operation"
)

// preview is what the page draws of a rendered text.
type preview struct {
	catalog.TemplatePreview
	Errors  []partError
	Refused string  // why there is no preview
	Blocks  []block // of Slack
	Seconds int     // of a call
	mode    string
}

// partError is an error of one part, and the line of the source that it is in.
type partError struct {
	Part         string
	Line, Column int // 0 = unknown
	Message      string
	Source       string // the line
	Mark         string // spaces up to the column
	Field        string // of the form
}

// Place says where the error is.
func (e partError) Place() string {
	name := map[string]string{"subject": "Subject", "body": "Body", "email_html": "HTML", "context": "Context"}[e.Part]
	if e.Line > 0 {
		name += fmt.Sprintf(", line %d", e.Line)
	}
	if e.Column > 0 {
		name += fmt.Sprintf(", column %d", e.Column)
	}
	return name
}

// previewOf returns what the page draws of a text that was rendered.
func previewOf(rendered catalog.TemplatePreview, c catalog.Text) preview {
	p := preview{TemplatePreview: rendered, mode: string(c.Mode)}
	sources := map[string]string{"subject": c.Subject, "body": c.Body, "email_html": string(c.EmailHTML)}
	for _, found := range rendered.Errors {
		e := partError{Part: found.Part, Message: found.Message, Field: p.mode + "." + found.Part}
		if found.Line != nil {
			e.Line = *found.Line
		}
		if found.Column != nil {
			e.Column = *found.Column
		}
		if all := strings.Split(sources[e.Part], "\n"); e.Line > 0 && e.Line <= len(all) {
			e.Source = all[e.Line-1]
			e.Mark = strings.Repeat(" ", max(e.Column-1, 0))
		}
		p.Errors = append(p.Errors, e)
	}
	if _, why, cut := strings.Cut(string(p.Problem), "went out as plain text: "); cut {
		p.Problem = operation.Text("Such a message gets the built-in text: " + why)
	}
	if len(p.Errors) > 0 {
		p.Problem = "Until this is corrected, messages get the built-in text:"
	}
	if p.Slack != nil {
		p.Blocks = drawn(*p.Slack)
	}
	if c.Mode == "call" {
		p.Seconds = (len(strings.Fields(p.Body))*10 + wordsIn10Seconds - 1) / wordsIn10Seconds
	}
	return p
}

// wordsIn10Seconds is how fast a voice speaks.
const wordsIn10Seconds = 25

// Variables is the context as the page shows it.
func (p preview) Variables() string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if enc.Encode(p.Context) != nil {
		return string(p.Context)
	}
	return out.String()
}

// Mode is the mode of the text.
func (p preview) Mode() string { return p.mode }

// block is a part of a Slack message, drawn roughly.
type block struct {
	Kind  string // text, header, note, divider, image, buttons
	Runs  []run
	Items []string // texts of buttons
	Bar   bool     // the part is an attachment
}

// run is a piece of text in Slack's markup.
type run struct {
	Text string
	Bold bool
	Code bool
	Href string
}

var (
	slackRe  = regexp.MustCompile("<([^<>|]+)(?:\\|([^<>]*))?>|\\*([^*\\n]+)\\*|`([^`\\n]+)`")
	unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// runs reads Slack's markup.
func runs(text string) (out []run) {
	plain := func(s string) {
		if s != "" {
			out = append(out, run{Text: unescape.Replace(s)})
		}
	}
	for {
		m := slackRe.FindStringSubmatchIndex(text)
		if m == nil {
			plain(text)
			return out
		}
		plain(text[:m[0]])
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return unescape.Replace(text[m[2*i]:m[2*i+1]])
		}
		switch {
		case m[6] >= 0:
			out = append(out, run{Text: group(3), Bold: true})
		case m[8] >= 0:
			out = append(out, run{Text: group(4), Code: true})
		default:
			r := run{Text: group(2), Href: group(1)}
			if r.Text == "" {
				r.Text = r.Href
			}
			out = append(out, r)
		}
		text = text[m[1]:]
	}
}

// drawn returns the parts of a Slack message. Parts of unknown kinds are shown as their names.
func drawn(s catalog.SlackPreview) (out []block) {
	body := s.Body
	if s.Subject != "" && !s.Custom {
		out = append(out, block{Kind: "header", Runs: runs(s.Subject)})
	}
	if s.Custom {
		dec := json.NewDecoder(strings.NewReader(body))
		var parts struct {
			Text        string       `json:"text"`
			Blocks      []slackBlock `json:"blocks"`
			Attachments []struct {
				Title  string       `json:"title"`
				Text   string       `json:"text"`
				Blocks []slackBlock `json:"blocks"`
			} `json:"attachments"`
		}
		if dec.Decode(&parts) == nil {
			if parts.Text != "" && len(parts.Blocks) == 0 {
				out = append(out, block{Kind: "text", Runs: runs(parts.Text)})
			}
			for _, b := range parts.Blocks {
				out = append(out, b.drawn())
			}
			for _, a := range parts.Attachments {
				for _, text := range []string{a.Title, a.Text} {
					if text != "" {
						out = append(out, block{Kind: "text", Runs: runs(text), Bar: true})
					}
				}
				for _, b := range a.Blocks {
					d := b.drawn()
					d.Bar = true
					out = append(out, d)
				}
			}
			body = body[dec.InputOffset():]
		}
	}
	if body = strings.TrimSpace(body); body != "" {
		out = append(out, block{Kind: "text", Runs: runs(body)})
	}
	return append(out, block{Kind: "buttons", Items: []string{"Acknowledge"}})
}

// slackBlock is a block of Slack's Block Kit.
type slackBlock struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Fields   []slackPart     `json:"fields"`
	Elements []slackPart     `json:"elements"`
	Alt      string          `json:"alt_text"`
}

type slackPart struct {
	Type string          `json:"type"`
	Text json.RawMessage `json:"text"`
	Alt  string          `json:"alt_text"`
}

// textOf reads a text, or the text of an object.
func textOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var o struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &o) // a text of another form is shown as nothing
	return o.Text
}

func (b slackBlock) drawn() block {
	text := textOf(b.Text)
	switch b.Type {
	case "header":
		return block{Kind: "header", Runs: runs(text)}
	case "divider":
		return block{Kind: "divider"}
	case "image":
		return block{Kind: "image", Runs: []run{{Text: b.Alt}}}
	case "actions":
		out := block{Kind: "buttons"}
		for _, e := range b.Elements {
			out.Items = append(out.Items, textOf(e.Text))
		}
		return out
	case "context":
		out := block{Kind: "note"}
		for _, e := range b.Elements {
			out.Runs = append(out.Runs, runs(textOf(e.Text)+e.Alt+" ")...)
		}
		return out
	case "section":
		for _, f := range b.Fields {
			text += "\n" + textOf(f.Text)
		}
		return block{Kind: "text", Runs: runs(strings.TrimSpace(text))}
	}
	return block{Kind: "note", Runs: []run{{Text: "(" + b.Type + ")"}}}
}
