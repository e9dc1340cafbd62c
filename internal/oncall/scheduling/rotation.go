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
	BusinessDays Unit = "business-days" // Monday to Friday; without Restrict, a turn before a weekend includes the weekend
)

// HolidayRule says what a layer does on holidays.
type HolidayRule string

// The rules for holidays.
const (
	KeepHolidays HolidayRule = "keep" // like any other day
	SkipHolidays HolidayRule = "skip" // nobody of this layer is on call
	OnlyHolidays HolidayRule = "only" // this layer covers holidays only
)

// Rotation is people taking turns, in layers. Where layers overlap, the later one takes precedence. All times are on
// the team's clock.
type Rotation struct{ Layers []Layer }

// Layer is one sequence of turns.
type Layer struct {
	Name string
	// Start is the first hand-off: the layer covers nothing before it. The layer ends at End; nil = never.
	Start oncall.Local
	End   *oncall.Local
	// Every and Unit are the length of a turn: every 1 week, every 8 hours. With months, a hand-off is on the last day
	// of a month that does not have Start's day.
	Every int
	Unit  Unit
	// HandOffs are further hand-offs in a day, as times after midnight. With units days or business days a turn lasts
	// from one hand-off to the next, and Every counts days as usual: Every 1 with hand-offs at 01:00, 09:00 and 17:00
	// makes three turns a day. Empty = one hand-off, at Start's time of day. Not allowed with other units.
	HandOffs []time.Duration
	// Restrict limits the layer to windows of the week; empty = always.
	Restrict []Window
	Holidays HolidayRule   // "" = keep
	Members  []LayerMember // in the order of their turns
}

// LayerMember is a person's place in a layer. A member who joins or leaves changes no turn before that day; then the
// others continue in their order. Leaving is a date and not a removal, so that past turns stay the same.
type LayerMember struct {
	User   users.ID
	Joins  *oncall.Date // takes turns that begin on that day or later; nil = from the start
	Leaves *oncall.Date // takes no turn that begins on that day or later; nil = stays
}

// Window is a stretch of some days of the week. If To is not after From, it ends at To on the next day. To of 24 hours
// is midnight.
type Window struct {
	Days     []time.Weekday // empty = every day
	From, To time.Duration  // after midnight
}
