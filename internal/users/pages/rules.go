package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// modeTexts are the modes as a sentence names them: "is sent by ...".
var modeTexts = map[users.Mode]string{users.Email: "e-mail", users.SMS: "SMS", users.Call: "call",
	users.Slack: "Slack", users.Push: "push message", users.Webhook: "webhook"}

// line is what a page of a priority does, in words.
type line struct {
	Priority users.Priority
	Text     string
	Warn     bool // nothing reaches the person, or not as chosen
}

// summary describes in words how pages of each priority reach a person: in the mode of the rule or the default, then by
// the follow-ups. A mode without a contact is replaced as the engine does it (users.Choose).
func summary(rules []users.NotificationRule, contacts map[users.Mode]string, defaults map[users.Priority]users.Mode) []line {
	app := users.AppModes{Supported: map[users.Mode]bool{}, Priorities: defaults}
	for _, m := range users.Modes {
		app.Supported[m] = true
	}
	var out []line
	for _, r := range rules {
		who := users.Responder{Contacts: contacts, Modes: map[users.Priority]users.Mode{},
			FollowUps: map[users.Priority][]users.FollowUp{}}
		if r.Mode != "" {
			who.Modes[r.Priority] = r.Mode
		}
		who.FollowUps[r.Priority] = r.FollowUps
		out = append(out, describe(who, r.Priority, app))
	}
	return out
}

func describe(who users.Responder, p users.Priority, app users.AppModes) line {
	article := "A "
	if p == users.Urgent {
		article = "An "
	}
	out := line{Priority: p, Text: article + string(p) + " priority page "}
	first, ok := users.Choose(who, p, app)
	switch {
	case !ok:
		out.Warn, out.Text = true, out.Text+
			"reaches nobody: there is no contact. The plan's fallback is paged instead."
		return out
	case first.Mode == users.Drop:
		out.Warn, out.Text = true, out.Text+"is discarded: it reaches nobody."
		return out
	}
	out.Text += "is sent by " + modeTexts[first.Mode] + " at once"
	if first.Changed() {
		out.Warn, out.Text = true, out.Text+" (there is no contact for "+modeTexts[first.Wanted]+")"
	}
	for _, f := range users.FollowUps(who, p, app, first.Mode) {
		out.Text += ", then by " + modeTexts[f.Mode] + " after " + humanize.Duration(f.After)
	}
	out.Text += "."
	return out
}

// ruleRow is a rule in the form. Fields have the names of the API.
type ruleRow struct {
	Priority  users.Priority
	Field     string
	Mode      string
	Options   []page.Option
	FollowUps []followUpRow
}

type followUpRow struct{ ModeField, Mode, DelayField, Minutes string }

// spareFollowUps are the empty rows of the form for further follow-ups.
const spareFollowUps = 2

func ruleRows(rules []users.NotificationRule, defaults map[users.Priority]users.Mode, was page.Again) []ruleRow {
	var out []ruleRow
	for i, r := range rules {
		row := ruleRow{Priority: r.Priority, Field: fmt.Sprintf("rules[%d].mode", i),
			Options: []page.Option{{Label: "default: " + modeTexts[defaults[r.Priority]]}}}
		row.Mode = was.Value("rules", row.Field, string(r.Mode))
		row.Options = append(row.Options, modeOptions(true)...)
		for j := range min(len(r.FollowUps)+spareFollowUps, users.MaxFollowUps) {
			at := fmt.Sprintf("rules[%d].follow_ups[%d].", i, j)
			f := followUpRow{ModeField: at + "mode", DelayField: at + "delay_seconds"}
			if j < len(r.FollowUps) {
				f.Mode, f.Minutes = string(r.FollowUps[j].Mode), strconv.FormatFloat(r.FollowUps[j].After.Minutes(), 'f', -1, 64)
			}
			f.Mode, f.Minutes = was.Value("rules", f.ModeField, f.Mode), was.Value("rules", f.DelayField, f.Minutes)
			row.FollowUps = append(row.FollowUps, f)
		}
		out = append(out, row)
	}
	return out
}

// modeOptions are the modes as choices.
func modeOptions(drop bool) []page.Option {
	var out []page.Option
	for _, m := range users.ContactModes {
		out = append(out, page.Option{Value: string(m), Label: modeTexts[m]})
	}
	if drop {
		out = append(out, page.Option{Value: string(users.Drop), Label: "discard"})
	}
	return out
}

// setRules replaces the rules of a person.
func (h Handlers) setRules(r *http.Request, user string, form url.Values) (done, to string, err error) {
	rules := make([]users.NotificationRule, len(users.Priorities))
	for i, p := range users.Priorities {
		rules[i] = users.NotificationRule{Priority: p, Mode: users.Mode(form.Get(fmt.Sprintf("rules[%d].mode", i)))}
		for j := range users.MaxFollowUps {
			at := fmt.Sprintf("rules[%d].follow_ups[%d].", i, j)
			mode, delay := form.Get(at+"mode"), strings.Replace(form.Get(at+"delay_seconds"), ",", ".", 1)
			if mode == "" {
				continue
			}
			minutes, err := strconv.ParseFloat(delay, 64)
			if err != nil || minutes <= 0 || minutes > users.MaxFollowUpDelay.Minutes() {
				return "", "", fault.Invalidf(at+"delay_seconds",
					"%s priority: say after how many minutes the %s follows, at most %d", p, modeTexts[users.Mode(mode)], int(users.MaxFollowUpDelay.Minutes()))
			}
			rules[i].FollowUps = append(rules[i].FollowUps,
				users.FollowUp{Mode: users.Mode(mode), After: time.Duration(minutes * float64(time.Minute))})
		}
	}
	_, err = h.Preferences.ReplaceRules.Do(r.Context(), page.Actor(r), users.RulesEdit{
		OnePerson: users.OnePerson{User: user}, Body: users.NotificationRules{Rules: rules}})
	return "The rules are saved.", "", err
}

// quiet are the quiet-time limits of a person.
type quiet struct{ users.QuietLimits }

// Limit returns the limit as typed; "" = that of the installation.
func (q quiet) Limit() string {
	if q.PerDay == nil {
		return ""
	}
	return strconv.Itoa(*q.PerDay)
}

// OnWorkingDays reports whether pages of a priority are sent on working days only.
func (q quiet) OnWorkingDays(p string) bool {
	for _, w := range q.WorkingDays {
		if string(w) == p {
			return true
		}
	}
	return false
}

func (h Handlers) setQuiet(r *http.Request, user string, _ url.Values) (done, to string, err error) {
	limits, err := page.Decode[users.QuietLimits](r)
	if err == nil {
		_, err = h.Preferences.ReplaceQuiet.Do(r.Context(), page.Actor(r),
			users.QuietEdit{OnePerson: users.OnePerson{User: user}, Body: limits})
	}
	return "The limits are saved.", "", err
}
