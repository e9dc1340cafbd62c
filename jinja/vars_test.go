package jinja

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/jinja/internal/format"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

func budget() *py.Budget {
	return py.NewBudget(py.Limits{Steps: 1_000_000, Memory: 16 << 20, Depth: 100, Time: time.Minute})
}

func TestDecodeJSON(t *testing.T) {
	t.Parallel()
	v, err := decodeJSON([]byte(` {"b": [1, 2.0, -0, 1e2, true, null], "a": "\u00e9\ud83d\ude00\ud800x\n", "b2": {}} `))
	require.NoError(t, err)
	require.Equal(t, `{'b': [1, 2.0, 0, 100.0, True, None], 'a': 'é😀�x\n', 'b2': {}}`, py.Repr(budget(), v))
	for _, bad := range []string{
		"", "{", "[", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "01", "1.", "1e", "-", "tru", `"`, `"\x"`, `"\u12"`, "\"\n\"", "1 2", "NaN",
		"{1:2}", strings.Repeat("[", 200) + strings.Repeat("]", 200), strings.Repeat("1", 5000),
	} {
		_, err := decodeJSON([]byte(bad))
		require.Error(t, err, bad)
	}
}

func FuzzDecodeJSON(f *testing.F) {
	f.Add(`{"a": [1, 2.5, "x\u00e9", null, true, {"b": -1e5}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := decodeJSON([]byte(s))
		if err != nil {
			return
		}
		text := format.JSON(budget(), v, nil)
		if strings.Contains(text, "Infinity") {
			return // a number outside the range of float64, which JSON cannot represent
		}
		again, err := decodeJSON([]byte(text))
		require.NoError(t, err, text)
		require.True(t, py.Equal(budget(), v, again), text)
	})
}
