package markdown

import (
	"bytes"
	"html"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// MaxText is how many bytes of a text HTML parses. A longer text is shown as it is.
const MaxText = 64 << 10

// MaxMarks is how many characters may begin a Markdown construct that needs an end. A text with more of them can take a
// thousand times as long to parse.
const MaxMarks = 2_000

// Page headings are h1 and h2, so the headings of a text begin with h3.
const (
	headingOffset = 2
	maxHeading    = 6
)

// schemes are how the address of a link may begin.
var schemes = []string{"http://", "https://", "mailto:"}

// rel is an attribute of every link.
const rel = "noopener nofollow"

var converter = goldmark.New(
	goldmark.WithExtensions(extension.Strikethrough, extension.Linkify,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignNone))),
	goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(restrict{}, 1000))),
	goldmark.WithRendererOptions(goldhtml.WithHardWraps(), renderer.WithNodeRenderers(util.Prioritized(asText{}, 100))),
)

// Heavy reports whether parsing a text as Markdown could take long.
func Heavy(text string) bool {
	marks := 0
	for i := range len(text) {
		switch text[i] {
		case '[', '>', '*', '_', '~':
			marks++
		}
	}
	return marks > MaxMarks
}

// Escape returns a text of one line as Markdown that shows it as it is, behind other text in a line. Bare addresses are
// still links.
func Escape(line string) string {
	var b strings.Builder
	for _, c := range line {
		if strings.ContainsRune("\\`*_[]<>~|&", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// HTML converts Markdown to HTML that is safe on a page:
//   - HTML in the text is shown as text.
//   - Links lead to http, https and mailto addresses only. The text of other links remains.
//   - Images become links, so that a page loads nothing from elsewhere.
//   - Headings begin with h3.
//
// A text that is too long or too heavy becomes preformatted text.
func HTML(text string) template.HTML {
	if len(text) <= MaxText && !Heavy(text) {
		if out, err := convert(text); err == nil {
			return template.HTML(out) //nolint:gosec // the converter escapes every text
		}
	}
	return template.HTML("<pre>" + html.EscapeString(text) + "</pre>\n") //nolint:gosec // escaped
}

func convert(text string) (out string, err error) {
	defer fault.Recover(&err)
	var buf bytes.Buffer
	err = converter.Convert([]byte(text), &buf)
	return buf.String(), err
}

// restrict changes a parsed text: it removes links to other schemes, replaces images by links and moves headings down.
type restrict struct{}

func (restrict) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	var found []ast.Node
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			found = append(found, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range found {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+headingOffset, maxHeading)
		case *ast.Image:
			image(n)
		case *ast.Link:
			if !allowed(n.Destination) || withinLink(n) {
				unwrap(n)
				continue
			}
			n.SetAttributeString("rel", []byte(rel))
		case *ast.AutoLink:
			if n.AutoLinkType == ast.AutoLinkURL && !allowed(n.URL(reader.Source())) || withinLink(n) {
				n.Parent().ReplaceChild(n.Parent(), n, plain(n.Label(reader.Source())))
				continue
			}
			n.SetAttributeString("rel", []byte(rel))
		}
	}
}

// image replaces an image by a link to it, or by its text.
func image(n *ast.Image) {
	if !allowed(n.Destination) || withinLink(n) {
		unwrap(n)
		return
	}
	link := ast.NewLink()
	link.Destination, link.Title = n.Destination, n.Title
	link.SetAttributeString("rel", []byte(rel))
	if n.FirstChild() == nil {
		link.AppendChild(link, plain(n.Destination))
	}
	moveChildren(n, func(c ast.Node) { link.AppendChild(link, c) })
	n.Parent().ReplaceChild(n.Parent(), n, link)
}

// withinLink reports whether a link is around a node. Links do not nest.
func withinLink(n ast.Node) bool {
	for p := n.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == ast.KindLink {
			return true
		}
	}
	return false
}

func plain(text []byte) ast.Node {
	s := ast.NewString(text)
	s.SetRaw(true)
	return s
}

// unwrap replaces a node by its children.
func unwrap(n ast.Node) {
	parent := n.Parent()
	moveChildren(n, func(c ast.Node) { parent.InsertBefore(parent, n, c) })
	parent.RemoveChild(parent, n)
}

func moveChildren(n ast.Node, to func(ast.Node)) {
	for c := n.FirstChild(); c != nil; {
		next := c.NextSibling()
		n.RemoveChild(n, c)
		to(c)
		c = next
	}
}

func allowed(address []byte) bool {
	lower := strings.ToLower(string(address))
	for _, scheme := range schemes {
		if strings.HasPrefix(lower, scheme) && len(lower) > len(scheme) {
			return true
		}
	}
	return false
}

// asText shows HTML as text.
type asText struct{}

func (asText) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			segments := n.(*ast.RawHTML).Segments
			for i := range segments.Len() {
				segment := segments.At(i)
				_, _ = w.Write(util.EscapeHTML(segment.Value(source)))
			}
		}
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		_, _ = w.WriteString("<p>")
		lines := n.Lines()
		for i := range lines.Len() {
			line := lines.At(i)
			_, _ = w.Write(util.EscapeHTML(line.Value(source)))
		}
		if block := n.(*ast.HTMLBlock); block.HasClosure() {
			_, _ = w.Write(util.EscapeHTML(block.ClosureLine.Value(source)))
		}
		_, _ = w.WriteString("</p>\n")
		return ast.WalkContinue, nil
	})
}
