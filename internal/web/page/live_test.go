package page

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyChangedRowsAreSent(t *testing.T) {
	t.Parallel()
	table := func(rows string) string {
		return `<table><tbody id="rows">` + "\n" + rows + "\n</tbody></table><p>older</p>"
	}
	a, b, c := `<tr id="a"><td>1</td></tr>`, `<tr id="b"><td><time data-as="age">2 s</time></td></tr>`, `<tr id="c"></tr>`
	before := split(table(a + b))
	require.Equal(t, []string{"a", "b"}, before.order)
	require.Equal(t, a, before.rows["a"])

	older := `<tr id="b"><td><time data-as="age">9 s</time></td></tr>`
	require.Equal(t, update{Seen: "x", Order: []string{"c", "a", "b"}, Rows: map[string]string{"c": c}},
		split(table(c+a+older)).since(before, "x"), "an age is no change")
	changed := split(table(`<tr id="a"><td>3</td></tr>`)).since(before, "y")
	require.Equal(t, update{Seen: "y", Order: []string{"a"},
		Rows: map[string]string{"a": `<tr id="a"><td>3</td></tr>`}}, changed)

	whole := before.since(part{}, "z")
	require.Equal(t, `<table><tbody id="rows"></tbody></table><p>older</p>`, *whole.Frame)
	require.Len(t, whole.Rows, 2)
	empty := split("<p>No incidents.</p>")
	require.Equal(t, "<p>No incidents.</p>", *empty.since(before, "").Frame)
	require.Empty(t, empty.order)
}

func TestAPersonHasFewStreams(t *testing.T) {
	t.Parallel()
	s := newStreams()
	var last chan struct{}
	for range streamsEach {
		woken, ok := s.join("ann")
		require.True(t, ok)
		last = woken
	}
	_, ok := s.join("ann")
	require.False(t, ok)
	_, ok = s.join("bob")
	require.True(t, ok)
	s.wake()
	s.wake() // a stream that has not looked yet is woken once
	<-last
	require.Empty(t, last)
	s.leave(last)
	_, ok = s.join("ann")
	require.True(t, ok)
}

func TestAStreamReadsAnUnchangedPageOnlyFromTimeToTime(t *testing.T) {
	t.Parallel()
	reads, version := 0, "1"
	page := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if Unchanged(r, version) {
			return
		}
		reads++
		r.Context().Value(seenKey{}).(*seen).live = &Live{}
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	first, _ := view(r, page, "")
	again, _ := view(r, page, first.version)
	require.True(t, again.unchanged)
	require.Equal(t, 1, reads)
	_, _ = view(r, page, "") // from time to time
	require.Equal(t, 2, reads)
	version = "2"
	changed, _ := view(r, page, first.version)
	require.False(t, changed.unchanged)
	require.False(t, Unchanged(r, version), "a request of the browser is always answered")
}
