package markdown_test

import (
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/markdown"
)

func TestTextBecomesSafeHTML(t *testing.T) {
	t.Parallel()
	const rel = ` rel="noopener nofollow"`
	for _, c := range []struct{ name, text, want string }{
		{"line breaks stay", "a\nb", "<p>a<br>\nb</p>\n"},
		{"headings begin with h3", "# a\n\n##### b", "<h3>a</h3>\n<h6>b</h6>\n"},
		{"a link", "[a](https://x.example/?b=1&c=2)", `<p><a href="https://x.example/?b=1&amp;c=2"` + rel + `>a</a></p>` + "\n"},
		{"a mail address", "[a](mailto:a@x.example)", `<p><a href="mailto:a@x.example"` + rel + `>a</a></p>` + "\n"},
		{"a bare address", "see http://x.example/a", `<p>see <a href="http://x.example/a"` + rel + `>http://x.example/a</a></p>` + "\n"},
		{"a bare host", "www.x.example", `<p><a href="http://www.x.example"` + rel + `>www.x.example</a></p>` + "\n"},
		{"a script", "[a](javascript:alert(1))", "<p>a</p>\n"},
		{"a script in capitals", "[a](JaVaScript:alert(1))", "<p>a</p>\n"},
		{"a script with an entity", "[a](java&#115;cript:alert(1))", "<p>a</p>\n"},
		{"a script in angle brackets", "<javascript:alert(1)>", "<p>javascript:alert(1)</p>\n"},
		{"a data address", "[a](data:text/html,x)", "<p>a</p>\n"},
		{"an address of this site", "[a](/logout)", "<p>a</p>\n"},
		{"an address without a scheme", "[a](//x.example)", "<p>a</p>\n"},
		{"a bare ftp address", "ftp://x.example/a", "<p>ftp://x.example/a</p>\n"},
		{"a quote in an address", `[a](https://x.example/"onclick=b)`,
			`<p><a href="https://x.example/%22onclick=b"` + rel + `>a</a></p>` + "\n"},
		{"an image is a link", "![a *b*](https://x.example/i.png)",
			`<p><a href="https://x.example/i.png"` + rel + `>a <em>b</em></a></p>` + "\n"},
		{"an image without a text", "![](https://x.example/<i>.png)",
			`<p><a href="https://x.example/%3Ci%3E.png"` + rel + `>https://x.example/&lt;i&gt;.png</a></p>` + "\n"},
		{"an image of another scheme", "![a](data:image/png;base64,x)", "<p>a</p>\n"},
		{"an image in a link", "[![a](https://x.example/i.png)](https://x.example)",
			`<p><a href="https://x.example"` + rel + `>a</a></p>` + "\n"},
		{"a link in an image", "![a [b](https://x.example/b)](https://x.example/i.png)",
			`<p><a href="https://x.example/i.png"` + rel + `>a b</a></p>` + "\n"},
		{"HTML is text", "a <b onclick=x>c</b>", "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n"},
		{"a block of HTML is text", "<script>\nalert(1)\n</script>",
			"<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>\n"},
		{"a table has no style", "|a|\n|:-:|\n|b|",
			"<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>b</td>\n</tr>\n</tbody>\n</table>\n"},
		{"a task is no form", "- [ ] a", "<ul>\n<li>[ ] a</li>\n</ul>\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, string(markdown.HTML(c.text)))
		})
	}
}

func TestATextThatIsTooHeavyIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("a", markdown.MaxText) + "<b>", strings.Repeat("[", 3000) + "<b>"} {
		out := string(markdown.HTML(text))
		require.True(t, strings.HasPrefix(out, "<pre>"))
		require.True(t, strings.HasSuffix(out, "&lt;b&gt;</pre>\n"))
	}
}

func TestAnEscapedTextIsShownAsItIs(t *testing.T) {
	t.Parallel()
	const text = "`a` *b* _c_ [d](https://x.example) ![e](f) <b>g</b> ~~h~~ |i| &amp; \\j # - 1."
	require.Equal(t, "<p>x: "+html.EscapeString(text)+"</p>\n", strings.ReplaceAll(string(markdown.HTML("x: "+markdown.Escape(text))), `<a href="https://x.example" rel="noopener nofollow">https://x.example</a>`, "https://x.example"))
}

// FuzzHTML looks for tags and attributes that only hostile output has.
func FuzzHTML(f *testing.F) {
	for _, seed := range []string{"[a](javascript:b)", "<script>", "![a](https://b)", "a *b* `c`", "<a:b>", "&lt;script&gt;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := strings.ToLower(string(markdown.HTML(text)))
		for _, bad := range []string{"<script", "<img", "<iframe", "<style", "<input", `href="javascript`, `href="data`,
			`href="/`, `href=""`} {
			require.NotContains(t, out, bad)
		}
	})
}
