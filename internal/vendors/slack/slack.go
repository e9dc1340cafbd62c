package slack

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Config of the account.
type Config struct {
	// Account distinguishes accounts of one kind. "" = "main".
	Account string
	// Token is the bot's token (xoxb-...), with the scopes chat:write, chat:write.public and users:read.email.
	Token string
	// APIURL is the base address; a missing final slash is added. "" = https://slack.com/api/.
	APIURL string
	// MaxConns is how many connections may be open at once. 0 = 16.
	MaxConns int
	// Timeout bounds a call, besides the caller's deadline. 0 = 10 s.
	Timeout time.Duration
}

// Vendor posts to channels and people. Safe for concurrent use.
type Vendor struct {
	vendors.Identity
	cfg    Config
	client *vendors.Client
	api    *slack.Client

	people *cache.Cache[string, string] // ids of users by e-mail address
}

const (
	lookupTTL = time.Hour
	maxPeople = 10000
)

// New checks cfg and returns a vendor; it opens no connection.
func New(cfg Config) (*Vendor, error) {
	v := &Vendor{Identity: vendors.NewIdentity("slack", cfg.Account, vendors.Connections(cfg.MaxConns), users.Slack)}
	cfg.Timeout = cmp.Or(max(cfg.Timeout, 0), vendors.DefaultTimeout)
	if cfg.Token == "" {
		return nil, fault.Invalidf("token", "slack: the token is missing")
	}
	cfg.APIURL = strings.TrimRight(cmp.Or(cfg.APIURL, slack.APIURL), "/") + "/"
	if err := v.CheckURL("api_url", cfg.APIURL); err != nil {
		return nil, err
	}
	v.cfg, v.people = cfg, cache.New(cache.Config[string, string]{TTL: lookupTTL, Entries: maxPeople})
	v.client = vendors.NewClient(vendors.ClientConfig{Timeout: cfg.Timeout, MaxConns: v.Connections(),
		MaxBody: 512 << 10})
	v.api = slack.New(cfg.Token, slack.OptionAPIURL(cfg.APIURL), slack.OptionHTTPClient(doer{v}))
	return v, nil
}

// Close closes idle connections.
func (v *Vendor) Close() { v.client.Close() }

// Probe reports whether the API can be reached.
func (v *Vendor) Probe(ctx context.Context) bool { return v.client.Probe(ctx, v.cfg.APIURL) }

// Check asks Slack whether it takes the token. It posts nothing. The error says why not, without the token.
func (v *Vendor) Check(ctx context.Context) error {
	if _, err := v.api.AuthTestContext(ctx); err != nil {
		return errors.New(v.result(err).Detail)
	}
	return nil
}

// Prepare resolves the destination and opens the connection that the call of m needs.
func (v *Vendor) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	if _, r, ok := v.channel(ctx, m.Destination); !ok {
		return nil, r, false
	}
	return v.client.Prepare(ctx, v, v.cfg.APIURL, 1)
}

// Send posts m to its destination: #channel, @name, an id of Slack's, an e-mail address (looked up), or a bare name
// (used as @name).
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		return r
	}
	channel, res, ok := v.channel(ctx, m.Destination)
	if !ok {
		return res
	}
	_, ts, err := v.api.PostMessageContext(vendors.BeginBefore(ctx, m), channel, options(m)...)
	switch {
	case err == nil && ts != "":
		return messages.Result{Outcome: messages.OutcomeSent, Detail: "posted", VendorMessageID: vendors.Token(ts)}
	case err == nil:
		return vendors.Unknown("an answer without the message's time stamp")
	}
	r := v.result(err)
	if r.DestinationGone {
		v.people.Forget(m.Destination)
	}
	return r
}

// id matches the ids of channels, groups, direct messages and users.
var id = regexp.MustCompile(`^[CGDUW][A-Z0-9]{7,20}$`)

func (v *Vendor) channel(ctx context.Context, dest string) (string, messages.Result, bool) {
	dest = vendors.Line(dest, 320)
	switch {
	case dest == "" || dest == "#" || dest == "@":
		return "", vendors.Gone("the destination is empty"), false
	case dest[0] == '#' || dest[0] == '@' || id.MatchString(dest):
		return dest, messages.Result{}, true
	case strings.Contains(dest, "@"):
		return v.lookup(ctx, dest)
	default:
		return "@" + dest, messages.Result{}, true
	}
}

// lookup finds the user of an e-mail address. If it fails, nothing was posted, so the message is not in doubt.
func (v *Vendor) lookup(ctx context.Context, email string) (string, messages.Result, bool) {
	type answer struct {
		id  string
		err error
	}
	found := make(chan answer, 1)
	go func() { // it continues after this caller's deadline, for other callers and the next attempt
		id, err := v.people.Get(ctx, email, v.askID(email))
		found <- answer{id, err}
	}()
	var r answer
	select {
	case <-ctx.Done():
		return "", vendors.Unavailable("the user could not be looked up in time"), false
	case r = <-found:
	}
	switch {
	case r.err == nil:
		return r.id, messages.Result{}, true
	case errors.Is(r.err, errNoID):
		return "", vendors.Unavailable("look up user: %s", errNoID), false
	}
	res := v.result(r.err)
	if res.Outcome == messages.OutcomeUnknown {
		res.Outcome = messages.OutcomeUnavailable
	}
	res.Detail = vendors.Clean("look up user: " + res.Detail)
	return "", res, false
}

var errNoID = errors.New("an answer without an id")

// askID returns a function that asks Slack for the id of the user with an e-mail address, within the account's timeout.
func (v *Vendor) askID(email string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, v.cfg.Timeout)
		defer cancel()
		u, err := v.api.GetUserByEmailContext(ctx, email)
		switch {
		case err != nil:
			return "", err
		case !id.MatchString(u.ID):
			return "", errNoID
		}
		return u.ID, nil
	}
}

// IDOf returns the id of the Slack user with an e-mail address, and caches it. The error is a NotFound fault if there
// is no such user, and an Unavailable fault if Slack cannot be asked.
func (v *Vendor) IDOf(ctx context.Context, email string) (string, error) {
	found, res, ok := v.lookup(ctx, vendors.Line(email, 320))
	switch {
	case ok:
		return found, nil
	case res.DestinationGone:
		return "", fault.New(fault.NotFound, "nobody in Slack has this e-mail address")
	}
	return "", fault.Wrap(fault.Unavailable, errors.New(res.Detail), "Slack cannot be asked for a user")
}

// EmailOf returns the e-mail address of the Slack user with an id; "" = we may not see it. Callers use it to find the
// person who pressed a button. The error is an Invalid fault for a malformed id, else an Unavailable fault.
func (v *Vendor) EmailOf(ctx context.Context, userID string) (string, error) {
	if !id.MatchString(userID) {
		return "", fault.Invalidf("user_id", "not a user id of Slack")
	}
	u, err := v.api.GetUserInfoContext(ctx, userID)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, errors.New(v.result(err).Detail), "ask Slack for a user")
	}
	return vendors.Line(u.Profile.Email, 320), nil
}

// refusal is the error of an answer that is mapped by its HTTP status alone.
type refusal struct{ result messages.Result }

func (r *refusal) Error() string { return r.result.Detail }

// doer is the library's HTTP client: our client, with statuses mapped, and answers read whole before they are decoded.
type doer struct{ v *Vendor }

func (d doer) Do(req *http.Request) (*http.Response, error) {
	resp, err := d.v.client.Do(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		resp.Body = io.NopCloser(bytes.NewReader(body))
		return resp, nil
	}
	// Some statuses come with Slack's own error code.
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said)
	if said.Error != "" && resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
		return nil, slack.SlackErrorResponse{Err: said.Error}
	}
	return nil, &refusal{vendors.FromStatus(resp, vendors.Clean(said.Error, d.v.cfg.Token))}
}

// The meaning of Slack's errors. All others refuse the message.
var (
	goneErrors = strings.Fields(`channel_not_found user_not_found users_not_found is_archived user_disabled user_not_visible
		cannot_dm_bot messages_tab_disabled`)
	accountErrors = strings.Fields(`invalid_auth not_authed account_inactive token_revoked token_expired missing_scope
		no_permission org_login_required ekm_access_denied team_access_not_granted access_denied
		two_factor_setup_required not_allowed_token_type deprecated_endpoint method_deprecated service_unavailable
		request_timeout accesslimited team_added_to_org enterprise_is_restricted`)
	rateErrors = strings.Fields(`ratelimited rate_limited message_limit_exceeded`)
	// With these errors, Slack says, some of the operation may have succeeded.
	doubtfulErrors = strings.Fields(`internal_error fatal_error`)
)

func (v *Vendor) result(err error) messages.Result {
	var status *refusal
	if errors.As(err, &status) {
		return status.result
	}
	var said slack.SlackErrorResponse
	if errors.As(err, &said) {
		word := vendors.Clean(said.Err, v.cfg.Token)
		switch {
		case slices.Contains(goneErrors, said.Err):
			return vendors.Gone("%s", word)
		case slices.Contains(accountErrors, said.Err):
			return vendors.AccountFailed(vendors.Unavailable("%s", word))
		case slices.Contains(rateErrors, said.Err):
			return vendors.Throttled(0, "%s", word)
		case slices.Contains(doubtfulErrors, said.Err):
			return vendors.Unknown("%s", word)
		default:
			return vendors.Rejected("%s", word)
		}
	}
	var call *vendors.CallError
	if errors.As(err, &call) {
		return vendors.FromError(err, v.cfg.Token)
	}
	return vendors.Unknown("an answer that cannot be read")
}

func messageID(m messages.Outbound) string { return strconv.FormatInt(int64(m.MessageID), 10) }
