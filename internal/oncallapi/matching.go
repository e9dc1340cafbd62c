package oncallapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
)

// showTag tells the client the state of what it is shown, for an If-Match of the edit that follows (RFC 9110).
func showTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

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

// guarded refuses an edit of one shift that is no longer as the request's If-Match says.
func guarded(r *http.Request, decide edits.Decide) edits.Decide {
	return func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		if len(chosen) == 1 {
			if err := stillIs(r, chosen[0].Tag()); err != nil {
				return edits.Decision{}, err
			}
		}
		return decide(now, crew, chosen)
	}
}
