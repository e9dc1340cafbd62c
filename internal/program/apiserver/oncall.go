package apiserver

import (
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/oncallapi"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/users"
)

// noticeModes are the modes of notices about shifts.
var noticeModes = []users.Mode{users.Email, users.SMS, users.Call, users.Slack, users.Push}

// escalateConfig returns the configuration of the escalate button.
func escalateConfig(c config.API) oncallapi.Config {
	return oncallapi.Config{
		Escalate: c.Oncall.EscalateApplication, PublicURL: c.PublicURL,
		Urgent: oncallapi.Plan{Name: c.Oncall.UrgentPlan, Targets: roleTargets(c.Oncall.UrgentTargets)},
		Medium: oncallapi.Plan{Name: c.Oncall.MediumPlan, Targets: roleTargets(c.Oncall.MediumTargets)},
	}
}

func roleTargets(list []string) []oncallapi.RoleTarget {
	var out []oncallapi.RoleTarget
	for _, t := range list {
		role, target, _ := strings.Cut(t, ":")
		out = append(out, oncallapi.RoleTarget{Role: role, Target: target})
	}
	return out
}
