package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncallapi/events"
	"github.com/iris-oncall/iris/internal/users"
)

// reminders are what somebody who joins a team hears of its shifts.
func reminders(c config.Oncall) []oncall.NoticeSetting {
	var out []oncall.NoticeSetting
	for _, before := range c.ReminderTimes {
		for _, mode := range c.ReminderModes {
			out = append(out, oncall.NoticeSetting{Mode: users.Mode(mode), Type: "oncall_reminder", Before: &before, Roles: c.ReminderRoles})
		}
	}
	return out
}

// noticeModes are those in which people can be told of shifts.
var noticeModes = []users.Mode{users.Email, users.SMS, users.Call, users.Slack, users.Push}

func oncallConfig(c config.API) events.Config {
	return events.Config{
		Escalate: c.Oncall.EscalateApplication, PublicURL: c.PublicURL,
		Urgent: events.EscalatePlan{Name: c.Oncall.UrgentPlan, Targets: roleTargets(c.Oncall.UrgentTargets)},
		Medium: events.EscalatePlan{Name: c.Oncall.MediumPlan, Targets: roleTargets(c.Oncall.MediumTargets)},
		Bonus:  events.Bonus{Whitelist: c.Oncall.BonusWhitelist, Blacklist: c.Oncall.BonusBlacklist},
	}
}

func roleTargets(list []string) []events.RoleTarget {
	var out []events.RoleTarget
	for _, t := range list {
		role, target, _ := strings.Cut(t, ":")
		out = append(out, events.RoleTarget{Role: role, Target: target})
	}
	return out
}

// maxPaid bounds the list of paid roles, in bytes.
const maxPaid = 8 << 20

// paidRoles fetches the list of roles that are paid for; nil where none is configured.
func paidRoles(url string) func(ctx context.Context) (json.RawMessage, error) {
	if url == "" {
		return nil
	}
	client := &http.Client{Timeout: 10 * time.Second}
	return func(ctx context.Context) (json.RawMessage, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return nil, fmt.Errorf("bonus list: %w", err)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the bonus list cannot be fetched")
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fault.Newf(fault.Unavailable, "the bonus list was answered with status %d", resp.StatusCode)
		}
		raw, err := io.ReadAll(io.LimitReader(resp.Body, maxPaid))
		if err != nil {
			return nil, fault.Wrap(fault.Unavailable, err, "the bonus list broke off")
		}
		return raw, nil
	}
}
