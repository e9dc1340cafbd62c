package people

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (p reprioritisations) get(w http.ResponseWriter, r *http.Request, u users.User) error {
	rules, err := p.Reprioritisations.Reprioritisations(r.Context(), u.ID)
	out := make([]v0.Record, len(rules))
	for i, rule := range rules {
		out[i] = v0.Record{{"target", u.Name}, {"src_mode", rule.Source}, {"dst_mode", rule.Destination},
			{"count", rule.Count}, {"duration", int(rule.Window.Seconds())}}
	}
	return v0.Answer(w, out, err)
}

func (p reprioritisations) set(w http.ResponseWriter, r *http.Request, u users.User) error {
	rule, err := parseReprioritisation(v0.ReadBody(w, r, ""))
	if err != nil {
		return err
	}
	return v0.Done(w, p.Reprioritisations.SetReprioritisation(r.Context(), u, rule, v0.By(r)))
}

// Bounds of a rule, from the v0 wire.
const (
	shortestWindow = 60
	longestWindow  = 3600
	mostMessages   = 255
)

func parseReprioritisation(b v0.Body) (rule users.Reprioritisation, err error) {
	for _, name := range []string{"duration", "count", "src_mode", "dst_mode"} {
		b.Check(b.Given(name), fault.Titled("Missing argument", "missing arg: "+name))
	}
	seconds, ok := v0.Integer(b.Members["duration"])
	b.Check(ok, fault.Titled("Invalid duration", "duration must be an integer"))
	b.Check(seconds >= shortestWindow, fault.Titled("Invalid duration", "duration must be greater than 1 minute"))
	b.Check(seconds <= longestWindow, fault.Titled("Invalid duration", "duration must be at most 3600 seconds"))
	count, ok := v0.Integer(b.Members["count"])
	b.Check(ok, fault.Titled("Invalid count", "count must be an integer"))
	b.Check(count > 0, fault.Titled("Invalid count", "count must be greater than 0"))
	b.Check(count <= mostMessages, fault.Titled("Invalid count", "count must be under 255"))
	rule.Window, rule.Count = time.Duration(seconds)*time.Second, int(count)
	rule.Source, ok = modeOf(b.Members["src_mode"])
	b.Check(ok, fault.Titled("Invalid source mode.", "Invalid source mode."))
	rule.Destination, ok = modeOf(b.Members["dst_mode"])
	b.Check(ok, fault.Titled("Invalid destination mode.", "Invalid destination mode."))
	return rule, b.Err()
}

// modeOf reads the name of a mode; false when it is none.
func modeOf(raw json.RawMessage) (users.Mode, bool) {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return "", false
	}
	return users.ParseMode(name)
}

func (p reprioritisations) remove(w http.ResponseWriter, r *http.Request, u users.User) error {
	mode, known := users.ParseMode(wire.Param(r, "mode"))
	if !known {
		return fault.New(fault.NotFound, "no such mode")
	}
	return v0.Done(w, p.Reprioritisations.RemoveReprioritisation(r.Context(), u, mode, v0.By(r)))
}
