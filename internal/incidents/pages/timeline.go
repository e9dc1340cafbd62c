package pages

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a timelines) routes() []routing.Route {
	return []routing.Route{routing.Get("/v1/incidents/{id}/timeline", routing.Someone, a.list)}
}

// entry is an entry of a timeline on the wire.
type entry struct {
	At     *string             `json:"at"`
	Kind   incidents.EntryKind `json:"kind"`
	Actor  *string             `json:"actor"`
	Text   string              `json:"text"`
	Detail json.RawMessage     `json:"detail"`
}

// list answers with the timeline of an incident, oldest entry first.
func (a timelines) list(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	after, ok := parsePosition(q.AfterName())
	if !ok {
		return listing.BadCursor()
	}
	found, err := a.find(r)
	if err != nil {
		return err
	}
	entries, err := a.Incidents.Timeline(r.Context(), found.ID)
	if err != nil {
		return err
	}
	shown, next := after.page(entries, q.Size)
	return listing.Answer(w, shown, showEntry, next)
}

func showEntry(e incidents.Entry) any {
	out := entry{At: listing.Time(e.At), Kind: e.Kind, Actor: listing.OrNull(e.Actor), Text: e.Text, Detail: e.Detail}
	if len(out.Detail) == 0 {
		out.Detail = json.RawMessage("null")
	}
	return out
}

// position is a place in a timeline: the client has all entries before an instant, and some entries of that instant.
type position struct {
	at    int64 // Unix microseconds
	shown int   // entries of the instant at that the client has
}

func parsePosition(s string) (position, bool) {
	if s == "" {
		return position{}, true
	}
	at, shown, ok := strings.Cut(s, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.Atoi(shown)
	return position{micros, n}, ok && err == nil && err2 == nil && n >= 0
}

// page returns the entries after the position and the cursor of the next page; "" on the last page. entries are in
// order.
func (p position) page(entries []incidents.Entry, limit int) (page []incidents.Entry, next string) {
	same := 0
	for _, e := range entries {
		at := e.At.UnixMicro()
		if at < p.at {
			continue
		}
		if at == p.at && same < p.shown {
			same++
			continue
		}
		if len(page) == limit {
			return page, positionAfter(page, p)
		}
		page = append(page, e)
	}
	return page, ""
}

// positionAfter returns the cursor after a page that began at from.
func positionAfter(page []incidents.Entry, from position) string {
	last := page[len(page)-1].At.UnixMicro()
	shown := 0
	if last == from.at {
		shown = from.shown
	}
	for _, e := range page {
		if e.At.UnixMicro() == last {
			shown++
		}
	}
	return strconv.FormatInt(last, 10) + "." + strconv.Itoa(shown)
}
