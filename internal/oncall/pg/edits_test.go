package pg_test

import (
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// anybody is a caller with every permission.
type anybody struct{}

func (anybody) MayEditCalendar(int64, string) error   { return nil }
func (anybody) MayAdministerTeam(int64, string) error { return nil }

// change is an edit that is not logged.
type change func(d editing.Editor, selected []oncall.Shift) (oncall.Changes, error)

func (change) Action() string                                     { return "" }
func (change) Audit(editing.Edit, editing.Outcome) map[string]any { return nil }

func (c change) Decide(d editing.Editor, selected []oncall.Shift) (editing.Outcome, error) {
	changes, err := c(d, selected)
	return editing.Outcome{Changes: changes}, err
}

// edited is an edit of the selected shifts.
func edited(s editing.Selection, c change) editing.Edit {
	return editing.Edit{Access: editing.Access{Caller: anybody{}}, Selection: s, Change: c}
}
