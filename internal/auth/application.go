package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// SessionApplication is the application that people with a session act through.
const SessionApplication = "iris"

// Application is a program that calls Iris, as authentication and authorisation see it.
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
	// Paused by an operator: its messages wait.
	Paused bool
	// PendingCap is the number of pending messages above which it is throttled.
	PendingCap int
	// DefaultPlan is the name of the plan for alerts without a usable one; "" = none.
	DefaultPlan string
	// LateWithin and LateHold say which firing deliveries of its webhooks are late (incidents.Late).
	LateWithin, LateHold time.Duration
	// Keys are those it may sign with: primary first, then secondary. Absent ones are not in it.
	Keys []string
}

// Applications finds applications. ByName ignores case and returns a NotFound fault for an unknown name. A new key or
// flag must be visible at the next call.
type Applications interface {
	ByName(ctx context.Context, name string) (Application, error)
}

// The failures of HMAC authentication, with the texts of the v0 wire (title in Message, description in Detail).
var (
	ErrHeader = &fault.Error{
		Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: "Malformed/missing HMAC authorization header",
	}
	// ErrNoDigest is a header without a colon or without a name.
	ErrNoDigest = &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure", EmptyDetail: true}
	// ErrDigest is a wrong signature, or an unknown application: strangers must not learn which applications exist.
	ErrDigest = &fault.Error{
		Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: "HMAC failed validation. Check API key/clock skew",
	}
	ErrNoUserPower = &fault.Error{
		Kind: fault.Unauthenticated, Message: "This application does not have the power to authenticate usernames",
		EmptyDetail: true,
	}
	// ErrWebhookKey is the failure of webhooks, whose key is in the query.
	ErrWebhookKey = &fault.Error{
		Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: "Unknown application or wrong key",
	}
	// ErrNoApplication is an unknown application where authentication is switched off.
	ErrNoApplication = &fault.Error{
		Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: "Application not found",
	}
)

// SignedRequest is what a signature covers.
type SignedRequest struct {
	Authorization string // the header
	Username      string // the header X-IRIS-USERNAME; "" = none
	Method        string
	Path          string // decoded
	WirePath      string // as it was on the request line, escapes and all; "" = the same as Path
	RawQuery      string
	Body          []byte // all of it, exactly as received
}

// Authenticate finds out which application signed a request, and checks that it may act for the username that it names.
// Errors are one of the Err values above, or those of looking the application up.
func Authenticate(ctx context.Context, apps Applications, r SignedRequest, now time.Time) (Application, error) {
	name, digest, err := ParseAuthorization(r.Authorization)
	if err != nil {
		return Application{}, err
	}
	app, err := Claimed(ctx, apps, name)
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

// Claimed finds the application that a request names before its proof is checked. For an unknown name it returns one without
// keys: checking a proof against it fails after the same work as for a known one.
func Claimed(ctx context.Context, apps Applications, name string) (Application, error) {
	app, err := apps.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return Application{}, nil
	}
	return app, err
}

// Believe returns the application that a request names, without a check. Only servers on loopback addresses with
// authentication switched off may use it. Without a header it is nobody; with a username and no application, the
// one of web sessions.
func Believe(ctx context.Context, apps Applications, r SignedRequest) (Application, error) {
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

// AuthenticateKey finds the application of a webhook, which shows its key in the query instead of signing. Where
// authentication is switched off, any key will do.
func AuthenticateKey(ctx context.Context, apps Applications, name, key string, open Openings) (Application, error) {
	app, err := Claimed(ctx, apps, name)
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

// ParseAuthorization splits "hmac APP:DIGEST". The name ends at the first colon.
func ParseAuthorization(header string) (app, digest string, err error) {
	rest, ok := strings.CutPrefix(header, "hmac ")
	if !ok {
		return "", "", ErrHeader
	}
	app, digest, ok = strings.Cut(rest, ":")
	if !ok || app == "" {
		return "", "", ErrNoDigest
	}
	return app, digest, nil
}

// nobodysKey replaces keys that an application does not have, so that the time of a refusal does not reveal whether the
// application exists. It is random and never shown.
var nobodysKey = rand.Text()

// tried returns the application's keys, filled up with nobodysKey to the number that an application can have.
func (a Application) tried() []string {
	keys := make([]string, 0, 2)
	for _, key := range a.Keys {
		if key != "" {
			keys = append(keys, key)
		}
	}
	for len(keys) < 2 {
		keys = append(keys, nobodysKey)
	}
	return keys
}

// Signed reports whether digest is the application's signature over r at about now: by either key, in one of the four
// time windows (this and the previous one of 5 and of 30 seconds), over the path decoded or as it was on the wire. It stops at the first
// match; a refusal always takes the same work.
func (a Application) Signed(r SignedRequest, digest string, now time.Time) bool {
	paths := []string{r.Path}
	if r.WirePath != "" && r.WirePath != r.Path {
		paths = append(paths, r.WirePath)
	}
	five, thirty := now.Unix()/5, now.Unix()/30
	for _, key := range a.tried() {
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
	for _, k := range a.tried() {
		want := sha512.Sum512([]byte(k))
		ok = subtle.ConstantTimeCompare(want[:], got[:]) == 1 || ok
	}
	return ok
}

// Sign returns the Authorization header for a request, as clients build it (with the window of 5 seconds).
func Sign(app, key string, r SignedRequest, now time.Time) string {
	path := r.WirePath
	if path == "" {
		path = r.Path
	}
	return "hmac " + app + ":" + sign(key, now.Unix()/5, path, r)
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

// Through returns an actor that is the application itself.
func Through(app Application) Actor {
	return Actor{
		ApplicationID: app.ID, Application: app.Name, ActsForUsers: app.AllowAuthenticatingUsers,
		OpensForOthers: app.AllowOtherAppIncidents, AllowOncall: app.AllowOncall, Relay: app.Relay,
	}
}

// As returns the actor acting for a person. An inactive person gives no rights.
func (a Actor) As(u users.User) Actor {
	a.UserID, a.Username = u.ID, u.Name
	a.Admin, a.ReadOnly = u.Admin && u.Active, u.ReadOnly || !u.Active
	return a
}
