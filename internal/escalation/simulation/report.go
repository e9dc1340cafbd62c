package simulation

import (
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
)

// Report is a simulation as the API returns it. Times are whole seconds in UTC.
type Report struct {
	Plan        string            `json:"plan"`
	PlanID      escalation.PlanID `json:"plan_id"`
	Application *string           `json:"application"` // null = no application was named
	At          time.Time         `json:"at"`
	Assume      string            `json:"assume"`
	Pages       []ReportPage      `json:"pages"`
	Timeline    []ReportLine      `json:"timeline"`
	End         End               `json:"end"`
	EndedAt     time.Time         `json:"ended_at"`
	Notes       []string          `json:"notes"`
}

// ReportPage is one message that would be made.
type ReportPage struct {
	At           time.Time  `json:"at"`
	After        int64      `json:"after"` // seconds since the incident was opened
	Step         int        `json:"step"`  // 0 = the tracking message
	Notification int        `json:"notification"`
	Repeat       int        `json:"repeat"`
	Target       string     `json:"target"`
	Purpose      string     `json:"purpose"`
	Priority     string     `json:"priority"`
	Mode         string     `json:"mode"`
	WantedMode   string     `json:"wanted_mode"`
	Rule         string     `json:"rule"`
	ModeRule     string     `json:"mode_rule"`
	Template     string     `json:"template"`
	HeldUntil    *time.Time `json:"held_until"` // null = it is sent at once
}

// ReportLine is a line of the timeline.
type ReportLine struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text"`
}

func inSeconds(at time.Time) time.Time { return at.Truncate(time.Second).UTC() }

// Report returns the simulation as the API returns it.
func (s Simulation) Report() Report {
	r := Report{
		Plan: s.Plan.Name, PlanID: s.Plan.ID, At: inSeconds(s.Question.At), Assume: "no-ack", End: s.End, EndedAt: inSeconds(s.EndedAt),
		Pages: make([]ReportPage, len(s.Pages)), Timeline: make([]ReportLine,
			len(s.Timeline)), Notes: append([]string{}, s.Notes...),
	}
	if s.Question.Application != 0 {
		r.Application = &s.Application.Name
	}
	if s.Question.AcknowledgedAfter > 0 {
		r.Assume = "ack-after=" + s.Question.AcknowledgedAfter.String()
	}
	for i, p := range s.Pages {
		page := ReportPage{
			At: inSeconds(p.At), After: int64(p.At.Sub(s.Question.At) / time.Second), Step: p.Step, Notification: p.Position + 1,
			Repeat: p.Repeat, Target: p.Target, Purpose: string(p.Purpose), Priority: string(p.Priority), Mode: string(p.Mode),
			WantedMode: string(p.Wanted), Rule: p.Rule, ModeRule: p.ModeRule, Template: p.Template,
		}
		if p.Wanted == "" {
			page.WantedMode = page.Mode
		}
		if !p.HeldUntil.IsZero() {
			until := inSeconds(p.HeldUntil)
			page.HeldUntil = &until
		}
		r.Pages[i] = page
	}
	for i, e := range s.Timeline {
		r.Timeline[i] = ReportLine{At: inSeconds(e.At), Kind: string(e.Kind), Text: e.Text}
	}
	return r
}
