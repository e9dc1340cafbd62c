package calendars

import (
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// ShowTag tells the client the state of what it is shown, for an If-Match of the edit that follows (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

// stillIs refuses a request whose If-Match names another state than tag. Who sends none saves over whatever is there.
func stillIs(r *http.Request, tag string) error {
	wanted := r.Header.Values("If-Match")
	if len(wanted) == 0 {
		return nil
	}
	for _, one := range strings.Split(strings.Join(wanted, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/") // a proxy that compresses weakens tags
		if one == "*" || one == `"`+tag+`"` {
			return nil
		}
	}
	return oncall.ErrStale
}

// Guarded refuses an edit of one shift that is no longer as the request's If-Match says.
func Guarded(r *http.Request, decide editing.Decide) editing.Decide {
	return func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		if len(chosen) == 1 {
			if err := stillIs(r, chosen[0].Tag()); err != nil {
				return editing.Decision{}, err
			}
		}
		return decide(now, crew, chosen)
	}
}
