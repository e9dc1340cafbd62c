package system

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// callsFor is how far back the calls of vendors are counted.
	callsFor = time.Hour
	// unreachedFor is how far back unreached people are listed.
	unreachedFor = 30 * 24 * time.Hour
	// handoversShown is how many hand-overs are listed.
	handoversShown = 50
)

// The operations that read the state of the system.
var (
	ReadMembers = operation.Define[operation.None, Cluster](operation.Doc{Name: "system.members",
		Method: http.MethodGet, Path: "/v1/system/members", Needs: operation.Reader,
		Summary: "The processors and the owners of the buckets"})
	ListHandovers = operation.Define[operation.None, operation.Page[Handover]](operation.Doc{Name: "system.handovers",
		Method: http.MethodGet, Path: "/v1/system/handovers", Needs: operation.Reader,
		Summary: "Which process took buckets from which, the latest 50, newest first"})
	ListQueues = operation.Define[operation.None, operation.Page[Queue]](operation.Doc{Name: "system.queues",
		Method: http.MethodGet, Path: "/v1/system/queues", Needs: operation.Reader,
		Summary: "What waits to be sent, by mode, application and class"})
	ListLimits = operation.Define[operation.None, operation.Page[Limit]](operation.Doc{Name: "system.limits",
		Method: http.MethodGet, Path: "/v1/system/limits", Needs: operation.Reader,
		Summary: "The rate limits that were used in the last hour"})
	ReadVendors = operation.Define[operation.None, Vendors](operation.Doc{Name: "system.vendors",
		Method: http.MethodGet, Path: "/v1/system/vendors", Needs: operation.Reader,
		Summary: "Calls of the accounts of vendors in the last hour, and pauses"})
	ListUnreached = operation.Define[operation.Paging, operation.Page[Unreached]](operation.Doc{Name: "system.unreached",
		Method: http.MethodGet, Path: "/v1/system/unreached", Needs: operation.Reader,
		Summary: "Notifications of the last 30 days that reached nobody, newest first",
		Note:    "The key of an application gets those of its own."})
	ListContacts = operation.Define[operation.Paging, operation.Page[FailingContact]](operation.Doc{
		Name: "system.contacts", Method: http.MethodGet, Path: "/v1/system/contacts", Needs: operation.Reader,
		Summary: "Contacts of active people that no message can reach, by name",
		Note:    "Phone numbers that cannot be read, and names of Slack that cannot be resolved. Processors check them every hour."})
	ListSettings = operation.Define[operation.None, operation.Page[Setting]](operation.Doc{
		Name: "system.configuration", Method: http.MethodGet, Path: "/v1/system/configuration", Needs: operation.Admin,
		Summary: "The configuration in force of the process that answers, without secrets"})
)

// Members returns the running processes and the owners of the buckets.
type Members interface {
	View(ctx context.Context) (buckets.View, error)
}

// Queues returns the number of messages that wait for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// Seen reads what happened with vendors, limits and hand-overs.
type Seen interface {
	// Vendors returns accounts without their health.
	Vendors(ctx context.Context, since time.Time) ([]Vendor, error)
	Pauses(ctx context.Context) ([]Pause, error)
	PausedApplications(ctx context.Context) ([]string, error)
	// Unreached returns pages that reached nobody, newest first: of an application, 0 = of all.
	Unreached(ctx context.Context, application int64, since time.Time, before int64, most int) ([]Unreached, error)
	// Schema returns the newest migration of the database and of this release.
	Schema(ctx context.Context) (have, want int64, err error)
	Limits(ctx context.Context) ([]Limit, error)
	// Handovers returns the latest hand-overs of buckets, newest first.
	Handovers(ctx context.Context, most int) ([]Handover, error)
}

// Contacts reads the contacts that no message can reach, after a person's contact.
type Contacts interface {
	Failing(ctx context.Context, name string, mode users.Mode, most int) ([]users.FailingContact, error)
}

// Deps are what System works on.
type Deps struct {
	Members  Members
	Queues   Queues
	Seen     Seen
	Contacts Contacts
	Settings []Setting // in force in this process
	Version  string    // of this process
	Verbs    Verbs
	Counts   Counts
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// System are the operations on the running system. They are safe for concurrent use.
type System struct {
	Members   operation.Op[operation.None, Cluster]
	Handovers operation.Op[operation.None, operation.Page[Handover]]
	Queues    operation.Op[operation.None, operation.Page[Queue]]
	Limits    operation.Op[operation.None, operation.Page[Limit]]
	Vendors   operation.Op[operation.None, Vendors]
	Unreached operation.Op[operation.Paging, operation.Page[Unreached]]
	Contacts  operation.Op[operation.Paging, operation.Page[FailingContact]]
	Settings  operation.Op[operation.None, operation.Page[Setting]]

	Drain  operation.Op[Draining, Drain]
	Pause  operation.Op[Pausing, Pause]
	Resume operation.Op[Resuming, operation.None]
	Purge  operation.Op[Purge, Purged]
	Resend operation.Op[OneMessage, Resent]

	Statistics operation.Op[Period, Figures]

	deps Deps
}

// New returns the operations on the parts.
func New(d Deps) *System {
	s := &System{deps: d}
	s.Members, s.Handovers, s.Queues = ReadMembers.By(s.members), ListHandovers.By(s.handovers), ListQueues.By(s.queues)
	s.Limits, s.Vendors, s.Unreached = ListLimits.By(s.limits), ReadVendors.By(s.vendors), ListUnreached.By(s.unreached)
	s.Contacts, s.Settings = ListContacts.By(s.contacts), ListSettings.By(s.settings)
	s.Drain, s.Pause, s.Resume = DrainMember.By(s.drain), PauseSending.By(s.pause), ResumeSending.By(s.resume)
	s.Purge, s.Resend = PurgeMessages.By(s.purge), ResendMessage.By(s.resend)
	s.Statistics = ReadStatistics.By(s.statistics)
	return s
}

func (s *System) members(ctx context.Context, _ operation.Actor, _ operation.None) (out Cluster, err error) {
	found, err := s.deps.Members.View(ctx)
	if err != nil {
		return out, err
	}
	out.Version, out.Members, out.Buckets = s.deps.Version, make([]Member, len(found.Members)), make([]Bucket, len(found.Leases))
	owned, lacks := map[string]int{}, map[string][]string{}
	for i, l := range found.Leases {
		owned[l.Owner]++
		out.Buckets[i] = Bucket{operation.Text(l.Owner), l.Epoch}
	}
	for _, l := range buckets.Lacks(found.Members) {
		lacks[l.Member.ProcessID] = append(lacks[l.Member.ProcessID], l.Mode)
	}
	for i, m := range found.Members {
		state := Runs
		switch {
		case m.Age >= buckets.DefaultLimits().Fresh:
			state = Dead
		case m.Draining:
			state = Drains
		}
		out.Members[i] = Member{m.ProcessID, m.Host, operation.Text(m.GossipAddr), m.Version, m.StartedAt.UTC(),
			m.Age.Seconds(), state, owned[m.ProcessID], m.Modes, append([]string{}, lacks[m.ProcessID]...), nil}
		if m.ClockSkew != nil {
			skew := m.ClockSkew.Seconds()
			out.Members[i].Skew = &skew
		}
	}
	out.Schema, out.SchemaWanted, err = s.deps.Seen.Schema(ctx)
	return out, err
}

// whole returns a list that is never long, as it is: all of it, without a next page.
func whole[T any](found []T, err error) (operation.Page[T], error) {
	return operation.Page[T]{Items: append([]T{}, found...)}, err
}

func (s *System) handovers(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[Handover], error) {
	return whole(s.deps.Seen.Handovers(ctx, handoversShown))
}

func (s *System) queues(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[Queue], error) {
	found, err := s.deps.Queues.Depths(ctx)
	classes := map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine",
		messages.ClassOutOfBand: "out of band"}
	out := make([]Queue, len(found))
	for i, q := range found {
		out[i] = Queue{q.Mode, q.Application, classes[q.Class], q.Waiting, q.InFlight, q.OldestAge.Seconds()}
	}
	return whole(out, err)
}

func (s *System) limits(ctx context.Context, _ operation.Actor, _ operation.None) (operation.Page[Limit], error) {
	return whole(s.deps.Seen.Limits(ctx))
}

func (s *System) vendors(ctx context.Context, _ operation.Actor, _ operation.None) (out Vendors, err error) {
	calls, err := s.deps.Seen.Vendors(ctx, time.Now().Add(-callsFor))
	if err != nil {
		return out, err
	}
	for i := range calls {
		calls[i].Health = calls[i].health()
	}
	pauses, err := s.deps.Seen.Pauses(ctx)
	if err != nil {
		return out, err
	}
	paused, err := s.deps.Seen.PausedApplications(ctx)
	return Vendors{append([]Vendor{}, calls...), append([]Pause{}, pauses...), append([]string{}, paused...)}, err
}

func (s *System) unreached(ctx context.Context, by operation.Actor, p operation.Paging) (operation.Page[Unreached], error) {
	before, err := p.Before()
	if err != nil {
		return operation.Page[Unreached]{}, err
	}
	found, err := s.deps.Seen.Unreached(ctx, by.Application, time.Now().Add(-unreachedFor), before, p.Size()+1)
	return operation.PageOf(p, found, func(u Unreached) int64 { return u.ID }), err
}

func (s *System) contacts(ctx context.Context, by operation.Actor, p operation.Paging) (out operation.Page[FailingContact], err error) {
	place, err := p.Place()
	if err != nil {
		return out, err
	}
	mode, name, _ := strings.Cut(place, " ")
	found, err := s.deps.Contacts.Failing(ctx, name, users.Mode(mode), p.Size()+1)
	if len(found) > p.Size() {
		found = found[:p.Size()]
		last := found[len(found)-1]
		out.Next = operation.NextOf(string(last.Mode) + " " + last.Person)
	}
	out.Items = make([]FailingContact, len(found))
	for i, c := range found {
		out.Items[i] = FailingContact{c.Person, c.Mode, "", c.Failing}
		if by.Role == operation.Admin {
			out.Items[i].Destination = operation.Text(c.Destination)
		}
	}
	return out, err
}

func (s *System) settings(context.Context, operation.Actor, operation.None) (operation.Page[Setting], error) {
	return whole(s.deps.Settings, nil)
}
