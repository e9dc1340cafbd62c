package auth

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
)

// SessionApplication is the application that people with a session act through.
const SessionApplication = "iris"

// Application is a program that calls Iris, with the properties that authentication, permissions and intake need.
type Application struct {
	ID   int64
	Name string
	// AuthOnly applications are hidden from lists.
	AuthOnly bool
	// AllowOtherAppIncidents lets it open incidents as other applications.
	AllowOtherAppIncidents bool
	// AllowAuthenticatingUsers lets it act for people.
	AllowAuthenticatingUsers bool
	// AllowOncall lets it use the on-call API.
	AllowOncall bool
	// Relay lets it pass on the answers of people and the receipts of vendors.
	Relay bool
	// Paused: an operator paused the application. Its incidents do not escalate, and its messages wait.
	Paused bool
	// PendingCap is the number of pending messages above which it is throttled.
	PendingCap int
	// DefaultPlan is the name of the plan for alerts that name no usable plan; "" = none.
	DefaultPlan string
	// LateWithin and LateHold define which firing deliveries of its webhooks are late (incidents.Late).
	LateWithin, LateHold time.Duration
	// Keys are the keys that it may sign with: primary first, then secondary.
	Keys []string
	// Variables are the variables that it declared for contexts, required ones first.
	Variables []string
	// Version changes with every change of the application; 0 = unknown.
	Version int64
	// Recent: the application was read before the request, so it may have changed since.
	Recent bool
}

// ToCheck returns the version that storage must find when it stores a request of the application. 0 = it need not
// check, because the application was read for this request.
func (a Application) ToCheck() int64 {
	if a.Recent {
		return a.Version
	}
	return 0
}

// Applications finds applications. ByName ignores case and returns a NotFound fault for an unknown name. After a change
// of keys or flags, the next call must return the new ones.
type Applications interface {
	ByName(ctx context.Context, name string) (Application, error)
}

// The errors of HMAC authentication, with the texts of the v0 wire (title in Message, description in Detail).
var (
	// ErrNoDigest means a header without a colon or without a name.
	ErrNoDigest = unauthenticated("Authentication failure")
	// ErrDigest means a wrong signature or an unknown application. They have one error, so that it does not reveal
	// which applications exist.
	ErrDigest      = failure("HMAC failed validation. Check API key/clock skew")
	ErrNoUserPower = unauthenticated("This application does not have the power to authenticate usernames")
	// ErrWebhookKey means a wrong key or unknown application in the query of a webhook.
	ErrWebhookKey = failure("Unknown application or wrong key")
	// ErrNoApplication means an unknown application while authentication is switched off.
	ErrNoApplication = failure("Application not found")
)

func failure(detail string) *fault.Error {
	return &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: detail}
}

// unauthenticated returns a refusal whose answer has an empty description.
func unauthenticated(title string) *fault.Error {
	return &fault.Error{Kind: fault.Unauthenticated, Message: title, EmptyDetail: true}
}

// SignedRequest has the parts of a request that a signature covers.
type SignedRequest struct {
	Authorization string // the header
	Username      string // the header X-IRIS-USERNAME; "" = none
	Method        string
	Path          string // decoded
	WirePath      string // escaped, as on the request line; "" = the same as Path
	RawQuery      string
	Body          []byte // the whole body, exactly as received
}

// Authenticate returns the application that signed a request. It checks that the application may act for the named
// user. Errors are the Err values above and those of Applications.
func Authenticate(ctx context.Context, apps Applications, r SignedRequest, now time.Time) (Application, error) {
	name, digest, err := ParseAuthorization(r.Authorization)
	if err != nil {
		return Application{}, err
	}
	app, err := Lookup(ctx, apps, name)
	if err != nil {
		return Application{}, err
	}
	if !app.Signed(r, digest, now) {
		return Application{}, ErrDigest
	}
	if r.Username != "" && !app.AllowAuthenticatingUsers {
		return Application{}, ErrNoUserPower
	}
	return app, nil
}

// Lookup returns the application with a name. For an unknown name it returns an application without keys, so that
// checking a signature takes the same time.
func Lookup(ctx context.Context, apps Applications, name string) (Application, error) {
	app, err := apps.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return Application{}, nil
	}
	return app, err
}

// Unverified returns the application that a request names, and checks no signature. Only servers on loopback addresses
// with authentication switched off may call it. Without a named application it returns SessionApplication if the
// request has a username, else an empty application.
func Unverified(ctx context.Context, apps Applications, r SignedRequest) (Application, error) {
	name := SessionApplication
	switch {
	case len(r.Authorization) > len("hmac "):
		name, _, _ = strings.Cut(r.Authorization[len("hmac "):], ":")
	case r.Username == "":
		return Application{}, nil
	}
	app, err := apps.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return Application{}, ErrNoApplication
	}
	return app, err
}

// AuthenticateKey returns the application of a webhook, whose query holds its key in place of a signature. It accepts
// any key if NoCredentials is on.
func AuthenticateKey(ctx context.Context, apps Applications, name, key string, open Openings) (Application, error) {
	app, err := Lookup(ctx, apps, name)
	switch {
	case err != nil:
		return Application{}, err
	case open.NoCredentials && app.ID == 0:
		return Application{}, ErrNoApplication
	case !app.HasKey(key) && !open.NoCredentials:
		return Application{}, ErrWebhookKey
	}
	return app, nil
}

// ParseAuthorization splits "hmac APP:DIGEST". The name ends at the first colon. Errors are operation.ErrUnknown and
// ErrNoDigest.
func ParseAuthorization(header string) (app, digest string, err error) {
	rest, ok := strings.CutPrefix(header, "hmac ")
	if !ok {
		return "", "", operation.ErrUnknown
	}
	app, digest, ok = strings.Cut(rest, ":")
	if !ok || app == "" {
		return "", "", ErrNoDigest
	}
	return app, digest, nil
}

// candidateKeys returns the application's keys. It adds random keys until there are two, so that the time of a refusal
// does not reveal whether the application exists.
func (a Application) candidateKeys() []string {
	random := []string{rand.Text(), rand.Text()} // both, so that every application takes the same time
	keys := slices.DeleteFunc(slices.Clone(a.Keys), func(key string) bool { return key == "" })
	return append(keys, random[min(len(keys), len(random)):]...)
}

// Signed reports whether digest is the application's signature over r. It tries each key, four time windows (the
// current and the previous one of 5 and of 30 seconds), and the path both decoded and escaped. It stops at the first
// match; a refusal always takes the same time.
func (a Application) Signed(r SignedRequest, digest string, now time.Time) bool {
	paths := []string{r.Path}
	if r.WirePath != "" && r.WirePath != r.Path {
		paths = append(paths, r.WirePath)
	}
	five, thirty := now.Unix()/5, now.Unix()/30
	for _, key := range a.candidateKeys() {
		for _, window := range [...]int64{five, five - 1, thirty, thirty - 1} {
			for _, path := range paths {
				want := sign(key, window, path, r)
				if subtle.ConstantTimeCompare([]byte(want), []byte(digest)) == 1 {
					return true
				}
			}
		}
	}
	return false
}

// HasKey reports whether key is one of the application's keys, in constant time.
func (a Application) HasKey(key string) bool {
	got := sha512.Sum512([]byte(key))
	ok := false
	for _, k := range a.candidateKeys() {
		want := sha512.Sum512([]byte(k))
		ok = subtle.ConstantTimeCompare(want[:], got[:]) == 1 || ok
	}
	return ok
}

// Sign returns the Authorization header of a client, for the current window of 5 seconds.
func Sign(app, key string, r SignedRequest, now time.Time) string {
	return "hmac " + app + ":" + sign(key, now.Unix()/5, cmp.Or(r.WirePath, r.Path), r)
}

func sign(key string, window int64, path string, r SignedRequest) string {
	mac := hmac.New(sha512.New, []byte(key))
	head := make([]byte, 0, 256)
	head = strconv.AppendInt(head, window, 10)
	head = append(head, ' ')
	head = append(head, r.Method...)
	head = append(head, ' ')
	head = append(head, path...)
	if r.RawQuery != "" {
		head = append(head, '?')
		head = append(head, r.RawQuery...)
	}
	head = append(head, ' ')
	mac.Write(head)
	mac.Write(r.Body)
	if r.Username != "" {
		mac.Write([]byte(" " + r.Username))
	}
	return base64.URLEncoding.EncodeToString(mac.Sum(nil))
}

// Through returns the actor of an application that acts for itself.
func Through(app Application) Actor {
	return Actor{
		ApplicationID: app.ID, Application: app.Name, ActsForUsers: app.AllowAuthenticatingUsers,
		OpensForOthers: app.AllowOtherAppIncidents, AllowOncall: app.AllowOncall, Relay: app.Relay,
	}
}

// As returns the actor, acting for a person. For an inactive person the actor is read-only and no administrator.
func (a Actor) As(u users.User) Actor {
	a.UserID, a.Username = u.ID, u.Name
	a.Admin, a.ReadOnly = u.Admin && u.Active, u.ReadOnly || !u.Active
	return a
}
