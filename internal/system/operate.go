package system

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// OwnApplication is the application through which Iris sends messages of its own.
const OwnApplication = auth.SessionApplication

// The operations that change the running system.
var (
	DrainMember = operation.Define[Draining, Drain](operation.Doc{Name: "system.drain", Method: http.MethodPut,
		Path: "/v1/system/members/{process}/draining", Needs: operation.Admin,
		Audit:   []audit.Action{audit.MemberDrained, audit.MemberDrainEnded},
		Summary: "Drain a processor, so that it gives its buckets to the others, or end the drain",
		Note:    "409 if no other processor could own its buckets.", Errors: []int{409, 422}})
	PauseSending = operation.Define[Pausing, Pause](operation.Doc{Name: "system.pause", Method: http.MethodPut,
		Path: "/v1/system/pauses/{key}", Needs: operation.Admin, Audit: []audit.Action{audit.SendingPaused},
		Summary: "Pause an account of a vendor, or a mode", Errors: []int{422},
		Note: "The key is an account, such as account:twilio/main, or a mode, such as mode:sms. Messages of a paused mode " +
			"wait. Messages of a paused account leave through another account or in another mode, or wait. In a browser " +
			"it needs a recent log-in."})
	ResumeSending = operation.Define[Resuming, operation.None](operation.Doc{Name: "system.resume",
		Method: http.MethodDelete, Path: "/v1/system/pauses/{key}", Needs: operation.Admin,
		Audit:   []audit.Action{audit.SendingResumed},
		Summary: "End a pause, also one that a vendor asked for"})
	PurgeMessages = operation.Define[Purge, Purged](operation.Doc{Name: "message.purge", Method: http.MethodPost,
		Path: "/v1/messages/purge", Needs: operation.Admin, Status: http.StatusOK,
		Audit: []audit.Action{audit.MessagesPurged}, Summary: "Drop messages that wait to be sent", Errors: []int{422},
		Note: "At least one of application, mode, incident_id and out_of_band. In a browser it needs a recent log-in."})
	ResendMessage = operation.Define[OneMessage, Resent](operation.Doc{Name: "message.resend", Method: http.MethodPost,
		Path: "/v1/messages/{id}/resend", Needs: operation.Admin, Audit: []audit.Action{audit.MessageSentAgain},
		Summary: "Send a message again, to the same recipient, by the same mode and with the same content",
		Note:    "409 when the message is not sent yet, or its incident is over.", Errors: []int{409}})
)

// Drain says whether a member is to give its buckets to the others.
type Drain struct {
	Draining bool `json:"draining"`
}

// Draining drains a member, or ends the drain.
type Draining struct {
	Process string `path:"process" json:"process"`
	Body    Drain  `json:"body"`
}

// NewPause is how long something is paused, and why.
type NewPause struct {
	Seconds int64  `json:"seconds" minimum:"1" maximum:"86400"`
	Reason  string `json:"reason" minLength:"1" doc:"At most 500 bytes; others see it while the pause lasts."`
}

// Pausing pauses an account ("account:twilio/main") or a mode ("mode:sms"). A pause lasts at most a day, so that a
// forgotten one ends.
type Pausing struct {
	Key  string   `path:"key" json:"key"`
	Body NewPause `json:"body"`
}

// Check implements operation.Checker.
func (p Pausing) Check() error {
	var wrong fault.Wrong
	wrong.If(!pausable(p.Key), "key",
		"%.100q must be a mode, such as mode:sms, or an account, such as account:twilio/main", p.Key)
	checkReason(&wrong, p.Body.Reason, "others see it while the pause lasts")
	return wrong.Err()
}

// pausable reports whether a key is a mode or an account.
func pausable(key string) bool {
	if mode, ok := strings.CutPrefix(key, "mode:"); ok {
		_, known := users.ParseMode(mode)
		return known
	}
	account, ok := strings.CutPrefix(key, "account:")
	vendor, _, named := strings.Cut(account, "/")
	return ok && named && vendor != "" && len(key) <= 200
}

func checkReason(wrong *fault.Wrong, text, use string) {
	text = strings.TrimSpace(text)
	wrong.If(text == "" || len(text) > 500, "reason", "give a reason of at most 500 bytes: %s", use)
}

// Resuming ends a pause.
type Resuming struct {
	Key string `path:"key" json:"key"`
}

// Purge selects the pending messages that an operator drops. Zero members match everything.
type Purge struct {
	Application string       `json:"application,omitempty"`
	Mode        users.Mode   `json:"mode,omitempty"`
	IncidentID  incidents.ID `json:"incident_id,omitempty" minimum:"1"`
	OutOfBand   bool         `json:"out_of_band,omitempty" doc:"Only messages that belong to no incident."`
	OlderThan   int64        `json:"older_than_seconds,omitempty" minimum:"0" maximum:"31622400" doc:"Since they were made."`
	Reason      string       `json:"reason" minLength:"1" doc:"At most 500 bytes, for the timelines of the incidents."`
}

// Check implements operation.Checker. At least one condition is required, so that nobody drops everything by mistake.
func (p Purge) Check() error {
	var wrong fault.Wrong
	_, known := users.ParseMode(string(p.Mode))
	wrong.If(p.Mode != "" && !known, "mode", "there is no mode %.40q", string(p.Mode))
	wrong.If(p.Application == "" && p.Mode == "" && p.IncidentID == 0 && !p.OutOfBand, "application",
		"give at least one of application, mode, incident_id and out_of_band: all waiting messages cannot be dropped together")
	checkReason(&wrong, p.Reason, "it is shown on the timelines of the incidents")
	return wrong.Err()
}

// Purged is what a purge did.
type Purged struct {
	Dropped int  `json:"dropped"`
	More    bool `json:"more" doc:"More waiting messages match: send the request again."`
}

// OneMessage names a message.
type OneMessage struct {
	ID messages.ID `path:"id" json:"id"`
}

// Resent is the new message.
type Resent struct {
	ID messages.ID `json:"id"`
}

// Location is the address of the message.
func (r Resent) Location() string { return operation.Path("/v1/messages/{id}", r.ID) }

// Verbs changes the running system, with entries in the audit log.
type Verbs interface {
	// SetDraining makes a member release its buckets, or own buckets again. It returns a NotFound fault for a member
	// that does not exist, and a Conflict fault for the last member that could own buckets.
	SetDraining(ctx context.Context, processID string, draining bool) error
	Pause(ctx context.Context, key string, d time.Duration, reason string) error
	// EndPause of a key that is not paused returns a NotFound fault.
	EndPause(ctx context.Context, key string) error
	// Purge drops pending messages, as many as it can in a few seconds. An unknown application is an Invalid fault.
	Purge(ctx context.Context, p Purge, actor string) (Purged, error)
	// Resend makes a message again and returns the new one and its bucket. A message that cannot be sent again is a
	// Conflict fault.
	Resend(ctx context.Context, id messages.ID, actor string) (made messages.ID, bucket int, err error)
}

func (s *System) drain(ctx context.Context, _ operation.Actor, d Draining) (Drain, error) {
	return d.Body, s.deps.Verbs.SetDraining(ctx, d.Process, d.Body.Draining)
}

func (s *System) pause(ctx context.Context, _ operation.Actor, p Pausing) (Pause, error) {
	why := strings.TrimSpace(p.Body.Reason)
	return Pause{p.Key, float64(p.Body.Seconds), why},
		s.deps.Verbs.Pause(ctx, p.Key, time.Duration(p.Body.Seconds)*time.Second, why)
}

func (s *System) resume(ctx context.Context, _ operation.Actor, r Resuming) (none operation.None, err error) {
	return none, s.deps.Verbs.EndPause(ctx, r.Key)
}

func (s *System) purge(ctx context.Context, by operation.Actor, p Purge) (Purged, error) {
	p.Mode, _ = users.ParseMode(string(p.Mode)) // see Check
	p.Reason = strings.TrimSpace(p.Reason)
	done, err := s.deps.Verbs.Purge(ctx, p, by.Name)
	if err == nil {
		s.deps.Wake(ctx, buckets.All())
	}
	return done, err
}

func (s *System) resend(ctx context.Context, by operation.Actor, one OneMessage) (Resent, error) {
	made, bucket, err := s.deps.Verbs.Resend(ctx, one.ID, by.Name)
	if err == nil {
		s.deps.Wake(ctx, buckets.Of(bucket))
	}
	return Resent{made}, err
}

// MayResend returns a Conflict fault if an operator cannot send a message again.
func MayResend(s messages.State, p messages.Purpose, application string) error {
	switch {
	case s == messages.Pending || s == messages.Taken || s == messages.Sending:
		return fault.New(fault.Conflict, "the message is not sent yet: wait until it was sent or failed")
	case s == messages.Aggregated || p == messages.Digest:
		return fault.New(fault.Conflict, "a digest cannot be sent again: send the pages of its incidents again")
	case p.Notice() || p == messages.TrackingMsg:
		return fault.New(fault.Conflict, "only pages and notifications can be sent again")
	case application == OwnApplication:
		return fault.New(fault.Conflict,
			"messages of Iris itself are not sent again, because they may have codes or links: ask for a new one")
	}
	return nil
}
