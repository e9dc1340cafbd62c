package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
)

const noRekey = "You don't have permissions to re-key this app."

// The refusals of callers who may not read or change the keys.
var (
	noKey = refusals{program: "You must be a logged in user to view this app's key",
		stranger: "You don't have permissions to view this app's key.", unknown: "Key for this application not found"}
	noSecondary = refusals{program: "You must be a logged in user to app", stranger: noRekey,
		unknown: "Secondary key already exists, or app name incorrect"}
	noRotation = refusals{program: "You must be a logged in user to re-key this app", stranger: noRekey,
		unknown: "Re-key failed; secondary key does not exist or invalid app name"}
)

func (a keys) key(w http.ResponseWriter, r *http.Request, app applications.Application, _ string) error {
	primary, _, err := a.Applications.Key(r.Context(), app.ID)
	if err == nil && primary == "" { // the application of web sessions has no key until somebody makes one
		err = fault.New(fault.Invalid, noKey.unknown)
	}
	return answerKey(w, primary, err)
}

func (a keys) secondary(w http.ResponseWriter, r *http.Request, app applications.Application, _ string) error {
	_, secondary, err := a.Applications.Key(r.Context(), app.ID)
	return answerKey(w, secondary, err)
}

// answerKey answers with a key; "" = there is no such key.
func answerKey(w http.ResponseWriter, key string, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
	}
	return Answer(w, Record{{"key", OrNull(key)}}, err)
}

// change returns a handler that changes the keys of an application. An application whose keys do not allow the change
// is refused as if it did not exist.
func (a keys) change(change func(ctx context.Context, id int64, by string) error, say refusals) routing.Handler {
	return a.owned(say, func(w http.ResponseWriter, r *http.Request, app applications.Application, by string) error {
		unknown := fault.New(fault.Invalid, say.unknown)
		err := fault.When(change(r.Context(), app.ID, by), fault.Conflict, unknown)
		return Done(w, fault.When(err, fault.NotFound, unknown))
	})
}
