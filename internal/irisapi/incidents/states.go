package incidents

import (
	"math"
	"net/http"

	"github.com/iris-oncall/iris/internal/fault"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
)

// set sets the step of an incident and whether the incident escalates.
func (a states) set(w http.ResponseWriter, r *http.Request) error {
	id, b, err := read(w, r)
	if err != nil {
		return err
	}
	step := b.Whole("current_step", 0, math.MaxInt16)
	b.Check(b.Given("active"), b.Fault("active", "%s is required", "active"))
	if err := b.Err(); err != nil {
		return err
	}
	done, err := a.Transitions.SetState(r.Context(), change(r, id), int(step), v0.Truthy(b.Members["active"]))
	if err != nil {
		return fault.When(err, fault.Conflict, fault.Invalidf("active", "A resolved incident cannot escalate"))
	}
	if len(done) != 1 || !done[0].Found {
		return fault.New(fault.NotFound, "no such incident")
	}
	a.wake(done)
	return v0.Done(w, nil)
}
