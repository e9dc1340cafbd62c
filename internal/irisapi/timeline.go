package irisapi

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// Sizes of a page of records.
const (
	defaultRecords = 100
	maxRecords     = 500
)

// records are the routes of what happened and who changed what. They answer pages: "next" is the cursor of the next one, null on
// the last.
func (a *API) records() []route {
	return []route{
		{get, "/v1/incidents/{id}/timeline", someone, a.timeline},
		{get, "/v1/audit", someone, a.audit},
	}
}

// pageSize reads the limit of a page.
func pageSize(r *http.Request) (int, error) {
	value, given, err := text(r, "limit")
	if err != nil || !given {
		return defaultRecords, err
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > maxRecords {
		return 0, fault.Invalidf("limit", "limit must be a number between 1 and %d", maxRecords)
	}
	return n, nil
}

// timeline answers what happened to an incident, oldest first.
func (a *API) timeline(w http.ResponseWriter, r *http.Request) error {
	id, ok := pathID(r, "id")
	if !ok {
		return fault.New(fault.NotFound, "no such incident")
	}
	limit, err := pageSize(r)
	if err != nil {
		return err
	}
	value, given, err := text(r, "cursor")
	if err != nil {
		return err
	}
	after, ok := parsePosition(value)
	if given && !ok {
		return fault.Invalidf("cursor", "cursor must be the next of an earlier answer")
	}
	if _, err := a.Incidents.Get(r.Context(), incidents.ID(id)); err != nil {
		return err
	}
	entries, err := a.Timelines.Timeline(r.Context(), incidents.ID(id))
	if err != nil {
		return err
	}
	page, next := after.page(entries, limit)
	out := make([]record, len(page))
	for i, e := range page {
		out[i] = record{{"at", e.At.UTC().Format(time.RFC3339Nano)}, {"kind", e.Kind}, {"actor", orNull(e.Actor)}, {"text", e.Text}, {"detail", detail(e)}}
	}
	wire.JSON(w, http.StatusOK, record{{"entries", out}, {"next", orNull(next)}})
	return nil
}

func detail(e incidents.Entry) any {
	if len(e.Detail) == 0 {
		return nil
	}
	return e.Detail
}

// position is a place in a timeline: so many entries of an instant were shown, and all before it.
type position struct {
	at    int64 // microseconds
	shown int
}

func parsePosition(s string) (position, bool) {
	at, shown, ok := strings.Cut(s, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.Atoi(shown)
	return position{micros, n}, ok && err == nil && err2 == nil && n >= 0
}

// page returns the entries after the position, which are in order, and the cursor behind them; "" after the last.
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

// positionAfter is the place behind a page that began at from.
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

// audit answers who changed what by hand, newest first. It is for administrators.
func (a *API) audit(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	limit, err := pageSize(r)
	if err != nil {
		return err
	}
	value, given, err := text(r, "cursor")
	if err != nil {
		return err
	}
	before := int64(math.MaxInt64)
	if given {
		if before, err = strconv.ParseInt(value, 10, 64); err != nil {
			return fault.Invalidf("cursor", "cursor must be the next of an earlier answer")
		}
	}
	rows, err := a.AuditLog.Before(r.Context(), before, limit+1)
	if err != nil {
		return err
	}
	next := ""
	if len(rows) > limit {
		rows = rows[:limit]
		next = strconv.FormatInt(rows[limit-1].ID, 10)
	}
	out := make([]record, len(rows))
	for i, e := range rows {
		out[i] = record{{"id", e.ID}, {"at", e.At.UTC().Format(time.RFC3339Nano)}, {"actor", e.Actor}, {"action", e.Action}, {"object", orNull(e.Object)}, {"detail", orNull(e.Detail)}}
	}
	wire.JSON(w, http.StatusOK, record{{"entries", out}, {"next", orNull(next)}})
	return nil
}
