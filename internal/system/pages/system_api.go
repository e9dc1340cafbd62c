// This file answers /v1/system. Operators read the members, queues, limits, vendors and the configuration there. They
// drain members, pause modes, accounts and applications, drop waiting messages, and send messages again.

package pages

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

const (
	// callsFor is how far back the calls of vendors are counted.
	callsFor = time.Hour
	// unreachedFor is how far back unreached people are listed.
	unreachedFor = 30 * 24 * time.Hour
)

// Members returns the running processes and the owners of the buckets.
type Members interface {
	View(ctx context.Context) (buckets.View, error)
}

// Queues returns the number of messages that wait for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// Sending reads what happened with vendors and limits.
type Sending interface {
	Vendors(ctx context.Context, since time.Time) ([]system.VendorCalls, error)
	Pauses(ctx context.Context) ([]system.Pause, error)
	PausedApplications(ctx context.Context) ([]string, error)
	// Unreached returns pages that reached nobody, newest first: of an application, 0 = of all.
	Unreached(ctx context.Context, application int64, since time.Time, before int64, most int) ([]system.Unreached,
		error)
	// Schema returns the newest migration of the database and of this release.
	Schema(ctx context.Context) (have, want int64, err error)
}

// Contacts reads the contacts that no message can reach, after a person's contact.
type Contacts interface {
	Failing(ctx context.Context, name string, mode users.Mode, most int) ([]users.FailingContact, error)
}

// Cluster reads the limits that the members share and the hand-overs between them.
type Cluster interface {
	Limits(ctx context.Context) ([]system.LimitUse, error)
	// Handovers returns the latest hand-overs of buckets, newest first.
	Handovers(ctx context.Context, most int) ([]system.Handover, error)
}

// Setting is a key of the configuration. Nothing in it is secret.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Members  Members
	Queues   Queues
	Sending  Sending
	Cluster  Cluster
	Contacts Contacts
	Settings []Setting // in force in this process
	Version  string    // of this process

	Drains   Drains
	Pauses   Pauses
	Messages Messages
	// Own returns the application that the caller is confined to; 0 = none.
	Own func(ctx context.Context) (id int64, name string)
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// APIRoutes returns the routes on the parts.
func APIRoutes(d Deps) []routing.Route {
	return append(d.operations(),
		routing.Get("/v1/system/members", routing.Someone, d.members),
		routing.Get("/v1/system/handovers", routing.Someone, d.handovers),
		routing.Get("/v1/system/queues", routing.Someone, d.queues),
		routing.Get("/v1/system/limits", routing.Someone, d.limits),
		routing.Get("/v1/system/vendors", routing.Someone, d.vendors),
		routing.Get("/v1/system/unreached", routing.Someone, d.unreached),
		routing.Get("/v1/system/contacts", routing.Someone, d.failingContacts),
		routing.Get("/v1/system/configuration", routing.Someone, d.configuration),
	)
}

type apiMember struct {
	ProcessID string  `json:"process_id"`
	Host      string  `json:"host"`
	Gossip    *string `json:"gossip_address"`
	Version   string  `json:"version"`
	StartedAt *string `json:"started_at"`
	Age       float64 `json:"heartbeat_age_seconds"`
	State     string  `json:"state"` // running, draining or dead
	Buckets   int     `json:"buckets"`
	// Modes are what it has a vendor for; null = it does not say. Lacks are those that only other running processes
	// serve.
	Modes []string `json:"modes"`
	Lacks []string `json:"lacks"`
	// Skew is how far its clock is ahead of the clock of the database; null = it does not say.
	Skew *float64 `json:"clock_skew_seconds"`
}

type apiBucket struct {
	Owner *string `json:"owner"`
	Epoch int64   `json:"epoch"`
}

func (d Deps) members(w http.ResponseWriter, r *http.Request) error {
	found, err := d.Members.View(r.Context())
	if err != nil {
		return err
	}
	have, want, err := d.Sending.Schema(r.Context())
	if err != nil {
		return err
	}
	owned := map[string]int{}
	owners := make([]apiBucket, len(found.Leases))
	for i, l := range found.Leases {
		owned[l.Owner]++
		owners[i] = apiBucket{listing.OrNull(l.Owner), l.Epoch}
	}
	all := make([]apiMember, len(found.Members))
	lacks := map[string][]string{}
	for _, l := range buckets.Lacks(found.Members) {
		lacks[l.Member.ProcessID] = append(lacks[l.Member.ProcessID], l.Mode)
	}
	for i, m := range found.Members {
		state := "running"
		switch {
		case m.Age >= buckets.DefaultLimits().Fresh:
			state = "dead"
		case m.Draining:
			state = "draining"
		}
		all[i] = apiMember{m.ProcessID, m.Host, listing.OrNull(m.GossipAddr), m.Version, listing.Time(m.StartedAt),
			m.Age.Seconds(), state, owned[m.ProcessID], m.Modes, routing.OrEmpty(lacks[m.ProcessID]), nil}
		if m.ClockSkew != nil {
			skew := m.ClockSkew.Seconds()
			all[i].Skew = &skew
		}
	}
	return routing.Answer(w, http.StatusOK, struct {
		Members      []apiMember `json:"members"`
		Buckets      []apiBucket `json:"buckets"`
		Version      string      `json:"version"`
		Schema       int64       `json:"schema"`
		SchemaWanted int64       `json:"schema_wanted"`
	}{all, owners, d.Version, have, want})
}

type apiQueue struct {
	Mode        string  `json:"mode"`
	Application string  `json:"application"`
	Class       string  `json:"class"`
	Waiting     int64   `json:"waiting"`
	InFlight    int64   `json:"in_flight"`
	Oldest      float64 `json:"oldest_seconds"`
}

func (d Deps) queues(w http.ResponseWriter, r *http.Request) error {
	depths, err := d.Queues.Depths(r.Context())
	if err != nil {
		return err
	}
	classes := map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine",
		messages.ClassOutOfBand: "out of band"}
	return listing.Answer(w, depths, func(q messages.QueueDepth) any {
		return apiQueue{string(q.Mode), q.Application, classes[q.Class], q.Waiting, q.InFlight, q.OldestAge.Seconds()}
	}, "")
}

// handoversShown is how many hand-overs the API shows.
const handoversShown = 50

type apiHandover struct {
	At           *string `json:"at"`
	Owner        string  `json:"owner"`
	Host         string  `json:"host"`
	Previous     *string `json:"previous"`
	PreviousHost *string `json:"previous_host"`
	TakenOver    bool    `json:"taken_over"`
	Buckets      []int   `json:"buckets"`
}

func (d Deps) handovers(w http.ResponseWriter, r *http.Request) error {
	found, err := d.Cluster.Handovers(r.Context(), handoversShown)
	if err != nil {
		return err
	}
	return listing.Answer(w, found, func(h system.Handover) any {
		return apiHandover{listing.Time(h.At), h.Owner, h.Host, listing.OrNull(h.Previous),
			listing.OrNull(h.PreviousHost), h.TakenOver, h.Buckets}
	}, "")
}

type apiLimit struct {
	Key       string  `json:"key"`
	Ahead     float64 `json:"ahead_seconds"`
	Used      float64 `json:"used_last_minute"`
	PerMinute float64 `json:"per_minute"`
}

func (d Deps) limits(w http.ResponseWriter, r *http.Request) error {
	found, err := d.Cluster.Limits(r.Context())
	if err != nil {
		return err
	}
	show := func(l system.LimitUse) any { return apiLimit{l.Key, l.Ahead.Seconds(), l.Used, l.PerMinute} }
	return listing.Answer(w, found, show, "")
}

type apiVendor struct {
	Vendor       string  `json:"vendor"`
	Account      string  `json:"account"`
	Mode         string  `json:"mode"`
	Health       string  `json:"health"`
	Calls        int64   `json:"calls"`
	Failed       int64   `json:"failed"`
	InDoubt      int64   `json:"in_doubt"`
	LastSentAt   *string `json:"last_sent_at"`
	LastFailedAt *string `json:"last_failed_at"`
	LastFailure  *string `json:"last_failure"`
}

type apiPause struct {
	Key    string  `json:"key"`
	Left   float64 `json:"left_seconds"`
	Reason string  `json:"reason"`
}

func (d Deps) vendors(w http.ResponseWriter, r *http.Request) error {
	calls, err := d.Sending.Vendors(r.Context(), time.Now().Add(-callsFor))
	if err != nil {
		return err
	}
	pauses, err := d.Sending.Pauses(r.Context())
	if err != nil {
		return err
	}
	applications, err := d.Sending.PausedApplications(r.Context())
	if err != nil {
		return err
	}
	out := struct {
		Items        []apiVendor `json:"items"`
		Pauses       []apiPause  `json:"pauses"`
		Applications []string    `json:"paused_applications"`
	}{make([]apiVendor, len(calls)), make([]apiPause, len(pauses)), applications}
	for i, c := range calls {
		out.Items[i] = apiVendor{c.Vendor, c.Account, c.Mode, string(c.Health()), c.Calls, c.Failed, c.InDoubt,
			listing.Time(c.LastSentAt), listing.Time(c.LastFailedAt), listing.OrNull(c.LastFailure)}
	}
	for i, p := range pauses {
		out.Pauses[i] = apiPause{p.Key, p.Left.Seconds(), p.Reason}
	}
	return routing.Answer(w, http.StatusOK, out)
}

type apiUnreached struct {
	IncidentID  int64   `json:"incident_id"`
	At          *string `json:"at"`
	Text        string  `json:"text"`
	Application string  `json:"application"`
	Plan        string  `json:"plan"`
}

func (d Deps) unreached(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	var before int64
	if place := q.AfterName(); place != "" {
		if before, err = strconv.ParseInt(place, 10, 64); err != nil || before < 1 {
			return listing.BadCursor()
		}
	}
	own, _ := d.Own(r.Context())
	found, err := d.Sending.Unreached(r.Context(), own, time.Now().Add(-unreachedFor), before, q.Size+1)
	if err != nil {
		return err
	}
	show := func(u system.Unreached) any {
		return apiUnreached{u.IncidentID, listing.Time(u.At), u.Text, u.Application, u.Plan}
	}
	return listing.AnswerFrom(w, q, found, show, func(u system.Unreached) string { return strconv.FormatInt(u.ID, 10) })
}

type failingContact struct {
	User        string     `json:"user"`
	Mode        users.Mode `json:"mode"`
	Destination *string    `json:"destination"` // for administrators
	Reason      string     `json:"reason"`
}

func (d Deps) failingContacts(w http.ResponseWriter, r *http.Request) error {
	q, err := listing.Read(r)
	if err != nil {
		return err
	}
	mode, name, _ := strings.Cut(q.AfterName(), " ")
	found, err := d.Contacts.Failing(r.Context(), name, users.Mode(mode), q.Size+1)
	if err != nil {
		return err
	}
	admin := wire.Actor(r.Context()).MayAdminister() == nil
	show := func(c users.FailingContact) any {
		out := failingContact{User: c.Person, Mode: c.Mode, Reason: c.Failing}
		if admin {
			out.Destination = &c.Destination
		}
		return out
	}
	return listing.AnswerFrom(w, q, found, show, func(c users.FailingContact) string {
		return string(c.Mode) + " " +
			c.Person
	})
}

// configuration answers administrators with the settings of this process.
func (d Deps) configuration(w http.ResponseWriter, r *http.Request) error {
	if err := wire.Actor(r.Context()).MayAdminister(); err != nil {
		return err
	}
	if len(r.URL.Query()) > 0 {
		return fault.Invalidf("", "this address takes no parameters")
	}
	return listing.AnswerAll(w, d.Settings)
}
