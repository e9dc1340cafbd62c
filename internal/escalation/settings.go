package escalation

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Settings are choices about a plan. They hold for all its versions, and for incidents that are open.
type Settings struct {
	// Repeat is how often the steps begin again after the last one; 0 to MaxPlanRepeat.
	Repeat int
	// Delay is the time between the opening of an incident and step 1.
	Delay time.Duration
	// WaitForOnCall: a page to an on-call role that nobody holds waits until somebody does. Otherwise the fallback is
	// paged.
	WaitForOnCall bool
	// RepageAfter is the time after which a repeated alert restarts an exhausted plan; 0 = never.
	RepageAfter time.Duration
	// AcknowledgementTimeout is the time after an acknowledgement after which the plan begins again, unless the
	// incident is resolved; 0 = never.
	AcknowledgementTimeout time.Duration
	// NotifyOwner is the mode by which the owner of an acknowledged incident gets news of it; "" = none.
	NotifyOwner users.Mode
	// ResolvedNotice has the modes for which the plan decides whether people who were paged are notified of the
	// resolve. The standard applies to other modes.
	ResolvedNotice map[users.Mode]bool
}

const (
	// MaxPlanRepeat is the highest Settings.Repeat.
	MaxPlanRepeat = 10
	// maxStartDelay is the longest Settings.Delay.
	maxStartDelay = 24 * time.Hour
	// maxTime is the longest RepageAfter and AcknowledgementTimeout.
	maxTime = 365 * 24 * time.Hour
)

// StandardSettings returns the settings of a new plan.
func StandardSettings() Settings {
	return Settings{RepageAfter: time.Hour, ResolvedNotice: map[users.Mode]bool{}}
}

// SettingsPatch holds the settings to change; nil = unchanged. Times are whole seconds.
type SettingsPatch struct {
	Repeat                        *int                `json:"repeat,omitempty"`
	DelaySeconds                  *int64              `json:"delay_seconds,omitempty"`
	WaitForOnCall                 *bool               `json:"wait_for_on_call,omitempty"`
	RepageAfterSeconds            *int64              `json:"repage_after_seconds,omitempty"`
	AcknowledgementTimeoutSeconds *int64              `json:"acknowledgement_timeout_seconds,omitempty"`
	NotifyOwner                   *users.Mode         `json:"notify_owner,omitempty"`
	ResolvedNotice                map[users.Mode]bool `json:"resolved_notice,omitzero"` // nil = unchanged; otherwise it replaces the stored choices
}

// OverStandard returns all settings: those of the patch, and the standard of the rest.
func (p SettingsPatch) OverStandard() SettingsPatch {
	out := StandardSettings().Patch()
	choose(&out.Repeat, p.Repeat)
	choose(&out.DelaySeconds, p.DelaySeconds)
	choose(&out.WaitForOnCall, p.WaitForOnCall)
	choose(&out.RepageAfterSeconds, p.RepageAfterSeconds)
	choose(&out.AcknowledgementTimeoutSeconds, p.AcknowledgementTimeoutSeconds)
	choose(&out.NotifyOwner, p.NotifyOwner)
	if p.ResolvedNotice != nil {
		out.ResolvedNotice = p.ResolvedNotice
	}
	return out
}

func choose[T any](to **T, given *T) {
	if given != nil {
		*to = given
	}
}

// Settings returns the settings. Those that the patch leaves out are off.
func (p SettingsPatch) Settings() Settings {
	return Settings{
		Repeat: value(p.Repeat), Delay: seconds(p.DelaySeconds), WaitForOnCall: value(p.WaitForOnCall),
		RepageAfter: seconds(p.RepageAfterSeconds), AcknowledgementTimeout: seconds(p.AcknowledgementTimeoutSeconds),
		NotifyOwner: value(p.NotifyOwner), ResolvedNotice: p.ResolvedNotice,
	}
}

// Empty reports whether the patch changes nothing.
func (p SettingsPatch) Empty() bool { return p.String() == "{}" }

// Tag identifies the settings, for edits under If-Match.
func (p SettingsPatch) Tag() string {
	if p.ResolvedNotice == nil {
		p.ResolvedNotice = map[users.Mode]bool{}
	}
	return etag.Of(p)
}

// String returns the patch as JSON, for the audit log.
func (p SettingsPatch) String() string {
	raw, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// Check returns an Invalid fault that names the field of the first value that is wrong.
func (p SettingsPatch) Check() error {
	if p.Repeat != nil && (*p.Repeat < 0 || *p.Repeat > MaxPlanRepeat) {
		return fault.Invalidf("repeat", "repeat must be between 0 and %d", MaxPlanRepeat)
	}
	for _, t := range []struct {
		name        string
		seconds     *int64
		least, most time.Duration
	}{
		{"delay_seconds", p.DelaySeconds, time.Second, maxStartDelay},
		{"repage_after_seconds", p.RepageAfterSeconds, time.Minute, maxTime},
		{"acknowledgement_timeout_seconds", p.AcknowledgementTimeoutSeconds, time.Minute, maxTime},
	} {
		if t.seconds != nil && *t.seconds != 0 && (*t.seconds < int64(t.least.Seconds()) || *t.seconds > int64(t.most.Seconds())) {
			return fault.Invalidf(t.name, "%s must be 0, or between %d and %d seconds", t.name,
				int64(t.least.Seconds()), int64(t.most.Seconds()))
		}
	}
	if p.NotifyOwner != nil && *p.NotifyOwner != "" && !notices(*p.NotifyOwner) {
		return fault.Invalidf("notify_owner", "notify_owner must be empty or a mode, such as email, not %.60q",
			string(*p.NotifyOwner))
	}
	for m := range p.ResolvedNotice {
		if !notices(m) {
			return fault.Invalidf("resolved_notice", "resolved_notice: %.60q is not a mode, such as email", string(m))
		}
	}
	return nil
}

// notices reports whether people can be notified by a mode.
func notices(m users.Mode) bool { return m != users.Drop && slices.Contains(users.Modes, m) }

// DecodeSettings reads stored settings. Settings that cannot be read are those of a new plan.
func DecodeSettings(raw json.RawMessage) Settings {
	var p SettingsPatch
	if json.Unmarshal(raw, &p) != nil {
		p = SettingsPatch{}
	}
	return p.Settings()
}

// Patch returns the settings as a patch that sets all of them.
func (s Settings) Patch() SettingsPatch {
	delay, repage, timeout := int64(s.Delay.Seconds()), int64(s.RepageAfter.Seconds()), int64(s.AcknowledgementTimeout.Seconds())
	return SettingsPatch{Repeat: &s.Repeat, DelaySeconds: &delay, WaitForOnCall: &s.WaitForOnCall,
		RepageAfterSeconds:            &repage,
		AcknowledgementTimeoutSeconds: &timeout, NotifyOwner: &s.NotifyOwner, ResolvedNotice: s.ResolvedNotice}
}

func seconds(n *int64) time.Duration { return time.Duration(value(n)) * time.Second }

// value returns what p points to, or the zero value.
func value[T any](p *T) (out T) {
	if p != nil {
		out = *p
	}
	return out
}
