package pages

import (
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/personal"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/web/mount"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, p *planning.Planning, c *calendaring.Calendaring, own *personal.Personal,
	roles calendaring.OnCallRoles, search operation.Op[calendaring.SearchFilter, calendaring.Found],
) {
	mount.Mount(a, p.Rotations)
	mount.Mount(a, p.CreateRotation)
	mount.Mount(a, p.Rotation)
	mount.Mount(a, p.Replace)
	mount.Mount(a, p.DeleteRotation)
	mount.Mount(a, p.Gaps)
	mount.Mount(a, p.Coverage)
	mount.Mount(a, p.SetCoverage)
	mount.Mount(a, p.Shares)
	mount.Mount(a, p.Absences)
	mount.Mount(a, p.AddAbsence)
	mount.Mount(a, p.RemoveAbsence)
	mount.Mount(a, p.Conflicts)
	mount.Mount(a, p.HolidayCountries)
	mount.Mount(a, p.Holidays)
	mount.Mount(a, p.SetHolidays)
	mount.Mount(a, p.DropHolidays)
	mount.Mount(a, p.TeamCalendars)
	mount.Mount(a, p.SubscribeTeam)
	mount.Mount(a, p.PersonCalendars)
	mount.Mount(a, p.SubscribePerson)
	mount.Mount(a, p.ChangeSubscription)
	mount.Mount(a, p.Unsubscribe)
	mount.Mount(a, p.Refresh)
	mount.Mount(a, c.Events)
	mount.Mount(a, c.Preview)
	mount.Mount(a, c.Edit)
	mount.Mount(a, c.Swap)
	mount.Mount(a, c.Take)
	mount.Mount(a, c.Swaps)
	mount.Mount(a, c.Ask)
	mount.Mount(a, c.Accept)
	mount.Mount(a, c.Decline)
	mount.Mount(a, c.Withdraw)
	mount.Mount(a, c.Import)
	mount.Mount(a, c.PreviewRotation)
	mount.Mount(a, c.PreviewSchedule)
	mount.Mount(a, search)
	mount.Mount(a, roles.List)
	mount.Mount(a, roles.Add)
	mount.Mount(a, roles.Remove)
	mount.Mount(a, own.Shifts)
	mount.Mount(a, own.Reminders)
	mount.Mount(a, own.AddReminder)
	mount.Mount(a, own.ChangeReminder)
	mount.Mount(a, own.RemoveReminder)
	mount.Mount(a, own.Pins)
	mount.Mount(a, own.Pin)
	mount.Mount(a, own.Unpin)
	mount.Mount(a, own.Feeds)
	mount.Mount(a, own.RemoveFeeds)
	mount.Mount(a, own.Feed)
	mount.Mount(a, own.RemoveFeed)
	mount.Mount(a, own.PersonFeed)
	mount.Mount(a, own.NewPersonFeed)
	mount.Mount(a, own.DropPersonFeed)
	mount.Mount(a, own.TeamFeed)
	mount.Mount(a, own.NewTeamFeed)
	mount.Mount(a, own.DropTeamFeed)
}

// MountTeams adds the operations on teams, rosters and services to /v1.
func MountTeams(a *mount.API, t *teams.Teams) {
	mount.Mount(a, t.Create)
	mount.Mount(a, t.Change)
	mount.Mount(a, t.AddMember)
	mount.Mount(a, t.RemoveMember)
	mount.Mount(a, t.AddAdmin)
	mount.Mount(a, t.RemoveAdmin)
	mount.Mount(a, t.Rosters)
	mount.Mount(a, t.CreateRoster)
	mount.Mount(a, t.Roster)
	mount.Mount(a, t.ReplaceRoster)
	mount.Mount(a, t.DeleteRoster)
	mount.Mount(a, t.SetRosterMember)
	mount.Mount(a, t.RemoveRosterMember)
	mount.Mount(a, t.Services)
	mount.Mount(a, t.CreateService)
	mount.Mount(a, t.Service)
	mount.Mount(a, t.RenameService)
	mount.Mount(a, t.DeleteService)
	mount.Mount(a, t.TeamServices)
	mount.Mount(a, t.Claim)
	mount.Mount(a, t.Unclaim)
	mount.Mount(a, t.Subscriptions)
	mount.Mount(a, t.Subscribe)
	mount.Mount(a, t.Unsubscribe)
}

// MountReads adds the operations whose callers are those of the other routes of /v1: they do not accept the credentials
// of Oncall's API.
func MountReads(a *mount.API, t *teams.Teams, onCall operation.Op[calendaring.OnCallFilter, operation.Page[scheduling.Team]]) {
	mount.Mount(a, t.List)
	mount.Mount(a, t.Get)
	mount.Mount(a, t.Delete)
	mount.Mount(a, onCall)
}
