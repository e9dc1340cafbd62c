package server

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/program/health"
	"github.com/iris-oncall/iris/internal/program/jobs"
)

// measureEvery is the time between two measurements of the clock of the database.
const measureEvery = time.Second

// MeasureClock measures the clock of the database once, and returns a loop that measures it again and the check that
// shows a difference. The check never fails: decisions are made by the clock of the database.
func (s *Stores) MeasureClock(ctx context.Context, reg prometheus.Registerer, log *zap.Logger) (run func(context.Context) error, check health.Check) {
	promauto.With(reg).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "iris_clock_skew_seconds",
		Help: "How far the clock of this process is ahead of the clock of the database; negative = behind.",
	}, func() float64 {
		skew, _ := s.Clock.Skew()
		return skew.Seconds()
	})
	measure := func(ctx context.Context) error { return s.Clock.Measure(ctx, s.DB.Clock) }
	_ = measure(ctx) // the loop tries again and reports
	return jobs.Every(measureEvery, measure, "the clock of the database cannot be read, retrying",
		log), ClockCheck(s.Clock)
}

// ClockCheck reports a Concern while the clocks of this process and the database differ by more than clock.Tolerated.
func ClockCheck(c *clock.Database) health.Check {
	return health.Check{Name: "clock", Ask: func(context.Context) error {
		skew, _ := c.Skew()
		if skew.Abs() <= clock.Tolerated {
			return nil
		}
		return health.Concern(fmt.Sprintf("compared with the clock of the database, the clock of this machine is %s: synchronise both", clock.Describe(skew)))
	}}
}
