package jobs

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/jobs/calendars"
	"github.com/iris-oncall/iris/internal/postgres/calendar"
)

// ReadCalendars returns a job that reads subscribed calendars that are due. private allows addresses that are not public.
func ReadCalendars(s *calendar.Subscriptions, shifts *calendar.Shifts, requests *calendar.Requests, private bool, log *zap.Logger) func(context.Context) error {
	reader := calendars.New(s, shifts, requests, private, log)
	return func(ctx context.Context) error {
		return repeat(ctx, calendars.Every, reader.Pass, func(err error) { log.Warn("subscribed calendars cannot be read, retrying", zap.Error(err)) })
	}
}
