package push

import (
	"context"
	"errors"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/vendors"
)

// renewBefore is how long before its end an access token is replaced.
const renewBefore = 2 * time.Minute

// tokens holds the access token, and fetches one at a time.
type tokens struct {
	config *jwt.Config
	client *vendors.Client
	turn   chan *oauth2.Token // holds the present token, nil = none, while nobody uses it
}

func newTokens(c *jwt.Config, client *vendors.Client) *tokens {
	t := &tokens{config: c, client: client, turn: make(chan *oauth2.Token, 1)}
	t.turn <- nil
	return t
}

// transport makes calls the way all vendors do, within the time that ctx gives: the library's own request has no context.
type transport struct {
	client *vendors.Client
	ctx    context.Context
}

// RoundTrip makes one call.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return t.client.Do(r.WithContext(t.ctx))
}

// get returns an access token, or what becomes of a message that cannot have one: nothing was sent.
func (t *tokens) get(ctx context.Context, secrets []string) (string, *messages.Result) {
	var have *oauth2.Token
	select {
	case have = <-t.turn:
	case <-ctx.Done():
		r := vendors.AccountFailed(vendors.Unavailable("no access token in time"))
		return "", &r
	}
	defer func() { t.turn <- have }()
	if have != nil && time.Until(have.Expiry) > renewBefore {
		return have.AccessToken, nil
	}
	client := &http.Client{Transport: transport{t.client, ctx}}
	fresh, err := t.config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, client)).Token()
	if err != nil {
		r := noToken(err, secrets)
		return "", &r
	}
	if fresh.Expiry.IsZero() {
		fresh.Expiry = time.Now().Add(10 * time.Minute)
	}
	have = fresh
	return have.AccessToken, nil
}

// forget drops a refused access token.
func (t *tokens) forget(access string) {
	have := <-t.turn
	if have != nil && have.AccessToken == access {
		have = nil
	}
	t.turn <- have
}

// noToken says why there is no access token. Whatever it was, the message was not sent.
func noToken(err error, secrets []string) messages.Result {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response == nil {
		return vendors.AccountFailed(vendors.Unavailable("no access token: %s", vendors.Clean(err.Error(), secrets...)))
	}
	r := vendors.FromStatus(refused.Response, "no access token: "+vendors.Clean(refused.ErrorCode+" "+refused.ErrorDescription, secrets...))
	if r.Outcome != messages.OutcomeThrottled {
		r.Outcome = messages.OutcomeUnavailable
	}
	return vendors.AccountFailed(r)
}
