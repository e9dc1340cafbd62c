package server

import (
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres/quotas"
)

// StandardQuota returns the quota of applications without a quota of their own; nil = none.
func StandardQuota(c config.Quota) *quotas.StandardQuota {
	if c.HardLimit == 0 {
		return nil
	}
	return &quotas.StandardQuota{Target: c.Target, Quota: messages.Quota{
		HardLimit: c.HardLimit, HardWithin: c.HardWithin, SoftLimit: c.SoftLimit, SoftWithin: c.SoftWithin, Plan: c.Plan, Wait: c.Wait,
	}}
}
