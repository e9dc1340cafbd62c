package processor

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/users"
)

// deliveryConfig translates the configuration of limits, timeouts and concurrency.
func deliveryConfig(c config.Processor) delivery.Config {
	out := delivery.Config{
		Limits: map[string]rate.Limit{}, Concurrency: map[string]int{}, AccountTimeout: map[string]time.Duration{},
		DryRun: delivery.DryRun(c.Delivery.DryRun), SMSOverride: c.Delivery.SMSOverride,
		RefusedNumbers: refusedNumbers(c.Delivery.RefusedNumbers), CallMainlandChina: c.Delivery.CallMainlandChina, MainlandChinaNotice: c.Delivery.MainlandChinaNotice,
	}
	rate := func(l config.Limit) rate.Limit { return rate.Limit{PerSecond: float64(l.Rate), Burst: l.Burst} }
	for mode, l := range c.Limits.Modes {
		out.Limits[delivery.ModeKey(users.Mode(mode))] = rate(l)
	}
	for account, l := range c.Limits.Accounts {
		out.Limits["account:"+account] = rate(l)
	}
	for application, of := range c.Limits.Applications {
		for mode, l := range of {
			out.Limits[delivery.ApplicationKey(application, users.Mode(mode))] = rate(l)
		}
	}
	c.EachAccount(func(vendor string, _ int, a config.Account) {
		out.AccountTimeout[delivery.AccountKey(vendor, a.Account)] = a.Timeout
		if c.Delivery.Concurrency > 0 {
			out.Concurrency[vendor] = c.Delivery.Concurrency
		}
	})
	return out
}

// refusedNumbers returns the configured numbers, or the default ones.
func refusedNumbers(configured []string) []string {
	switch {
	case len(configured) == 0:
		return users.DefaultRefusedNumbers()
	case slices.Equal(configured, []string{"none"}):
		return nil
	}
	return configured
}
