package applications

import "time"

// Unit is the length of one place on the time axis of figures.
type Unit string

// The units.
const (
	ByHour  Unit = "hour"
	ByDay   Unit = "day"
	ByWeek  Unit = "week"
	ByMonth Unit = "month"
)

// FigureQuery selects the incidents and messages that figures count: those after From until To.
type FigureQuery struct {
	From, To time.Time
	Unit     Unit
	Zone     string // name of the time zone in which days, weeks and months begin
	// Application, Plan and Team are names; "" = all. A plan without an owning team counts for the team of the
	// application.
	Application, Plan, Team string
}

// Period is a period that ends now, as many people look at it.
type Period struct {
	Days int
	Unit Unit
}

// Periods are the periods that the page of statistics offers, by name. Processes keep their totals ready.
var Periods = map[string]Period{"day": {1, ByHour}, "week": {7, ByDay}, "month": {30, ByDay}, "quarter": {91, ByWeek}}

// Until returns the query of the period that ends at now: today and the days before it, in the time zone of now.
func (p Period) Until(now time.Time) FigureQuery {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	return FigureQuery{From: midnight.AddDate(0, 0, 1-p.Days), To: now, Unit: p.Unit, Zone: now.Location().String()}
}

// PeriodFigures are what happened in a period. They are computed from counts by hour; the current hour is read from the
// rows.
type PeriodFigures struct {
	CountedTo time.Time // later figures are of the rows, at most two hours; zero = nothing is counted yet
	HoursFrom time.Time // before it there are counts by day only: no times, and no pages of people
	Counting  bool      // hours are still being counted: the figures are incomplete
	Times     []IncidentFigure
	Plans     []IncidentFigure
	Teams     []IncidentFigure
	Messages  []MessageFigure
	Vendors   []VendorFigure
	People    []PageFigure
	Hours     []PageFigure
}

// IncidentFigure counts the incidents of a place in time (RFC 3339), of a plan or of a team ("" = none).
type IncidentFigure struct {
	Key                               string
	Incidents, Acknowledged, Resolved int64
	// The times are seconds from the opening; -1 = there are none.
	AcknowledgeMedian, AcknowledgeP90, ResolveMedian, ResolveP90 float64
}

// MessageFigure counts settled messages.
type MessageFigure struct {
	At                      time.Time
	Mode                    string
	Sent, Delivered, Failed int64
}

// VendorFigure counts calls of an account of a vendor.
type VendorFigure struct {
	At                    time.Time
	Vendor, Account, Mode string
	Attempts, Failed      int64
}

// PageFigure counts the sent pages of a person, or of an hour of the day ("00" to "23") in the zone of each person.
type PageFigure struct {
	Key           string
	Pages         int64
	Interruptions int64 // pages by another mode than e-mail
	Outside       int64 // interruptions outside Monday to Friday, 8 to 18 o'clock
	Weekend       int64 // interruptions on Saturday and Sunday
}
