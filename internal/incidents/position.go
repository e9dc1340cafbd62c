package incidents

import (
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// position is a place in a timeline: the client has all entries before an instant, and some entries of that instant.
type position struct {
	at    int64 // Unix microseconds
	shown int   // entries of the instant at that the client has
}

func parsePosition(s string) (position, error) {
	if s == "" {
		return position{}, nil
	}
	at, shown, ok := strings.Cut(s, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.Atoi(shown)
	if !ok || err != nil || err2 != nil || n < 0 {
		return position{}, fault.Invalidf("cursor", "cursor must be the value of next in an earlier answer")
	}
	return position{micros, n}, nil
}

// page returns the entries after the position and the cursor of the next page; "" on the last page. entries are in
// order.
func (p position) page(entries []Entry, limit int) (page []Entry, next string) {
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
func positionAfter(page []Entry, from position) string {
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
