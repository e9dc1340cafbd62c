package calendars

import (
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire/routing"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// stillIs refuses a request whose If-Match names another state than tag.
func stillIs(r *http.Request, tag string) error {
	if routing.Matches(r, tag) {
		return nil
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
