package push

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jwt"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// devicesPrefix begins a destination that means all devices of a person.
const devicesPrefix = "devices:"

// scope is the permission of our access tokens.
const scope = "https://www.googleapis.com/auth/firebase.messaging"

// maxDevices is the number of devices of one person that get a message.
const maxDevices = 20

// Devices stores the phones that people registered.
type Devices interface {
	// Tokens returns the registration tokens of the person's active devices.
	Tokens(ctx context.Context, person string) ([]string, error)
	// SwitchOff marks a device as dead.
	SwitchOff(ctx context.Context, token string) error
}

// Config of the account.
type Config struct {
	// Account distinguishes accounts of one kind. "" = "main".
	Account string
	// Credentials is the JSON of a service account that may send for its project.
	Credentials string
	// APIURL is Firebase's base address. "" = https://fcm.googleapis.com.
	APIURL string
	// TokenURL is where access tokens come from. "" = as in the credentials.
	TokenURL string
	// MaxConns is how many messages may be sent at once. 0 = 16.
	MaxConns int
	// Timeout bounds a call, besides the caller's deadline. 0 = 10 s.
	Timeout time.Duration
	// Devices is required.
	Devices Devices
}

// Vendor sends to devices. Safe for concurrent use.
type Vendor struct {
	vendors.Identity
	cfg     Config
	sendURL string
	client  *vendors.Client
	tokens  *tokens
	secrets []string
}

// New checks cfg and returns a vendor; it opens no connection.
func New(cfg Config) (*Vendor, error) {
	id := vendors.NewIdentity("push", cfg.Account, vendors.Connections(cfg.MaxConns), users.Push)
	cfg.APIURL = strings.TrimRight(cmp.Or(cfg.APIURL, "https://fcm.googleapis.com"), "/")
	if cfg.Devices == nil {
		return nil, fault.Invalidf("devices", "push: devices are missing")
	}
	jwtConfig, project, err := credentials(cfg.Credentials)
	if err != nil {
		return nil, err
	}
	jwtConfig.TokenURL = cmp.Or(cfg.TokenURL, jwtConfig.TokenURL)
	if err := cmp.Or(id.CheckURL("api_url", cfg.APIURL), id.CheckURL("token_url", jwtConfig.TokenURL)); err != nil {
		return nil, err
	}
	client := vendors.NewClient(vendors.ClientConfig{Timeout: cfg.Timeout, MaxConns: 4 * id.Connections()})
	return &Vendor{
		Identity: id, cfg: cfg, client: client, tokens: newTokens(jwtConfig, client),
		secrets: []string{string(jwtConfig.PrivateKey), jwtConfig.PrivateKeyID},
		sendURL: cfg.APIURL + "/v1/projects/" + url.PathEscape(project) + "/messages:send",
	}, nil
}

// credentials parses a service account's JSON. Errors do not quote it.
func credentials(text string) (*jwt.Config, string, error) {
	var account struct {
		Type       string `json:"type"`
		ProjectID  string `json:"project_id"`
		PrivateKey string `json:"private_key"`
	}
	if err := json.Unmarshal([]byte(text), &account); err != nil || account.Type != "service_account" || account.ProjectID == "" || account.PrivateKey == "" {
		return nil, "", fault.Invalidf("credentials",
			"push: the credentials are not the JSON of a service account (type, project_id, private_key)")
	}
	c, err := google.JWTConfigFromJSON([]byte(text), scope)
	if err != nil {
		return nil, "", fault.Invalidf("credentials", "push: the credentials are not the JSON of a service account")
	}
	return c, account.ProjectID, nil
}

// Close closes idle connections.
func (v *Vendor) Close() { v.client.Close() }

// Probe reports whether the API can be reached.
func (v *Vendor) Probe(ctx context.Context) bool { return v.client.Probe(ctx, v.sendURL) }

// Check fetches an access token with the credentials and connects to the API. It sends nothing.
func (v *Vendor) Check(ctx context.Context) error {
	if _, failed := v.tokens.get(ctx, v.secrets); failed != nil {
		return errors.New(failed.Detail)
	}
	p, r, ok := v.client.Prepare(ctx, v, v.sendURL, 1)
	if !ok {
		return errors.New(r.Detail)
	}
	p.Release()
	return nil
}

// Prepare fetches the access token and opens the connections that the calls of m need.
func (v *Vendor) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	devices, failed := v.devices(ctx, m.Destination)
	if failed != nil {
		return nil, *failed, false
	}
	if _, failed = v.tokens.get(ctx, v.secrets); failed != nil {
		return nil, *failed, false
	}
	return v.client.Prepare(ctx, v, v.sendURL, len(devices))
}

// Send sends m to every device of its destination.
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		return r
	}
	devices, failed := v.devices(ctx, m.Destination)
	if failed != nil {
		return *failed
	}
	access, failed := v.tokens.get(ctx, v.secrets)
	if failed != nil {
		return *failed
	}
	answers := make([]messages.Result, len(devices))
	var wg sync.WaitGroup
	for i, device := range devices {
		wg.Go(func() { answers[i] = v.sendTo(ctx, access, device, m) })
	}
	wg.Wait()
	for i, a := range answers {
		if a.DestinationGone {
			v.switchOff(ctx, devices[i])
		}
	}
	return together(answers)
}

// maxToken is the longest registration token, in characters.
const maxToken = 4096

func isToken(s string) bool { return len(s) <= maxToken && token.MatchString(s) }

// token matches registration tokens.
var token = regexp.MustCompile(`^[A-Za-z0-9_:.=-]+$`)

// devices returns the registration tokens of a destination.
func (v *Vendor) devices(ctx context.Context, destination string) ([]string, *messages.Result) {
	fail := func(r messages.Result) ([]string, *messages.Result) { return nil, &r }
	person, registered := strings.CutPrefix(destination, devicesPrefix)
	if !registered {
		if !isToken(destination) {
			return fail(vendors.Gone("the destination is not a registration token"))
		}
		return []string{destination}, nil
	}
	all, err := v.cfg.Devices.Tokens(ctx, person)
	if err != nil {
		return fail(vendors.Unavailable("the devices cannot be looked up: %s", err))
	}
	var usable []string
	for _, t := range all {
		if isToken(t) && len(usable) < maxDevices {
			usable = append(usable, t)
		}
	}
	if len(usable) == 0 {
		return fail(vendors.Gone("there is no active device"))
	}
	return usable, nil
}

// switchOffWithin bounds how long marking a dead device may take after the message was sent.
const switchOffWithin = 3 * time.Second

func (v *Vendor) switchOff(ctx context.Context, token string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), switchOffWithin)
	defer cancel()
	// If marking fails, Firebase reports the device as dead again next time.
	_ = v.cfg.Devices.SwitchOff(ctx, token)
}

// together combines the answers of several devices: sent if one accepted it; otherwise the outcome most worth a retry,
// in doubt first.
func together(answers []messages.Result) messages.Result {
	if len(answers) == 1 {
		return answers[0]
	}
	order := []messages.Outcome{
		messages.OutcomeSent, messages.OutcomeUnknown, messages.OutcomeThrottled, messages.OutcomeUnavailable, messages.OutcomeCancelled,
		messages.OutcomeRejected,
	}
	for _, want := range order {
		var first *messages.Result
		n, gone := 0, true
		for i, a := range answers {
			gone = gone && a.DestinationGone
			if a.Outcome == want {
				n++
				if first == nil || a.RetryAfter > first.RetryAfter {
					first = &answers[i]
				}
			}
		}
		if first != nil {
			r := *first
			r.DestinationGone = gone
			r.Detail = vendors.Clean(fmt.Sprintf("%d of %d devices: %s", n, len(answers), r.Detail))
			return r
		}
	}
	return answers[0]
}

// sendTo sends to one device.
func (v *Vendor) sendTo(ctx context.Context, access, device string, m messages.Outbound) messages.Result {
	body, err := payload(device, m)
	if err != nil {
		return vendors.Rejected("the message cannot be put into JSON")
	}
	req, err := http.NewRequestWithContext(vendors.BeginBefore(ctx, m), http.MethodPost, v.sendURL,
		strings.NewReader(body))
	if err != nil {
		return vendors.Rejected("the request could not be built")
	}
	req.Header.Set("Authorization", "Bearer "+access)
	req.Header.Set("Content-Type", "application/json")
	secrets := append([]string{access, device}, v.secrets...)
	resp, err := v.client.Do(req)
	if err != nil {
		return vendors.FromError(err, secrets...)
	}
	defer func() { _ = resp.Body.Close() }()
	r := answer(resp, secrets)
	if resp.StatusCode == http.StatusUnauthorized {
		v.tokens.forget(ctx, access)
	}
	return r
}
