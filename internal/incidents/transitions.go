package incidents

import "github.com/iris-oncall/iris/internal/fault"

// NextStep returns the step with which an incident continues if somebody escalates it now, whether or not it was
// acknowledged. It is a Conflict fault if the incident is resolved or on the last step of its plan.
func NextStep(resolved bool, current, steps int) (int, error) {
	switch {
	case resolved:
		return 0, errResolved
	case current >= steps:
		return 0, fault.Newf(fault.Conflict, "step %d is the last one of the plan: use restart to begin the plan again", steps)
	}
	return current + 1, nil
}

// MayRestart returns a Conflict fault if the incident is resolved.
func MayRestart(resolved bool) error {
	if resolved {
		return errResolved
	}
	return nil
}

var errResolved = fault.New(fault.Conflict, "the incident is resolved: reopen it first")
