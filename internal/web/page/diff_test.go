package page_test

import (
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
}
