package push

import (
	"context"
	"encoding/json"
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
	config  *jwt.Config
	client  *vendors.Client
	current chan *oauth2.Token // capacity 1; holds the present token (nil = none) while no goroutine uses it
}

func newTokens(c *jwt.Config, client *vendors.Client) *tokens {
	t := &tokens{config: c, client: client, current: make(chan *oauth2.Token, 1)}
	t.current <- nil
	return t
}

// roundTrip is an http.RoundTripper that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// get returns an access token. If there is none, it returns the result of the message, which was not sent.
func (t *tokens) get(ctx context.Context, secrets []string) (string, *messages.Result) {
	var have *oauth2.Token
	select {
	case have = <-t.current:
	case <-ctx.Done():
		r := vendors.AccountFailed(vendors.Unavailable("no access token in time"))
		return "", &r
	}
	defer func() { t.current <- have }()
	if have != nil && time.Until(have.Expiry) > renewBefore {
		return have.AccessToken, nil
	}
	// The library's own request has no context.
	client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		return t.client.Do(r.WithContext(ctx))
	})}
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

// forget drops an access token that Firebase refused. If ctx ends while another goroutine uses the token, the token
// stays: the next refusal drops it.
func (t *tokens) forget(ctx context.Context, access string) {
	var have *oauth2.Token
	select {
	case have = <-t.current:
	case <-ctx.Done():
		return
	}
	if have != nil && have.AccessToken == access {
		have = nil
	}
	t.current <- have
}

// noToken is the result of a message for which there is no access token: the message was not sent.
func noToken(err error, secrets []string) messages.Result {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response == nil {
		return vendors.AccountFailed(vendors.Unavailable("no access token: %s", vendors.Clean(err.Error(), secrets...)))
	}
	var why struct { // the library leaves it in the body
		Code string `json:"error"`
		Text string `json:"error_description"`
	}
	_ = json.Unmarshal(refused.Body, &why)
	r := vendors.FromStatus(refused.Response, vendors.Clean("no access token: "+why.Code+" "+why.Text, secrets...))
	if r.Outcome != messages.OutcomeThrottled {
		r.Outcome = messages.OutcomeUnavailable
	}
	return vendors.AccountFailed(r)
}
