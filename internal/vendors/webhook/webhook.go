// Package webhook posts messages to URLs that users gave, signed as Standard Webhooks defines. Package accounts builds
// it and delivery calls it. It does not retry and reads no storage; failures are messages.Results.
//
// The request is a POST with the headers webhook-id (the same for retries of a message in doubt), webhook-timestamp
// (seconds) and webhook-signature ("v1," and the base64 HMAC-SHA256 over "id.timestamp.body"; several signatures,
// separated by spaces, while a secret is being rotated). The body is JSON:
//
//	{
//	  "type": "message.page",             message.notification when there is no incident
//	  "timestamp": "2026-11-20T21:52:00Z",
//	  "data": {
//	    "message_id": 123, "attempt": 1, "incident_id": 45, "application": "demo", "plan": "demo-plan",
//	    "priority": "high", "target": "ann", "subject": "...", "body": "...",
//	    "incident_url": "https://...", "acknowledge_url": "https://..."
//	  }
//	}
//
// Fields that do not apply are left out. Any 2xx answer means accepted; 410 means that the receiver is gone for good.
// Redirects are not followed, and addresses that are not public are refused unless the configuration allows them.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Config configures the account.
type Config struct {
	// Account is the name of the account in limits, logs and metrics. "" = "main".
	Account string
	// Secrets sign every request, in the form whsec_BASE64 of 24 to 64 bytes; several during a rotation. At least one.
	Secrets []string
	// AllowPrivate permits addresses that are not on the public internet.
	AllowPrivate bool
	// AllowHTTP permits URLs without TLS. Use it only in tests: the body has a link that acknowledges the incident.
	AllowHTTP bool
	// MaxConns is the maximum of open connections to one host. 0 = 16.
	MaxConns int
	// Timeout bounds a call, besides the caller's deadline. 0 = 10 s.
	Timeout time.Duration
}

// Vendor posts to the message's destination. Safe for concurrent use.
type Vendor struct {
	vendors.Identity
	cfg    Config
	keys   [][]byte
	client *vendors.Client
}

// New checks cfg and returns a vendor; it opens no connection.
func New(cfg Config) (*Vendor, error) {
	if len(cfg.Secrets) == 0 {
		return nil, fault.Invalidf("secrets", "webhook: at least one signing secret is needed")
	}
	v := &Vendor{Identity: vendors.NewIdentity("webhook", cfg.Account, vendors.Connections(cfg.MaxConns),
		users.Webhook), cfg: cfg}
	for _, s := range cfg.Secrets {
		key, err := Key(s)
		if err != nil {
			return nil, err
		}
		v.keys = append(v.keys, key)
	}
	v.client = vendors.NewClient(vendors.ClientConfig{
		Timeout: cfg.Timeout, PublicOnly: !cfg.AllowPrivate, MaxConns: v.Connections(), MaxBody: 8 << 10,
	})
	return v, nil
}

// Key decodes a secret of the form whsec_BASE64 (the prefix may be missing).
func Key(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) < 24 || len(key) > 64 {
		return nil, fault.Invalidf("secrets", "webhook: a signing secret is whsec_ and 24 to 64 bytes in base64")
	}
	return key, nil
}

// Close closes idle connections.
func (v *Vendor) Close() { v.client.Close() }

// Prepare opens the connection that the call of m will need.
func (v *Vendor) Prepare(ctx context.Context, m messages.Outbound) (messages.Prepared, messages.Result, bool) {
	target, err := v.target(m.Destination)
	if err != nil {
		return nil, vendors.Rejected("%s", err), false
	}
	p, r, ok := v.client.Prepare(ctx, v, target, 1)
	r.Detail = vendors.Clean(r.Detail, m.Destination)
	return p, r, ok
}

type payload struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`
	Data      data   `json:"data"`
}

type data struct {
	MessageID      int64  `json:"message_id"`
	Attempt        int    `json:"attempt"`
	IncidentID     int64  `json:"incident_id,omitempty"`
	Application    string `json:"application,omitempty"`
	Plan           string `json:"plan,omitempty"`
	Priority       string `json:"priority,omitempty"`
	Target         string `json:"target,omitempty"`
	Subject        string `json:"subject"`
	Body           string `json:"body"`
	IncidentURL    string `json:"incident_url,omitempty"`
	AcknowledgeURL string `json:"acknowledge_url,omitempty"`
}

// Send posts m to its destination.
func (v *Vendor) Send(ctx context.Context, m messages.Outbound) messages.Result {
	if r, ok := vendors.Begun(ctx); !ok {
		return r
	}
	target, err := v.target(m.Destination)
	if err != nil {
		return vendors.Rejected("%s", err)
	}
	req, err := v.request(vendors.BeginBefore(ctx, m), target, m, time.Now())
	if err != nil {
		return vendors.Rejected("the request could not be built")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return vendors.FromError(err, m.Destination)
	}
	defer func() { _ = resp.Body.Close() }()
	switch {
	case resp.StatusCode >= 200 && resp.StatusCode < 300:
		return messages.Result{
			Outcome: messages.OutcomeSent, Detail: "status " +
				strconv.Itoa(resp.StatusCode), VendorMessageID: req.Header.Get("Webhook-Id"),
		}
	case resp.StatusCode == http.StatusGone:
		return vendors.Gone("status 410: the receiver is gone")
	}
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
	return vendors.FromStatus(resp, vendors.Clean(string(said), v.cfg.Secrets...))
}

// target checks a destination and returns its URL without the fragment. Its errors do not contain the URL, because that
// may contain a password.
func (v *Vendor) target(dest string) (string, error) {
	u, err := url.Parse(dest)
	switch {
	case err != nil || u.Host == "" || u.Hostname() == "":
		return "", fault.Invalidf("destination", "the destination is not a URL")
	case u.Scheme != "https" && (u.Scheme != "http" || !v.cfg.AllowHTTP):
		return "", fault.Invalidf("destination", "the destination is not an https URL")
	}
	u.Fragment = ""
	return u.String(), nil
}

func (v *Vendor) request(ctx context.Context, target string, m messages.Outbound, now time.Time) (*http.Request, error) {
	p := payload{
		Type: "message.page", Timestamp: now.UTC().Format(time.RFC3339),
		Data: data{
			MessageID: int64(m.MessageID), Attempt: m.Attempt, IncidentID: int64(m.IncidentID), Application: m.Application,
			Plan: m.Plan, Priority: string(m.Priority), Target: m.Target, Subject: vendors.Text(m.Subject),
			Body: vendors.Text(m.Body), IncidentURL: m.IncidentURL, AcknowledgeURL: m.AckURL,
		},
	}
	if m.IncidentID == 0 {
		p.Type = "message.notification"
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	id, seconds := eventID(m), strconv.FormatInt(now.Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "iris")
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", seconds)
	req.Header.Set("Webhook-Signature", Sign(v.keys, id, seconds, body))
	return req, nil
}

// eventID is the same for every request that may repeat the same message.
func eventID(m messages.Outbound) string {
	if m.IdempotencyKey == "" {
		return fmt.Sprintf("msg_%d_%d", m.MessageID, m.Attempt)
	}
	sum := sha256.Sum256([]byte(m.IdempotencyKey))
	return fmt.Sprintf("msg_%d_%x", m.MessageID, sum[:12])
}

// Sign returns the webhook-signature header: one signature for each key.
func Sign(keys [][]byte, id, timestamp string, body []byte) string {
	signatures := make([]string, len(keys))
	for i, key := range keys {
		mac := hmac.New(sha256.New, key)
		_, _ = io.WriteString(mac, id+"."+timestamp+".")
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(signatures, " ")
}
