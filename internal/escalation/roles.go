package escalation

// TargetRole is what a plan names beside a target, and the kind of target that it fits: user, team or mailing-list.
type TargetRole struct{ Name, Kind string }

// TargetKinds are the kinds of targets.
func TargetKinds() []string { return []string{"user", "team", "mailing-list"} }
