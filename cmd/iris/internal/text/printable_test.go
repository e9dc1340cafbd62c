package text

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

func TestPrintable(t *testing.T) {
	t.Parallel()
	const in = "17\ta\x1b[2J\u009b31mb\r\x07\u202ec 😀é\n"
	for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in))} {
		var out strings.Builder
		_, err := io.Copy(Printable(&out), r)
		require.NoError(t, err)
		require.Equal(t, "17\ta\uFFFD[2J\uFFFD31mb\uFFFD\uFFFD\uFFFDc 😀é\n", out.String())
	}
}
