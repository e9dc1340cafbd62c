package incidents

import "github.com/iris-oncall/iris/internal/fault"

// NextStep returns the step that an incident goes on to when somebody escalates it now, whether or not it was acknowledged. An
// incident that is resolved, or on the last step of its plan, is a Conflict.
func NextStep(resolved bool, current, steps int) (int, error) {
	switch {
	case resolved:
		return 0, errResolved
	case current >= steps:
		return 0, fault.Newf(fault.Conflict, "step %d is the last one of the plan: restart begins the plan again", steps)
	}
	return current + 1, nil
}

// MayRestart refuses to begin the plan of a resolved incident again.
func MayRestart(resolved bool) error {
	if resolved {
		return errResolved
	}
	return nil
}

var errResolved = fault.New(fault.Conflict, "the incident is resolved: reopen it first")
