// This file creates the jobs of a processor that read other systems: a directory of people, and subscribed calendars.

package processor

import (
	"context"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/directories"
	"github.com/iris-oncall/iris/internal/program/jobs"
	"github.com/iris-oncall/iris/internal/program/server"
)

// Jobs returns the jobs by name.
func Jobs(c config.Processor, s *server.Stores, e jobs.Engine, log *zap.Logger) (map[string]func(context.Context) error, error) {
	syncer, err := directories.Syncer(c.Sync, c.LDAP, c.Slack)
	if err != nil {
		return nil, err
	}
	people := jobs.NewDirectorySync(syncer, c.Sync.From, c.Sync.Every, s.DirectorySync(jobs.SyncActor), e)
	var lookup func(ctx context.Context, email string) (string, error)
	if len(c.Slack) > 0 {
		workspace, err := directories.Workspace(c.Slack[0])
		if err != nil {
			return nil, err
		}
		lookup = workspace.Resolve
	}
	keep := c.Sync.From != "" && c.Sync.SlackContact == "name"
	subscribed := jobs.New(s.Subscribed, s.Shifts, s.Absences, s.Clock, c.Oncall.PrivateCalendars, log)
	return map[string]func(context.Context) error{
		"directory": people.Run,
		"numbers":   jobs.RewriteNumbers(s.Contacts, s.Region, e),
		"names":     jobs.ResolveSlackNames(s.Contacts, lookup, keep, e),
		"calendars": jobs.Every(jobs.CalendarsEvery, subscribed.Pass, "subscribed calendars cannot be read, retrying",
			log),
	}, nil
}
