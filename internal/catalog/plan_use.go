package catalog

import "github.com/iris-oncall/iris/internal/applications"

// PlanUse is how a version of a plan is used.
type PlanUse = applications.PlanUse
