package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// TeamPatch changes settings of a team; nil leaves a setting unchanged.
type TeamPatch struct {
	Name, Description, TimeZone, Email *string
	SlackChannel, SlackNotifications   *string
	IrisPlan, OverridePhone            *string
	IrisEnabled, APIManaged            *bool
}

// Apply returns the settings after the change. Storage calls it with the current settings, so that two concurrent
// changes of different settings both succeed.
func (p TeamPatch) Apply(s TeamSettings) TeamSettings {
	set(&s.Name, p.Name)
	set(&s.Description, p.Description)
	set(&s.TimeZone, p.TimeZone)
	set(&s.Email, p.Email)
	set(&s.SlackChannel, p.SlackChannel)
	set(&s.SlackNotifications, p.SlackNotifications)
	set(&s.IrisPlan, p.IrisPlan)
	set(&s.OverridePhone, p.OverridePhone)
	set(&s.IrisEnabled, p.IrisEnabled)
	set(&s.APIManaged, p.APIManaged)
	return s
}

// Without returns the change without what the settings have already.
func (p TeamPatch) Without(s TeamSettings) TeamPatch {
	drop(&p.Name, s.Name)
	drop(&p.Description, s.Description)
	drop(&p.TimeZone, s.TimeZone)
	drop(&p.Email, s.Email)
	drop(&p.SlackChannel, s.SlackChannel)
	drop(&p.SlackNotifications, s.SlackNotifications)
	drop(&p.IrisPlan, s.IrisPlan)
	drop(&p.OverridePhone, s.OverridePhone)
	drop(&p.IrisEnabled, s.IrisEnabled)
	drop(&p.APIManaged, s.APIManaged)
	return p
}

// NoticePatch changes a notice setting; nil leaves a part unchanged.
type NoticePatch struct {
	Type     *NoticeType
	TeamID   *int64
	Mode     *users.Mode
	Before   *time.Duration
	OnlyMine *bool
	Roles    []string
}

// Apply returns the setting after the change, unchecked.
func (p NoticePatch) Apply(s NoticeSetting) NoticeSetting {
	if p.Type != nil {
		s.Type, s.IsReminder = p.Type.Name, p.Type.IsReminder
	}
	set(&s.TeamID, p.TeamID)
	set(&s.Mode, p.Mode)
	if p.Before != nil {
		s.Before = p.Before
	}
	if p.OnlyMine != nil {
		s.OnlyMine = p.OnlyMine
	}
	if p.Roles != nil {
		s.Roles = p.Roles
	}
	return s
}

// Decide returns the stored setting after the change, or the refusal. A reminder has Before
// and no OnlyMine; other types have OnlyMine and no Before. A change from one to the other must give the field that the
// new type needs.
func (p NoticePatch) Decide(is NoticeSetting) (NoticeSetting, error) {
	s := p.Apply(is)
	switch {
	case s.IsReminder && p.OnlyMine != nil:
		return is, fault.Invalidf("only_mine", "a reminder has no only_mine: leave it out")
	case !s.IsReminder && p.Before != nil:
		return is, fault.Invalidf("before_seconds", "a notice has no before_seconds: leave it out")
	case s.IsReminder:
		s.OnlyMine = nil
	default:
		s.Before = nil
	}
	if s.IsReminder != is.IsReminder && s.Before == nil && s.OnlyMine == nil {
		return is, fault.Invalidf("before_seconds", "exactly one of before_seconds and only_mine is required")
	}
	return s, nil
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// drop removes a value that the field has already.
func drop[T comparable](value **T, field T) {
	if *value != nil && **value == field {
		*value = nil
	}
}
