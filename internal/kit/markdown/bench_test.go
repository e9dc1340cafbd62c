package markdown_test

import (
	"strings"
	"testing"

	"github.com/iris-oncall/iris/internal/kit/markdown"
)

// BenchmarkHostileText converts the slowest texts that are still parsed.
func BenchmarkHostileText(b *testing.B) {
	for _, s := range []string{"[", "*a ", "> ", "![", "`", "<", "_a*", "|a", "- ", "\\", "&", "[a](", "http://a ", "# a\n", "|a|\n|-|\n"} {
		n := markdown.MaxText / len(s)
		for markdown.Heavy(strings.Repeat(s, n)) {
			n -= 100
		}
		text := strings.Repeat(s, n)
		b.Run(s, func(b *testing.B) {
			for b.Loop() {
				markdown.HTML(text)
			}
		})
	}
}
