package applications

import (
	"encoding/json"
	"time"
)

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
	CountedTo *time.Time       `json:"counted_to" doc:"Figures up to this time come from hourly counts. Later ones are counted for this answer, at most two hours; null = nothing is counted yet."`
	HoursFrom *time.Time       `json:"hours_from" doc:"Before this time there are only counts by day, without times to acknowledge and resolve, and without pages of people."`
	Counting  bool             `json:"counting" doc:"Hours are still being counted: the figures are incomplete."`
	Times     []IncidentFigure `json:"incidents" doc:"By time; key is the beginning, as RFC 3339. Medians and 90th percentiles are precise to 3.5 %."`
	Plans     []IncidentFigure `json:"plans" doc:"The 100 plans with the most incidents."`
	Teams     []IncidentFigure `json:"teams" doc:"By the team that owns the plan, else the application; an empty key for those without a team."`
	Messages  []MessageFigure  `json:"messages"`
	Vendors   []VendorFigure   `json:"vendors"`
	People    []PageFigure     `json:"people" doc:"The 100 people with the most interruptions."`
	Hours     []PageFigure     `json:"hours" doc:"By the hour of the day in the time zone of each person."`
}

// Seconds is a time; negative = there is none, which is null in JSON.
type Seconds float64

// MarshalJSON implements json.Marshaler.
func (s Seconds) MarshalJSON() ([]byte, error) {
	if s < 0 {
		return []byte("null"), nil
	}
	return json.Marshal(float64(s))
}

// IncidentFigure counts the incidents of a place in time (RFC 3339), of a plan or of a team ("" = none). Its times are
// those from the opening.
type IncidentFigure struct {
	Key               string  `json:"key"`
	Incidents         int64   `json:"incidents"`
	Acknowledged      int64   `json:"acknowledged" doc:"At least once, also if they escalated again."`
	Resolved          int64   `json:"resolved"`
	AcknowledgeMedian Seconds `json:"acknowledge_median_seconds" nullable:"true"`
	AcknowledgeP90    Seconds `json:"acknowledge_p90_seconds" nullable:"true"`
	ResolveMedian     Seconds `json:"resolve_median_seconds" nullable:"true"`
	ResolveP90        Seconds `json:"resolve_p90_seconds" nullable:"true"`
}

// MessageFigure counts settled messages.
type MessageFigure struct {
	At        time.Time `json:"at"`
	Mode      string    `json:"mode"`
	Sent      int64     `json:"sent"`
	Delivered int64     `json:"delivered"`
	Failed    int64     `json:"failed"`
}

// VendorFigure counts calls of an account of a vendor.
type VendorFigure struct {
	At       time.Time `json:"at"`
	Vendor   string    `json:"vendor"`
	Account  string    `json:"account"`
	Mode     string    `json:"mode"`
	Attempts int64     `json:"attempts"`
	Failed   int64     `json:"failed"`
}

// PageFigure counts the sent pages of a person, or of an hour of the day ("00" to "23") in the zone of each person.
type PageFigure struct {
	Key           string `json:"key"`
	Pages         int64  `json:"pages" doc:"Sent messages of incidents."`
	Interruptions int64  `json:"interruptions" doc:"Pages by another mode than e-mail."`
	Outside       int64  `json:"outside_working_hours" doc:"Interruptions outside Monday to Friday, 8 to 18 o'clock in the time zone of the person."`
	Weekend       int64  `json:"weekend" doc:"Interruptions on Saturday and Sunday."`
}
