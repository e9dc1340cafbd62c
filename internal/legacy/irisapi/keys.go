package irisapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
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

func (a keys) key(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	found, err := a.Operations.Key.Do(r.Context(), by, one)
	return answerKey(w, found, fault.When(err, fault.NotFound, fault.New(fault.Invalid, noKey.unknown)))
}

func (a keys) secondary(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
	found, err := a.Operations.SecondaryKey.Do(r.Context(), by, one)
	return answerKey(w, found, fault.When(err, fault.NotFound, nil))
}

// answerKey answers with a key; an empty one is null.
func answerKey(w http.ResponseWriter, found catalog.Key, err error) error {
	if err == nil {
		w.Header().Set("Cache-Control", "no-store")
	}
	return Answer(w, Record{{"key", OrNull(found.Key)}}, err)
}

// changeKeys returns a handler that changes the keys of an application. An application whose keys do not allow the
// change is refused as if it did not exist.
func changeKeys[Out any](d ApplicationsDeps, change operation.Op[catalog.OneApplication, Out], say refusals) routing.Handler {
	return d.owned(say, func(w http.ResponseWriter, r *http.Request, by operation.Actor, one catalog.OneApplication) error {
		_, err := change.Do(r.Context(), by, one)
		unknown := fault.New(fault.Invalid, say.unknown)
		return Done(w, fault.When(fault.When(err, fault.Conflict, unknown), fault.NotFound, unknown))
	})
}
