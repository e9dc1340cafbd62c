package planning

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// RotationSettings are what people edit of a rotation.
type RotationSettings struct {
	Name      string  `json:"name" required:"false"`
	Role      string  `json:"role"`
	Roster    string  `json:"roster"`
	Threshold *int    `json:"auto_populate_threshold,omitempty" doc:"For how many days ahead shifts are made; default: 21."`
	Layers    []Layer `json:"layers" doc:"Later layers override earlier ones."`
}

// Layer is the turns of one rule. Times are on the clock of the team.
type Layer struct {
	Name     string   `json:"name" required:"false"`
	Start    string   `json:"start" doc:"Such as 2026-11-23T09:00."`
	End      *string  `json:"end" required:"false" doc:"null = never."`
	Every    int      `json:"every" doc:"The length of a turn in units."`
	Unit     string   `json:"unit" doc:"hours, days, weeks, months or business-days."`
	HandOffs []string `json:"hand_offs" required:"false" doc:"The times of day of the hand-offs, the earliest first, such as 09:00 and 17:00. Only with the units days and business-days; one must be the time of start. None = the time of start."`
	Restrict []Window `json:"restrict" required:"false" doc:"Only in these hours."`
	Holidays string   `json:"holidays" required:"false" doc:"keep: like any other day; skip: nobody of the layer is on call; only: the layer is on call on holidays only. Default: keep."`
	Members  []Turn   `json:"members"`
}

// Window is the same hours of some days.
type Window struct {
	Days []string `json:"days" required:"false" doc:"Of sun, mon, tue, wed, thu, fri, sat; none = every day."`
	From string   `json:"from" required:"false" doc:"Such as 09:00."`
	To   string   `json:"to" required:"false" doc:"Such as 17:00, or 24:00."`
}

// Turn is a member of a layer.
type Turn struct {
	User   string  `json:"user"`
	Joins  *string `json:"joins,omitempty" doc:"The day on which the member joins, such as 2026-11-23."`
	Leaves *string `json:"leaves,omitempty" doc:"The day on which the member leaves."`
}

// Rotation is a rotation of a team.
type Rotation struct {
	ID        oncall.ScheduleID `json:"id"`
	Name      string            `json:"name"`
	Team      string            `json:"team"`
	Role      string            `json:"role"`
	Roster    string            `json:"roster"`
	TimeZone  string            `json:"timezone"`
	Threshold int               `json:"auto_populate_threshold"`
	Layers    []Layer           `json:"layers"`

	tag string
}

// Location is the address of a rotation.
func (r Rotation) Location() string { return operation.Path(GetRotation.Path, r.ID) }

// Tag names the state of what people edit of it.
func (r Rotation) Tag() string { return r.tag }

// NewRotation is a rotation of a team that does not exist yet.
type NewRotation struct {
	users.OneTeam
	Body RotationSettings `json:"body"`
}

// OneRotation names a rotation.
type OneRotation struct {
	ID oncall.ScheduleID `path:"id" json:"id"`
}

// RotationEdit replaces a rotation.
type RotationEdit struct {
	OneRotation
	operation.State
	Body RotationSettings `json:"body"`
}

// The operations on rotations.
var (
	ListRotations = operation.Define[users.OneTeam, operation.Page[Rotation]](operation.Doc{Name: "rotation.list",
		Method: http.MethodGet, Path: "/v1/teams/{team}/rotations", Needs: operation.Reader,
		Summary: "Rotations of a team"})
	CreateRotation = operation.Define[NewRotation, Rotation](operation.Doc{Name: "rotation.create",
		Method: http.MethodPost, Path: "/v1/teams/{team}/rotations", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.ScheduleCreated}, Summary: "Make a rotation", Errors: []int{404, 409, 422}})
	GetRotation = operation.Define[OneRotation, Rotation](operation.Doc{Name: "rotation.get", Method: http.MethodGet,
		Path: "/v1/rotations/{id}", Needs: operation.Reader, Summary: "A rotation"})
	ReplaceRotation = operation.Define[RotationEdit, Rotation](operation.Doc{Name: "rotation.replace",
		Method: http.MethodPut, Path: "/v1/rotations/{id}", Needs: operation.Member, Rule: operation.OfTeam,
		Audit: []audit.Action{audit.ScheduleChanged}, Summary: "Change a rotation; shifts that exist stay",
		Errors: []int{409, 412, 422},
		Note:   "Send the ETag of a GET as If-Match: the answer is 412 if somebody changed the rotation meanwhile."})
	DeleteRotation = operation.Define[OneRotation, operation.None](operation.Doc{Name: "rotation.delete",
		Method: http.MethodDelete, Path: "/v1/rotations/{id}", Needs: operation.Member, Rule: operation.OfTeam,
		Status: http.StatusOK, Audit: []audit.Action{audit.ScheduleDeleted},
		Summary: "Delete a rotation; shifts that exist stay"})
)

// RotationKind has what all kinds of objects have.
var RotationKind = operation.Kind(ListRotations, GetRotation, ReplaceRotation, DeleteRotation, "ID=id", "NAME=name",
	"ROLE=role", "ROSTER=roster").MadeBy(CreateRotation.Doc)

func (p *Planning) rotations(ctx context.Context, _ operation.Actor, of users.OneTeam) (operation.Page[Rotation], error) {
	t, err := p.deps.Finder.ActiveTeam(ctx, of.Team)
	if err != nil {
		return operation.Page[Rotation]{}, err
	}
	schedules, err := p.deps.Schedules.ByTeam(ctx, t.ID)
	var out []Rotation
	for _, s := range schedules {
		if s.Algorithm != scheduling.ByRotation {
			continue
		}
		one, err := p.rotationOf(ctx, s)
		if err != nil {
			return operation.Page[Rotation]{}, err
		}
		out = append(out, one)
	}
	return whole(out), err
}

// stored finds a rotation. A weekly schedule is not found.
func (p *Planning) stored(ctx context.Context, id oncall.ScheduleID) (scheduling.StoredSchedule, error) {
	s, err := p.deps.Schedules.ByID(ctx, id)
	if err == nil && s.Algorithm != scheduling.ByRotation {
		err = errNone
	}
	return s, err
}

// owned finds a rotation of a team whose administrator the caller is.
func (p *Planning) owned(ctx context.Context, by operation.Actor, id oncall.ScheduleID) (scheduling.StoredSchedule, error) {
	s, err := p.ownSchedule(ctx, by, id)
	if err == nil && s.Algorithm != scheduling.ByRotation {
		err = errNone
	}
	return s, err
}

func (p *Planning) rotation(ctx context.Context, _ operation.Actor, one OneRotation) (Rotation, error) {
	s, err := p.stored(ctx, one.ID)
	if err != nil {
		return Rotation{}, err
	}
	return p.rotationOf(ctx, s)
}

func (p *Planning) createRotation(ctx context.Context, by operation.Actor, n NewRotation) (Rotation, error) {
	t, err := p.Own(ctx, by, n.Team)
	if err != nil {
		return Rotation{}, err
	}
	d, _, err := p.Draft(ctx, t, n.Body)
	if err != nil {
		return Rotation{}, err
	}
	id, err := p.deps.Changes.Create(ctx, d, Author(by, n.Body))
	if err != nil {
		return Rotation{}, err
	}
	return p.rotation(ctx, by, OneRotation{id})
}

// replaceRotation is stale if the rotation is in another state than the caller has seen, or now belongs to another team.
func (p *Planning) replaceRotation(ctx context.Context, by operation.Actor, e RotationEdit) (Rotation, error) {
	s, err := p.owned(ctx, by, e.ID)
	if err != nil {
		return Rotation{}, err
	}
	t, err := p.deps.Teams.ByID(ctx, s.TeamID)
	if err != nil {
		return Rotation{}, err
	}
	d, _, err := p.Draft(ctx, t, e.Body)
	if err != nil {
		return Rotation{}, err
	}
	change := scheduling.Edit{Editor: admitted(s.TeamID), IfMatch: e.Tags(), Change: scheduling.Replace{Draft: d}}
	if err := p.deps.Changes.Update(ctx, e.ID, change, Author(by, e.Body)); err != nil {
		return Rotation{}, err
	}
	return p.rotation(ctx, by, e.OneRotation)
}

// admitted is the editor of schedules of a team, who was admitted before.
type admitted int64

// MayAdministerTeam implements scheduling.Administrator.
func (a admitted) MayAdministerTeam(team int64, _ string) error {
	if team != int64(a) {
		return etag.ErrStale
	}
	return nil
}

func (p *Planning) deleteRotation(ctx context.Context, by operation.Actor, one OneRotation) (none operation.None, err error) {
	s, err := p.owned(ctx, by, one.ID)
	if err != nil {
		return none, err
	}
	return none, p.deps.Changes.Delete(ctx, s, Author(by, nil))
}

// Draft reads and checks the settings of a rotation of a team. It also returns the name of its role. Faults name a field
// of a layer as layers[0].start.
func (p *Planning) Draft(ctx context.Context, t oncall.Profile, s RotationSettings) (scheduling.ScheduleDraft, string, error) {
	d := scheduling.ScheduleDraft{TeamID: t.ID, Name: s.Name, Algorithm: scheduling.ByRotation, Advanced: true,
		Threshold: scheduling.DefaultThreshold, Rotation: &scheduling.Rotation{}}
	if s.Threshold != nil {
		d.Threshold = max(*s.Threshold, -1)
	}
	role, err := p.deps.Finder.Role(ctx, s.Role)
	if err != nil {
		return d, "", fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", s.Role))
	}
	roster, err := p.deps.Finder.RosterNamed(ctx, t, s.Roster)
	if err != nil {
		return d, "", fault.When(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name,
			s.Roster))
	}
	d.RoleID, d.RosterID = role.ID, roster.ID
	named := 0
	for _, l := range s.Layers {
		if named += len(l.Members); named > mostNamed {
			return d, "", fault.Invalidf("layers", "a rotation names at most %d members", mostNamed)
		}
	}
	for i, l := range s.Layers {
		layer, err := p.readLayer(ctx, l)
		if err != nil {
			return d, "", within(err, i)
		}
		d.Rotation.Layers = append(d.Rotation.Layers, layer)
	}
	return d, role.Name, scheduling.Schedule{Algorithm: d.Algorithm, Rotation: d.Rotation, Threshold: d.Threshold}.Check()
}

// mostNamed bounds the people that a rotation names. Each name is looked up.
const mostNamed = 500

// within puts the number of the layer before the field of a fault.
func within(err error, layer int) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "" {
		f.Field = fmt.Sprintf("layers[%d].%s", layer, f.Field)
	}
	return err
}

// readLayer finds the people of a layer.
func (p *Planning) readLayer(ctx context.Context, g Layer) (scheduling.Layer, error) {
	l := scheduling.Layer{Name: g.Name, Every: g.Every, Unit: scheduling.Unit(g.Unit),
		Holidays: scheduling.HolidayRule(g.Holidays)}
	var err error
	if l.Start, err = readClock("start", g.Start); err != nil {
		return l, err
	}
	if g.End != nil && *g.End != "" {
		end, err := readClock("end", *g.End)
		if err != nil {
			return l, err
		}
		l.End = &end
	}
	for _, h := range g.HandOffs {
		d, err := readTimeOfDay("hand_offs", h)
		if err != nil {
			return l, err
		}
		l.HandOffs = append(l.HandOffs, d)
	}
	if l.Restrict, err = readWindows("restrict", g.Restrict); err != nil {
		return l, err
	}
	for _, m := range g.Members {
		u, err := p.deps.People.ByName(ctx, m.User)
		if err != nil {
			return l, fault.When(err, fault.NotFound, fault.Invalidf("members", "there is no user %q", m.User))
		}
		turn := scheduling.LayerMember{User: u.ID}
		if turn.Joins, err = readDate("joins", m.Joins); err != nil {
			return l, err
		}
		if turn.Leaves, err = readDate("leaves", m.Leaves); err != nil {
			return l, err
		}
		l.Members = append(l.Members, turn)
	}
	return l, nil
}

// The formats of times on the clock of a team.
const (
	clockFormat = "2006-01-02T15:04"
	clockLong   = "2006-01-02T15:04:05"
)

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

func readClock(field, s string) (oncall.Local, error) {
	for _, format := range []string{clockFormat, clockLong, "2006-01-02 15:04"} {
		if t, err := time.Parse(format, s); err == nil {
			return oncall.LocalOf(t), nil
		}
	}
	return 0, fault.Invalidf(field, "%s must be a time on the team's clock like 2026-11-23T09:00", field)
}

func readTimeOfDay(field, s string) (time.Duration, error) {
	if s == "24:00" {
		return 24 * time.Hour, nil
	}
	for _, format := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(format, s); err == nil {
			return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second, nil
		}
	}
	return 0, fault.Invalidf(field, "%s must be a time of day like 09:00", field)
}

func readDate(field string, s *string) (*oncall.Date, error) {
	if s == nil || *s == "" {
		return nil, nil
	}
	d, err := oncall.ParseDate(*s)
	if err != nil {
		return nil, fault.Invalidf(field, "%s must be a date like 2026-11-23", field)
	}
	return &d, nil
}

func readWindows(field string, given []Window) (out []scheduling.Window, err error) {
	for _, g := range given {
		var w scheduling.Window
		for _, name := range g.Days {
			day := -1
			for i, known := range weekdays {
				if strings.EqualFold(name, known) {
					day = i
				}
			}
			if day < 0 {
				return nil, fault.Invalidf(field, "days must be of sun, mon, tue, wed, thu, fri, sat")
			}
			w.Days = append(w.Days, time.Weekday(day))
		}
		if w.From, err = readTimeOfDay(field, g.From); err != nil {
			return nil, err
		}
		if w.To, err = readTimeOfDay(field, g.To); err != nil {
			return nil, err
		}
		out = append(out, w)
	}
	return out, nil
}

func windowsOf(windows []scheduling.Window) []Window {
	out := []Window{}
	for _, w := range windows {
		o := Window{Days: []string{}, From: timeOfDay(w.From), To: timeOfDay(w.To)}
		for _, d := range w.Days {
			o.Days = append(o.Days, weekdays[d])
		}
		out = append(out, o)
	}
	return out
}

func clockText(l oncall.Local) string {
	t := l.Time()
	if t.Second() != 0 {
		return t.Format(clockLong)
	}
	return t.Format(clockFormat)
}

func timeOfDay(d time.Duration) string {
	s := int64(d / time.Second)
	switch {
	case s%60 != 0:
		return time.Unix(s, 0).UTC().Format(time.TimeOnly)
	case s == 86400:
		return "24:00"
	}
	return time.Unix(s, 0).UTC().Format("15:04")
}

func dateText(d *oncall.Date) *string {
	if d == nil {
		return nil
	}
	s := d.String()
	return &s
}

// rotationOf returns a stored rotation with the names of its people.
func (p *Planning) rotationOf(ctx context.Context, s scheduling.StoredSchedule) (Rotation, error) {
	var ids []users.ID
	for _, l := range s.Rotation.Layers {
		for _, m := range l.Members {
			ids = append(ids, m.User)
		}
	}
	people, err := p.deps.People.ByID(ctx, ids)
	if err != nil {
		return Rotation{}, err
	}
	names := map[users.ID]string{}
	for _, one := range people {
		names[one.ID] = one.Name
	}
	out := Rotation{ID: s.ID, Name: s.Name, Team: s.Team, Role: s.Role, Roster: s.RosterName, TimeZone: s.TimeZone,
		Threshold: s.Threshold, Layers: []Layer{}, tag: s.Tag()}
	for _, l := range s.Rotation.Layers {
		o := Layer{Name: l.Name, Start: clockText(l.Start), Every: l.Every, Unit: string(l.Unit),
			HandOffs: []string{}, Restrict: windowsOf(l.Restrict), Holidays: string(l.Holidays), Members: []Turn{}}
		if o.Holidays == "" {
			o.Holidays = string(scheduling.KeepHolidays)
		}
		if l.End != nil {
			end := clockText(*l.End)
			o.End = &end
		}
		for _, h := range l.HandOffs {
			o.HandOffs = append(o.HandOffs, timeOfDay(h))
		}
		for _, m := range l.Members {
			o.Members = append(o.Members, Turn{names[m.User], dateText(m.Joins), dateText(m.Leaves)})
		}
		out.Layers = append(out.Layers, o)
	}
	return out, nil
}
