// Package outside creates the jobs of a processor that read other systems: a directory of people, and subscribed calendars.
package outside

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/directory/connect"
	"github.com/iris-oncall/iris/internal/jobs"
	"github.com/iris-oncall/iris/internal/jobs/calendars"
)

// Jobs returns the jobs by name.
func Jobs(c config.Processor, s *server.Stores, e jobs.Engine, log *zap.Logger) (map[string]func(context.Context) error, error) {
	syncer, err := connect.Syncer(c.Sync, c.LDAP, c.Slack)
	if err != nil {
		return nil, err
	}
	people := jobs.NewDirectorySync(syncer, c.Sync.From, c.Sync.Every, s.DirectorySync(jobs.SyncActor), e)
	subscribed := calendars.New(s.Subscribed, s.Shifts, s.Absences, s.Clock, c.Oncall.PrivateCalendars, log)
	return map[string]func(context.Context) error{
		"directory": people.Run,
		"numbers":   jobs.RewriteNumbers(s.Contacts, s.Region, e),
		"calendars": jobs.Every(calendars.Every, subscribed.Pass, "subscribed calendars cannot be read, retrying", log),
	}, nil
}
