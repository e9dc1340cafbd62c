package notifications_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	ann users.ID = iota + 1
	bob
	mute // has no contact
	gone // was removed after the resolution
)

// backend is every collaborator of an Acceptor. It knows the teams db (ann and bob), quiet (mute), empty and large, and
// the category news.
type backend struct {
	stored   []messages.Notification
	accepted int
	wait     time.Duration
}

func (b *backend) Create(_ context.Context, n messages.Notification) (int64, error) {
	b.stored = append(b.stored, n)
	return int64(len(b.stored)), nil
}

func (b *backend) Lookup(_ context.Context, role, name string) (escalation.Lookup, error) {
	targets := map[string]int64{"user:ann": 1, "user:bob": 2, "team:db": 3, "team:quiet": 4, "team:empty": 5,
		"team:large": 6, "team:past": 7}
	found := escalation.Lookup{TargetID: targets[role+":"+name]}
	if role == "user" || role == "team" {
		found.Role = role
	}
	found.Exists = targets["user:"+name]+targets["team:"+name] > 0
	return found, nil
}

func (b *backend) Resolve(_ context.Context, q oncall.Query, _ time.Time) (oncall.Answer, error) {
	people := map[int64][]users.ID{1: {ann}, 2: {bob}, 3: {ann, bob}, 4: {mute}, 5: nil, 6: nil,
		7: {gone, ann}}[q.TargetID]
	if q.TargetID == 6 {
		for n := range notifications.MaxRecipients + 1 {
			people = append(people, users.ID(1000+n))
		}
	}
	return oncall.Answer{Users: people}, nil
}

func (b *backend) Category(_ context.Context, application int64, name string) (messages.Category, error) {
	if application != 7 || name != "news" {
		return messages.Category{}, fault.New(fault.NotFound, "no such category")
	}
	return messages.Category{ID: 5, Mode: users.Slack}, nil
}

func (b *backend) CategoryChoices(context.Context, int64, []users.ID) (map[users.ID]users.Mode, error) {
	return map[users.ID]users.Mode{bob: users.SMS}, nil
}

func (b *backend) Responders(_ context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error) {
	contacts := map[users.ID]map[users.Mode]string{
		ann: {users.Email: "ann@example.com", users.SMS: "+15550000001", users.Slack: "ann"},
		bob: {users.Email: "bob@example.com", users.SMS: "+15550000002"},
	}
	found := map[users.ResponderKey]users.Responder{}
	for _, k := range keys {
		if k.User != gone {
			found[k] = users.Responder{User: users.User{ID: k.User, Name: fmt.Sprintf("user%d", k.User)},
				Contacts: contacts[k.User]}
		}
	}
	return found, nil
}

func (b *backend) Applications(context.Context, []int64) (map[int64]escalation.Application, error) {
	all := map[users.Mode]bool{users.Email: true, users.SMS: true, users.Slack: true, users.Call: true}
	return map[int64]escalation.Application{7: {ID: 7, Modes: users.AppModes{Supported: all}}}, nil
}

func (b *backend) Notifications(context.Context, auth.Application) time.Duration { return b.wait }
func (b *backend) Accepted(_ int64, n int)                                       { b.accepted += n }

func accept(t *testing.T, b *backend, by operation.Actor, r notifications.Request) (messages.Notification, error) {
	t.Helper()
	a := notifications.New(notifications.Deps{Store: b, Directory: b, Resolver: b, Load: b})
	id, err := a.Accept(t.Context(), by, auth.Application{ID: 7, Name: "shop"}, r)
	if err != nil {
		require.Empty(t, b.stored)
		return messages.Notification{}, err
	}
	require.EqualValues(t, len(b.stored), id)
	return b.stored[id-1], nil
}

func to(targets ...string) []notifications.Target {
	out := make([]notifications.Target, len(targets))
	for i, target := range targets {
		out[i].Role, out[i].Name, _ = strings.Cut(target, ":")
	}
	return out
}

// modes lists the recipients with their modes; "*" marks a mode that was not wanted.
func modes(n messages.Notification) map[string]string {
	out := map[string]string{}
	for _, r := range n.Recipients {
		out[r.Target] = string(r.Mode)
		if r.Changed {
			out[r.Target] += "*"
		}
	}
	return out
}

func TestModesOfRecipients(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		request notifications.Request
		want    map[string]string
	}{
		"of the request": {
			notifications.Request{Targets: to("team:db"), Mode: users.SMS}, map[string]string{"user1": "sms",
				"user2": "sms"},
		},
		"another one, if the person has no contact for it": {
			notifications.Request{Targets: to("team:db"), Mode: users.Slack}, map[string]string{"user1": "slack",
				"user2": "email*"},
		},
		"of the priority": {
			notifications.Request{Targets: to("user:ann"), Priority: users.High}, map[string]string{"user1": "sms"},
		},
		"the wanted one, if the person has no contact at all": {
			notifications.Request{Targets: to("team:quiet"), Mode: users.SMS}, map[string]string{"user3": "sms"},
		},
		"of the category, or the person's choice for it": {
			notifications.Request{Targets: to("team:db"), Category: "news"}, map[string]string{"user1": "slack",
				"user2": "sms"},
		},
		"of each person once": {
			notifications.Request{Targets: to("team:db", "user:ann"),
				Mode: users.SMS}, map[string]string{"user1": "sms", "user2": "sms"},
		},
		"without people who were removed meanwhile": {
			notifications.Request{Targets: to("team:past"), Mode: users.Email}, map[string]string{"user1": "email"},
		},
		"without unknown targets": {
			notifications.Request{Targets: to("user:nobody", "user:bob"), Mode: users.SMS,
				SkipUnknown: true}, map[string]string{"user2": "sms"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &backend{}
			n, err := accept(t, b, operation.Actor{}, tc.request)
			require.NoError(t, err)
			require.Equal(t, tc.want, modes(n))
			require.Len(t, n.Recipients, len(tc.want))
			require.Equal(t, len(tc.want), b.accepted)
			require.Equal(t, time.Hour, n.Lifetime)
		})
	}
}

func TestAChangedModeIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	n, err := accept(t, &backend{}, operation.Actor{}, notifications.Request{Targets: to("user:bob"), Mode: users.Slack})
	require.NoError(t, err)
	require.Equal(t, []messages.Change{messages.ModeFailure(users.Slack, users.Email)}, n.Recipients[0].Changes)
}

func TestMailsNameTheRecipientsThatAreNotHidden(t *testing.T) {
	t.Parallel()
	r := notifications.Request{Targets: to("user:ann", "user:bob", "literal_target:ops@example.com"),
		Mode: users.Email, Together: true}
	r.Targets[1].Hidden = true
	n, err := accept(t, &backend{}, operation.Actor{}, r)
	require.NoError(t, err)
	require.Equal(t, []string{"ann@example.com", "ops@example.com"}, n.ShownTo)
	require.Equal(t, messages.ToLiteral("ops@example.com"), n.Recipients[2].Recipient)
	r.Together = false
	n, err = accept(t, &backend{}, operation.Actor{}, r)
	require.NoError(t, err)
	require.Empty(t, n.ShownTo)
}

func TestRefusedTargets(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]struct {
		field string
		err   error
	}{
		"boss:ann":           {"targets[1].role", notifications.ErrRole},
		"user:nobody":        {"targets[1].name", notifications.ErrTarget},
		"user:db":            {"targets[1]", notifications.ErrMismatch},
		"team:empty":         {"targets[1]", notifications.ErrMismatch},
		"team:large":         {"targets", notifications.ErrTooMany},
		"literal_target:a\n": {"targets[1].name", notifications.ErrTarget},
	} {
		_, err := accept(t, &backend{}, operation.Actor{}, notifications.Request{Targets: to("user:ann", target),
			Mode: users.SMS})
		require.ErrorIs(t, err, want.err, target)
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, fault.Invalid, f.Kind)
		require.Equal(t, want.field, f.Field, target)
	}
	_, err := accept(t, &backend{}, operation.Actor{}, notifications.Request{Targets: to("user:nobody"), Mode: users.SMS,
		SkipUnknown: true})
	require.ErrorIs(t, err, notifications.ErrMismatch, "no target is known")
}

func TestPeopleWithASessionWriteToNoAddress(t *testing.T) {
	t.Parallel()
	r := notifications.Request{Targets: to("literal_target:+15550000009"), Mode: users.SMS}
	_, err := accept(t, &backend{}, operation.Actor{Role: operation.Member, Session: true}, r)
	require.ErrorIs(t, err, operation.ErrAdminOnly)
	_, err = accept(t, &backend{}, operation.Actor{Role: operation.Admin, Session: true}, r)
	require.NoError(t, err)
}

func TestCategoriesBelongToApplications(t *testing.T) {
	t.Parallel()
	_, err := accept(t, &backend{}, operation.Actor{}, notifications.Request{Targets: to("user:ann"), Category: "weather"})
	require.EqualError(t, err, "No category named weather exists for this app")
	b := &backend{}
	a := notifications.New(notifications.Deps{Store: b, Directory: b, Resolver: b, Load: b})
	_, err = a.Accept(t.Context(), operation.Actor{}, auth.Application{},
		notifications.Request{Targets: to("user:ann"), Category: "news"})
	require.EqualError(t, err, "Invalid app specified for this notification category")
}

func TestAnApplicationWithTooManyMessagesMustWait(t *testing.T) {
	t.Parallel()
	b := &backend{wait: 3 * time.Second}
	_, err := accept(t, b, operation.Actor{}, notifications.Request{Targets: to("user:ann"), Mode: users.SMS})
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Throttled, f.Kind)
	require.Equal(t, 3*time.Second, f.RetryAfter)
	require.Zero(t, b.accepted)
}
