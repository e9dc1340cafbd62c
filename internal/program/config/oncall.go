package config

import (
	"slices"
	"strings"
	"time"
)

// Oncall configures the on-call calendar.
type Oncall struct {
	// Grace is how long after its start a shift may be edited by all members of the team.
	Grace time.Duration `koanf:"grace_period" default:"24h"`
	// PopulateEvery is the interval between two fills of a team's calendar.
	PopulateEvery time.Duration `koanf:"populate_every" default:"1h"`
	// WarnAhead is how far ahead a team is warned of gaps in its calendar.
	WarnAhead time.Duration `koanf:"warn_ahead" default:"48h"`
	// ReminderModes, ReminderRoles and ReminderTimes are the reminders of new members of a team: the modes, the roles
	// of the shifts, and how long before the shift.
	ReminderModes []string        `koanf:"reminder_modes" oneof:"email,sms,call,slack,push" default:"email"`
	ReminderRoles []string        `koanf:"reminder_roles" default:"primary,secondary,shadow,manager"`
	ReminderTimes []time.Duration `koanf:"reminder_times" default:"24h,168h"`
	// PhoneCheckEvery is the minimum time between e-mails to a person who is on call soon and has no phone number. 0 =
	// no e-mails. PhoneCheckSubject and PhoneCheckBody are the text.
	PhoneCheckEvery   time.Duration `koanf:"phone_check_every"`
	PhoneCheckSubject string        `koanf:"phone_check_subject" default:"You are on call soon and cannot be called"`
	PhoneCheckBody    string        `koanf:"phone_check_body"`
	// PrivateCalendars allows subscriptions of calendars at addresses that are not on the public internet, and without
	// TLS.
	PrivateCalendars bool `koanf:"private_calendars"`
	// EscalateApplication opens the incidents of the escalate button; "" = no button.
	EscalateApplication string `koanf:"escalate_application"`
	// UrgentPlan and MediumPlan are plans that the button offers besides the plan of the team. The targets are for
	// their dynamic targets, as role or role:target; without a target it is the team.
	UrgentPlan    string   `koanf:"urgent_plan"`
	UrgentTargets []string `koanf:"urgent_targets"`
	MediumPlan    string   `koanf:"medium_plan"`
	MediumTargets []string `koanf:"medium_targets"`
	// BonusURL returns a JSON list of {name, primary_paid, secondary_paid}; it enables /api/v0/events/bonus. Teams of
	// the whitelist are always paid, teams of the blacklist never.
	BonusURL       string   `koanf:"bonus_url" url:"http"`
	BonusWhitelist []string `koanf:"bonus_whitelist"`
	BonusBlacklist []string `koanf:"bonus_blacklist"`
}

// oncall checks the settings of the on-call calendar and fills in the defaults.
func (l *loader) oncall(o Oncall) Oncall {
	l.apply("oncall", &o)
	if o.PhoneCheckBody == "" {
		o.PhoneCheckBody = "You are on call soon, but Iris has no phone number to call you. Please add one to your contacts."
	}
	for _, p := range []struct {
		path    string
		targets []string
	}{{"oncall.urgent_targets", o.UrgentTargets}, {"oncall.medium_targets", o.MediumTargets}} {
		if slices.ContainsFunc(p.targets, func(t string) bool { return t == "" || strings.HasPrefix(t, ":") }) {
			l.problem(l.where(p.path), "write each target as role or role:target, such as oncall-primary")
		}
	}
	if o.EscalateApplication == "" && (o.UrgentPlan != "" || o.MediumPlan != "") {
		l.warning(l.where("oncall.escalate_application"), "is not set: there is no escalate button")
	}
	return o
}

// oncallDebug refuses the debug mode of the on-call API on an address that other machines reach.
func (l *loader) oncallDebug(out *API) {
	if !out.Compatibility.OncallDebugAuth {
		return
	}
	if !loopback(out.HTTP.Addr) {
		l.problem(l.where("http.addr"), "%q can be reached from other machines, and compatibility.oncall_debug_auth lets every "+
			"client change every calendar; set it to 127.0.0.1:PORT, or remove oncall_debug_auth", out.HTTP.Addr)
	}
	l.warning(l.where("compatibility.oncall_debug_auth"),
		"is set: every client of /api/v0 is the user test_user, who may do everything; for tests only")
}
