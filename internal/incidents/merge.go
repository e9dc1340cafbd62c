package incidents

import (
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// MaxMergeComment is the length of the comment of a merge, in characters.
const MaxMergeComment = 1000

// Parent is the incident that others shall be merged into.
type Parent struct {
	ID         ID
	Found      bool
	Status     Status
	MergedInto ID // 0 = none
}

// CheckMergeComment returns an Invalid fault if a comment of a merge is too long.
func CheckMergeComment(comment string) error {
	if utf8.RuneCountInString(comment) > MaxMergeComment {
		return fault.Invalidf("comment", "comment must have at most %d characters", MaxMergeComment)
	}
	return nil
}

// CheckMerge returns an Invalid fault if incidents cannot be merged into a parent. A merge has one level: an incident
// is either merged into another one, or others are merged into it. withChildren is an incident to be merged that others
// are merged into; 0 = none.
func CheckMerge(children []ID, withChildren ID, into Parent) error {
	for _, id := range children {
		if id == into.ID {
			return fault.Invalidf("into", "incident %d cannot be merged into itself", id)
		}
	}
	switch state := into.Status.State(); {
	case !into.Found:
		return fault.Invalidf("into", "there is no incident %d", into.ID)
	case into.MergedInto != 0:
		return fault.Invalidf("into", "incident %d is merged into incident %d: merge into that one", into.ID,
			into.MergedInto)
	case state == StateResolved || state == StateClosed:
		return fault.Invalidf("into", "incident %d is %s: merge into an open incident", into.ID, state)
	case withChildren != 0:
		return fault.Invalidf("into", "other incidents are merged into incident %d: merge into incident %d instead, or undo those merges first", withChildren, withChildren)
	}
	return nil
}
