package page

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"net/http"
	"strings"
)

// Live is a part of a page that refreshes itself. The browser opens a stream of events at the address of the page
// (Stream). If that fails, it requests the address Self again and sends Seen, the hash of the part that it shows.
type Live struct {
	Self string
	Seen string
	Body template.HTML
}

// IsRefresh reports whether the browser asks for a part of a page and not for the page.
func IsRefresh(r *http.Request) bool { return r.Header.Get("HX-Request") != "" }

// Live renders a part that refreshes itself. If the browser asks for this part only, Live has written the answer (204
// when nothing changed) and returns false. Otherwise the caller renders the page around the part.
func (p *Pages) Live(rw http.ResponseWriter, r *http.Request, name string, data any) (Live, bool) {
	body, ok := p.execute(rw, r, name, data)
	if !ok {
		return Live{}, false
	}
	h := fnv.New64a()
	_, _ = h.Write(withoutAges(body))
	l := Live{Self: r.URL.RequestURI(), Seen: fmt.Sprintf("%016x", h.Sum64()),
		Body: template.HTML(body)} // html/template has escaped it
	if s, streamed := r.Context().Value(seenKey{}).(*seen); streamed {
		s.live, s.person = &l, Reader(r).Name
		return Live{}, false
	}
	if !IsRefresh(r) {
		return l, true
	}
	if r.Header.Get("X-Seen") == l.Seen {
		rw.WriteHeader(http.StatusNoContent)
		return Live{}, false
	}
	p.Render(rw, r, http.StatusOK, "live", l)
	return Live{}, false
}

// withoutAges removes the texts of ages and of times until an instant. The browser updates these itself, so a new age
// is no reason to send a part again.
func withoutAges(b []byte) []byte {
	for _, mark := range []string{`data-as="age">`, `data-as="until">`} {
		var out []byte
		for {
			i := bytes.Index(b, []byte(mark))
			if i < 0 {
				b = append(out, b...)
				break
			}
			i += len(mark)
			out = append(out, b[:i]...)
			b = b[i:]
			if j := bytes.IndexByte(b, '<'); j >= 0 {
				b = b[j:]
			}
		}
	}
	return b
}

type seenKey struct{}

// seen is where Live leaves the part of a stream's page.
type seen struct {
	live      *Live // nil = the page has no such part, or it could not be shown
	person    string
	version   string // see Unchanged
	unchanged bool
}

// Unchanged reports whether a stream has sent the page at this version already. Then the handler must return without
// reading and rendering the page. A version need not cover rare changes, because Unchanged is false from time to time
// although the version is the same. A page that is slow to read, or does not depend on Pages.Version, can use a
// constant version: it is then rendered only at those times.
func Unchanged(r *http.Request, version string) bool {
	s, streamed := r.Context().Value(seenKey{}).(*seen)
	if !streamed {
		return false
	}
	s.unchanged, s.version = s.version == version, version
	return s.unchanged
}

// part is a live part as the browser knows it: a frame and the rows in it. A part without rows is only a frame.
type part struct {
	frame string
	order []string          // ids of the rows
	rows  map[string]string // id -> element
}

// The marks of rows. Templates write them; values in templates cannot contain them, because they are escaped.
const (
	rowsBegin = `<tbody id="rows">`
	rowsEnd   = `</tbody>`
	rowBegin  = `<tr id="`
)

// split finds the rows of a part.
func split(body string) part {
	before, rest, ok := strings.Cut(body, rowsBegin)
	inner, after, ended := strings.Cut(rest, rowsEnd)
	if !ok || !ended {
		return part{frame: body}
	}
	p := part{frame: before + rowsBegin + rowsEnd + after, rows: map[string]string{}}
	for i, row := range strings.Split(inner, rowBegin) {
		if i == 0 {
			continue // spaces before the first row
		}
		id, _, _ := strings.Cut(row, `"`)
		p.order = append(p.order, id)
		p.rows[id] = rowBegin + strings.TrimSpace(row)
	}
	return p
}

// update is the event that changes a part. Fields that are left out have not changed.
type update struct {
	Seen  string            `json:"seen"`
	Frame *string           `json:"frame,omitempty"`
	Order []string          `json:"order"`
	Rows  map[string]string `json:"rows,omitempty"`
}

// since returns the event that makes p of before. The zero part of before makes it of nothing.
func (p part) since(before part, hash string) update {
	u := update{Seen: hash, Order: p.order, Rows: map[string]string{}}
	if p.frame != before.frame {
		u.Frame = &p.frame
	}
	for id, row := range p.rows {
		if string(withoutAges([]byte(row))) != string(withoutAges([]byte(before.rows[id]))) {
			u.Rows[id] = row
		}
	}
	return u
}

// view requests the page of a stream as a refresh of the browser does, in the process. So the session, the rights and
// the page are looked at again each time. version is the version that the stream has sent (Unchanged); "" = always
// render the page.
func view(r *http.Request, page http.Handler, version string) (seen, *answer) {
	s := seen{version: version}
	again := r.Clone(context.WithValue(r.Context(), seenKey{}, &s))
	again.Header.Set("HX-Request", "true")
	again.Header.Del("Accept")
	w := &answer{header: http.Header{}, status: http.StatusOK}
	page.ServeHTTP(w, again)
	return s, w
}

// answer keeps the answer of a handler.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) WriteHeader(status int)      { a.status = status }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
