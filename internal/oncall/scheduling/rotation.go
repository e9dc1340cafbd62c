package scheduling

import (
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Unit is the unit of a turn's length.
type Unit string

// The units of turns.
const (
	Hours        Unit = "hours"
	Days         Unit = "days"
	Weeks        Unit = "weeks"
	Months       Unit = "months"
	BusinessDays Unit = "business-days" // Monday to Friday; a turn before a weekend lasts over it unless restricted
)

// HolidayRule says what a layer does on holidays.
type HolidayRule string

// The rules for holidays.
const (
	KeepHolidays HolidayRule = "keep" // like any other day
	SkipHolidays HolidayRule = "skip" // nobody of this layer is on call
	OnlyHolidays HolidayRule = "only" // this layer is for holidays
)

// Rotation is people taking turns, in layers. Where layers overlap, the later one wins. All times are of the team's clock.
type Rotation struct{ Layers []Layer }

// Layer is one sequence of turns.
type Layer struct {
	Name string
	// Start is the first hand-off; the layer covers nothing before. End is when it is over; nil = never.
	Start oncall.Local
	End   *oncall.Local
	// Every and Unit are the length of a turn: every 1 week, every 8 hours. Months end on the last day where Start's day
	// does not exist.
	Every int
	Unit  Unit
	// HandOffs are more hand-offs in a day, as times after midnight: each one passes the pager on. With units days or
	// business days a turn lasts from one hand-off to the next, Every counting days as usual: Every 1 and hand-offs at
	// 01:00, 09:00 and 17:00 make three turns a day. Empty = one hand-off, at Start's time of day. Not with other units.
	HandOffs []time.Duration
	// Restrict limits the layer to windows of the week; empty = always.
	Restrict []Window
	Holidays HolidayRule   // "" = keep
	Members  []LayerMember // in the order of their turns
}

// LayerMember is a person's place in a layer. Members who join or leave change nobody's turn before that day, and the others go on
// in their order. Leaving is a date and not a removal, so that the past keeps its turns.
type LayerMember struct {
	User   users.ID
	Joins  *oncall.Date // takes turns that begin on that day or later; nil = from the start
	Leaves *oncall.Date // takes no turn that begins on that day or later; nil = stays
}

// Window is a stretch of some days of the week. To not after From means the next day's time; To of 24 hours is midnight.
type Window struct {
	Days     []time.Weekday // empty = every day
	From, To time.Duration  // after midnight
}
