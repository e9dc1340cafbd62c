package applications

import (
	"net/http"

	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"

	"github.com/iris-oncall/iris/internal/fault"
)

func (a keys) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v0/applications/{app}/key", routing.Write, a.key),
		routing.Get("/v0/applications/{app}/secondary", routing.Write, a.secondary),
		routing.Post("/v0/applications/{app}/secondary", routing.Write, a.addSecondary),
		routing.Post("/v0/applications/{app}/rekey", routing.Write, a.rekey),
	}
}

func (a keys) key(w http.ResponseWriter, r *http.Request) error {
	found, _, err := a.owned(r, refusals{nobody: "You must be a logged in user to view this app's key",
		stranger: "You don't have permissions to view this app's key.", unknown: keyNotFound})
	if err != nil {
		return err
	}
	primary, _, err := a.Keys.Key(r.Context(), found.ID)
	if err != nil {
		return err
	}
	if primary == "" { // the application of web sessions has none until somebody makes one
		return fault.New(fault.Invalid, keyNotFound)
	}
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusOK, v0.Record{{"key", primary}})
}

const keyNotFound = "Key for this application not found"

func (a keys) secondary(w http.ResponseWriter, r *http.Request) error {
	found, _, err := a.owned(r, refusals{nobody: "You must be a logged in user to view this app's key",
		stranger: "You don't have permissions to view this app's key.", unknown: keyNotFound})
	if err != nil {
		return err
	}
	_, secondary, err := a.Keys.Key(r.Context(), found.ID)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return routing.Answer(w, http.StatusOK, v0.Record{{"key", v0.OrNull(secondary)}})
}

func (a keys) addSecondary(w http.ResponseWriter, r *http.Request) error {
	const exists = "Secondary key already exists, or app name incorrect"
	found, actor, err := a.owned(r, refusals{nobody: "You must be a logged in user to app",
		stranger: "You don't have permissions to re-key this app.", unknown: exists})
	if err != nil {
		return err
	}
	err = a.Keys.AddSecondary(r.Context(), found.ID, actor.String())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, exists)
	}
	if err != nil {
		return err
	}
	return v0.Done(w)
}

func (a keys) rekey(w http.ResponseWriter, r *http.Request) error {
	const failed = "Re-key failed; secondary key does not exist or invalid app name"
	found, actor, err := a.owned(r, refusals{nobody: "You must be a logged in user to re-key this app",
		stranger: "You don't have permissions to re-key this app.", unknown: failed})
	if err != nil {
		return err
	}
	err = a.Keys.Rekey(r.Context(), found.ID, actor.String())
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		return fault.New(fault.Invalid, failed)
	}
	if err != nil {
		return err
	}
	return v0.Done(w)
}
