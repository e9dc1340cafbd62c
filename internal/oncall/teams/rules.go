package teams

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
)

// badName has the characters that the name of a team or roster may not have.
const badName = "!\"#%&'()*+,./;<=>@[\\]^`{|}~"

// maxName is the maximum length of a name, in bytes.
const maxName = 255

// checkTeamName returns an Invalid fault for a name that no team may have.
func checkTeamName(name string) error { return checkName("team", name) }

// checkRosterName returns an Invalid fault for a name that no roster may have.
func checkRosterName(name string) error { return checkName("roster", name) }

func checkName(of, name string) error {
	switch bad := nameProblem(name); {
	case bad != "":
		return fault.Invalidf("name", `%s name contains invalid character "%s"`, of, bad)
	case name == "":
		return fault.Invalidf("name", "empty %s name", of)
	case len(name) > maxName:
		return fault.Invalidf("name", "%s name is longer than %d bytes", of, maxName)
	}
	return nil
}

// nameProblem returns the first run of characters that a name may not have; "" for a valid name.
func nameProblem(name string) string {
	start := strings.IndexAny(name, badName)
	if start < 0 {
		if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == utf8.RuneError || r == 0x7f }); i >= 0 {
			_, size := utf8.DecodeRuneInString(name[i:])
			return name[i : i+size]
		}
		return ""
	}
	end := start
	for end < len(name) && strings.IndexByte(badName, name[end]) >= 0 {
		end++
	}
	return name[start:end]
}

// checkChannel returns an Invalid fault, which names the field, for a text that is no channel. nil and an empty text are
// none.
func checkChannel(field string, channel *string) error {
	if channel != nil && *channel != "" && (*channel)[0] != '#' {
		return fault.Invalidf(field, "%s must begin with #", field)
	}
	return nil
}

// Zone checks the name of a time zone and returns it; any spelling of UTC becomes "UTC". offered are the time zones from
// which to choose; none = every one.
func Zone(name string, offered []string) (string, error) {
	if strings.EqualFold(name, "utc") {
		name = "UTC"
	}
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return name, fault.Invalidf("time_zone", "%.100q is not a time zone: use a name such as Europe/Zurich", name)
	}
	if len(offered) > 0 && !slices.Contains(offered, name) {
		return name, fault.Invalidf("time_zone", "time_zone must be one of those of the installation: %s", strings.Join(offered, ", "))
	}
	return name, nil
}

// overridePhone returns a number in international form. Any other text stays as it is: teams that were imported from
// Oncall have notes there. A text that is too long is an Invalid fault.
func (t *Teams) overridePhone(text string) (string, error) {
	if len(text) > maxName {
		return text, fault.Invalidf("override_phone_number", "override_phone_number is longer than %d bytes", maxName)
	}
	if number, err := t.deps.Region.Number(text); err == nil {
		return number, nil
	}
	return text, nil
}

// checkPlan returns an Invalid fault for an escalation plan that does not exist, if that matters. An empty name is none.
func (t *Teams) checkPlan(ctx context.Context, name string) error {
	if name == "" || t.deps.PlanNamed == nil {
		return nil
	}
	return fault.When(t.deps.PlanNamed(ctx, name), fault.NotFound, fault.Invalidf("plan", "there is no plan %q", name))
}

// patch returns the settings that a request gives.
func (t *Teams) patch(s Settings) (oncall.TeamPatch, error) {
	p := oncall.TeamPatch{Description: given(s.Description), Email: given(s.Email), SlackChannel: given(s.SlackChannel),
		SlackNotifications: given(s.SlackNotifications), IrisPlan: given(s.Plan), OverridePhone: given(s.OverridePhone),
		IrisEnabled: s.IrisEnabled, APIManaged: s.APIManaged}
	if p.OverridePhone != nil {
		number, err := t.overridePhone(*p.OverridePhone)
		if err != nil {
			return p, err
		}
		p.OverridePhone = &number
	}
	return p, nil
}

// given returns a text without spaces at its ends; nil if it is left out, empty for null.
func given(o operation.Optional[operation.Text]) *string {
	if !o.Given {
		return nil
	}
	text := ""
	if o.Value != nil {
		text = string(*o.Value)
	}
	return trimmed(&text)
}

// check returns an Invalid fault with the settings that no team may have. It does not check name and time zone.
// anyChannel: channels may be any text.
func (t *Teams) check(ctx context.Context, p oncall.TeamPatch, anyChannel bool) error {
	var wrong fault.Wrong
	if !anyChannel {
		wrong.Join(checkChannel("slack_channel", p.SlackChannel))
		wrong.Join(checkChannel("slack_channel_notifications", p.SlackNotifications))
	}
	if err := wrong.Err(); err != nil || p.IrisPlan == nil {
		return err
	}
	return t.checkPlan(ctx, *p.IrisPlan)
}
