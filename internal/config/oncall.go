package config

import (
	"slices"
	"strings"
	"time"
)

// Oncall configures the on-call calendar.
type Oncall struct {
	// Grace is how long after its start a shift may be edited by all members of the team. 0 = 24 h.
	Grace time.Duration `koanf:"grace_period"`
	// PopulateEvery is the interval between two fills of a team's calendar. 0 = 1 h.
	PopulateEvery time.Duration `koanf:"populate_every"`
	// WarnAhead is how far ahead a team is warned of gaps in its calendar. 0 = 48 h.
	WarnAhead time.Duration `koanf:"warn_ahead"`
	// ReminderModes, ReminderRoles and ReminderTimes are the reminders of new members of a team: the modes, the roles of
	// the shifts, and how long before the shift. Empty = email; primary, secondary, shadow and manager; a day and a week.
	ReminderModes []string        `koanf:"reminder_modes"`
	ReminderRoles []string        `koanf:"reminder_roles"`
	ReminderTimes []time.Duration `koanf:"reminder_times"`
	// PhoneCheckEvery is the minimum time between e-mails to a person who is on call soon and has no phone number. 0 = no
	// e-mails. PhoneCheckSubject and PhoneCheckBody are the text; empty = the default text.
	PhoneCheckEvery   time.Duration `koanf:"phone_check_every"`
	PhoneCheckSubject string        `koanf:"phone_check_subject"`
	PhoneCheckBody    string        `koanf:"phone_check_body"`
	// EscalateApplication opens the incidents of the escalate button; "" = no button.
	EscalateApplication string `koanf:"escalate_application"`
	// UrgentPlan and MediumPlan are plans that the button offers besides the plan of the team. The targets are for their
	// dynamic targets, as role or role:target; without a target it is the team.
	UrgentPlan    string   `koanf:"urgent_plan"`
	UrgentTargets []string `koanf:"urgent_targets"`
	MediumPlan    string   `koanf:"medium_plan"`
	MediumTargets []string `koanf:"medium_targets"`
	// BonusURL returns a JSON list of {name, primary_paid, secondary_paid}; it enables /api/v0/events/bonus. Teams of the
	// whitelist are always paid, teams of the blacklist never.
	BonusURL       string   `koanf:"bonus_url"`
	BonusWhitelist []string `koanf:"bonus_whitelist"`
	BonusBlacklist []string `koanf:"bonus_blacklist"`
}

// oncall checks the settings of the on-call calendar and fills in the defaults.
func (l *loader) oncall(o Oncall) Oncall {
	for _, d := range []struct {
		path    string
		value   *time.Duration
		without time.Duration
	}{
		{"oncall.grace_period", &o.Grace, 24 * time.Hour}, {"oncall.populate_every", &o.PopulateEvery, time.Hour},
		{"oncall.warn_ahead", &o.WarnAhead, 48 * time.Hour},
	} {
		l.notNegative(d.path, *d.value)
		if *d.value == 0 {
			*d.value = d.without
		}
	}
	l.notNegative("oncall.phone_check_every", o.PhoneCheckEvery)
	if o.PhoneCheckSubject == "" {
		o.PhoneCheckSubject = "You are on call soon and cannot be called"
	}
	if o.PhoneCheckBody == "" {
		o.PhoneCheckBody = "You are on call soon, but Iris has no phone number to call you. Please add one to your contacts."
	}
	if len(o.ReminderModes) == 0 {
		o.ReminderModes = []string{"email"}
	}
	for i, mode := range o.ReminderModes {
		l.oneOf(index("oncall.reminder_modes", i), mode, "email", "sms", "call", "slack", "push")
	}
	if len(o.ReminderRoles) == 0 {
		o.ReminderRoles = []string{"primary", "secondary", "shadow", "manager"}
	}
	if len(o.ReminderTimes) == 0 {
		o.ReminderTimes = []time.Duration{24 * time.Hour, 7 * 24 * time.Hour}
	}
	for i, d := range o.ReminderTimes {
		l.notNegative(index("oncall.reminder_times", i), d)
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
	if o.BonusURL != "" {
		l.httpURL("oncall.bonus_url", o.BonusURL)
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
	l.warning(l.where("compatibility.oncall_debug_auth"), "is set: every client of /api/v0 is the user test_user, who may do everything; for tests only")
}
