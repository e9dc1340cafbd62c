package slack

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/vendors"
)

const (
	// pageOfPeople keeps the answer well below the size that we read.
	pageOfPeople = 100
	// slackBot is a bot in every workspace that Slack does not mark as a bot.
	slackBot = "USLACKBOT"
)

// People lists the people of the workspace, without bots and people who left. See directory.People. It needs the scopes
// users:read and users:read.email. It waits if Slack asks for it, until ctx ends.
func (v *Vendor) People(ctx context.Context) ([]directory.Entry, error) {
	var out []directory.Entry
	for p := v.api.GetUsersPaginated(slack.GetUsersOptionLimit(pageOfPeople)); ; {
		next, err := p.Next(ctx)
		if p.Done(err) {
			return out, nil
		}
		if err != nil {
			if err := v.wait(ctx, err); err != nil {
				return nil, err
			}
			continue
		}
		p = next
		for i := range p.Users {
			if u := &p.Users[i]; !u.Deleted && !u.IsBot && u.ID != slackBot {
				out = append(out, entry(u))
			}
		}
	}
}

// Resolve returns the id of the Slack user with an e-mail address. The error is a NotFound fault if there is no such
// user, else an Unavailable fault. It waits if Slack asks for it, until ctx ends. It needs the scope users:read.email.
func (v *Vendor) Resolve(ctx context.Context, email string) (string, error) {
	email = vendors.Line(email, 320)
	for {
		found, err := v.people.Get(ctx, email, v.askID(email))
		switch {
		case err == nil:
			return found, nil
		case v.result(err).DestinationGone:
			return "", fault.New(fault.NotFound, "nobody in Slack has this e-mail address")
		}
		if err := v.wait(ctx, err); err != nil {
			return "", err
		}
	}
}

// wait waits as long as Slack asks for; any other failure is an Unavailable fault.
func (v *Vendor) wait(ctx context.Context, err error) error {
	r := v.result(err)
	if r.Outcome != messages.OutcomeThrottled {
		return fault.Wrap(fault.Unavailable, errors.New(r.Detail), "Slack does not say who its people are")
	}
	timer := time.NewTimer(cmp.Or(r.RetryAfter, time.Second))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return fault.Wrap(fault.Unavailable, ctx.Err(), "Slack asks for a lower rate")
	case <-timer.C:
		return nil
	}
}

func entry(u *slack.User) directory.Entry {
	line := func(s string) string { return strings.TrimSpace(vendors.Line(s, 320)) }
	return directory.Entry{
		Ref: u.ID, Stable: u.ID, Name: line(u.Name), FullName: line(cmp.Or(u.RealName,
			u.Profile.RealName)), Email: line(u.Profile.Email),
		Phone: line(u.Profile.Phone), SlackName: line(u.Name), PhotoURL: u.Profile.Image192,
	}
}
