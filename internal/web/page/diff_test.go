package page_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/web/page"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	require.Nil(t, page.Diff("a\nb", "a\nb"))
	require.Equal(t, []page.DiffLine{{"del", ""}, {"add", "a"}}, page.Diff("", "a"))
	require.Equal(t, []page.DiffLine{
		{"fold", "2 equal lines"}, {"same", "3"}, {"same", "4"}, {"same", "5"}, {"del", "6"}, {"add", "six"},
		{"same", "7"}, {"same", "8"}, {"same", "9"}, {"fold", "1 equal line"},
	}, page.Diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n10", "1\n2\n3\n4\n5\nsix\n7\n8\n9\n10"))
	many, most := strings.Repeat("a\n", 100_000), strings.Repeat("a\n", 2001)
	require.Equal(t, []page.DiffLine{{"fold", "99997 equal lines"}, {"same", "a"}, {"same", "a"}, {"same", "a"},
		{"add", "b"}, {"same", ""}}, page.Diff(many, many+"b\n"))
	whole := page.Diff("x\n"+most+"y", "x\nb\ny")
	require.Equal(t, []page.DiffLine{{"fold", "More than 2000 lines have changed: they are shown as one change."},
		{"fold", "1 equal line"}}, whole[:2])
	require.Equal(t, []page.DiffLine{{"del", "a"}, {"add", "b"}, {"fold", "1 equal line"}}, whole[len(whole)-3:])
	require.Len(t, whole, 2+2001+2, "no line is left out")
}
