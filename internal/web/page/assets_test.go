package page

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
)

func TestAssetsAreCompressed(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a{color:red}", 100)
	p := &Pages{}
	require.NoError(t, p.readAssets(fstest.MapFS{"static/a.css": {Data: []byte("/* The rules. */\n" +
		strings.ReplaceAll(text, "{", " { "))}, "static/small.css": {Data: []byte("a{}")}, "static/oncall/m.js": {},
		"static/console/m.js": {}}))
	get := func(name, accept string, header ...string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, p.Asset(name), nil)
		r.Header.Set("Accept-Encoding", accept)
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		p.Assets.ServeHTTP(w, r)
		return w.Result()
	}
	read := func(r io.Reader, err error) string {
		require.NoError(t, err)
		b, err := io.ReadAll(r)
		require.NoError(t, err)
		return string(b)
	}
	for accept, coding := range map[string]string{"gzip, deflate, br": "br", "gzip": "gzip", "br;q=0, gzip;q=0.5": "gzip", "": "", "identity": "", "br;q=1": "br"} {
		resp := get("a.css", accept)
		require.Equal(t, coding, resp.Header.Get("Content-Encoding"), accept)
		require.Equal(t, "Accept-Encoding", resp.Header.Get("Vary"))
		require.Contains(t, resp.Header.Get("Cache-Control"), "immutable")
		require.Equal(t, "text/css; charset=utf-8", resp.Header.Get("Content-Type"))
		body := read(resp.Body, nil)
		switch coding {
		case "br":
			body = read(brotli.NewReader(strings.NewReader(body)), nil)
		case "gzip":
			body = read(gzip.NewReader(bytes.NewReader([]byte(body))))
		}
		require.Equal(t, text, body)
	}
	require.Empty(t, get("small.css", "br").Header.Get("Content-Encoding"))
	part := get("a.css", "br", "Range", "bytes=0-3")
	require.Equal(t, http.StatusPartialContent, part.StatusCode)
	require.Equal(t, "a{co", read(part.Body, nil))
}
