package applications

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
)

const noRekey = "You don't have permissions to re-key this app."

// noKey refuses callers who may not read the keys.
var noKey = refusals{program: "You must be a logged in user to view this app's key",
	stranger: "You don't have permissions to view this app's key.", unknown: "Key for this application not found"}

func (a keys) key(w http.ResponseWriter, r *http.Request) error {
	primary, _, err := a.both(r)
	if err == nil && primary == "" { // the application of web sessions has no key until somebody makes one
		err = fault.New(fault.Invalid, noKey.unknown)
	}
	return answerKey(w, primary, err)
}

func (a keys) secondary(w http.ResponseWriter, r *http.Request) error {
	_, secondary, err := a.both(r)
	return answerKey(w, secondary, err)
}

// both returns the keys of the application of the path; "" = there is no such key.
func (a keys) both(r *http.Request) (primary, secondary string, err error) {
	found, _, err := a.owned(r, noKey)
	if err != nil {
		return "", "", err
	}
	return a.Keys.Key(r.Context(), found.ID)
}

func answerKey(w http.ResponseWriter, key string, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
	}
	return v0.Answer(w, v0.Record{{"key", v0.OrNull(key)}}, err)
}

func (a keys) addSecondary(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, a.Keys.AddSecondary, refusals{program: "You must be a logged in user to app", stranger: noRekey,
		unknown: "Secondary key already exists, or app name incorrect"})
}

func (a keys) rekey(w http.ResponseWriter, r *http.Request) error {
	return a.change(w, r, a.Keys.Rekey, refusals{program: "You must be a logged in user to re-key this app", stranger: noRekey,
		unknown: "Re-key failed; secondary key does not exist or invalid app name"})
}

// change changes the keys of the application of the path. An application whose keys do not allow the change is refused as if it
// did not exist.
func (a keys) change(w http.ResponseWriter, r *http.Request, change func(ctx context.Context, id int64, by string) error, say refusals) error {
	found, actor, err := a.owned(r, say)
	if err != nil {
		return err
	}
	unknown := fault.New(fault.Invalid, say.unknown)
	err = fault.When(change(r.Context(), found.ID, actor.String()), fault.Conflict, unknown)
	return v0.Done(w, fault.When(err, fault.NotFound, unknown))
}
