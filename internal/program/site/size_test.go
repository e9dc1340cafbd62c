package site

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

// The test counts all static files, because the calendar loads no other file.
func TestTheCalendarIsBelow250KilobytesOnTheWire(t *testing.T) {
	t.Parallel()
	var wire bytes.Buffer
	require.NoError(t, fs.WalkDir(files, "static", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := files.ReadFile(path)
		require.NoError(t, err)
		w := gzip.NewWriter(&wire)
		_, err = w.Write(body)
		require.NoError(t, err)
		return w.Close()
	}))
	require.Less(t, wire.Len(), 250_000)
	t.Logf("%d bytes", wire.Len())
}
