package pretend

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Config of a set of pretend vendors with one log.
type Config struct {
	SMTP    SMTPConfig
	Slack   SlackConfig
	Twilio  TwilioConfig
	Webhook WebhookConfig
	Push    PushConfig
	// Addr is the address of the HTTP control of the set; "" = a free port on 127.0.0.1.
	Addr string
	// Keep is how many entries the log holds; 0 = all.
	Keep int
}

// Vendors is one vendor of each kind, with one log, and a control server:
//
//	GET  /log?after=ID              entries as a JSON array, oldest first
//	POST /behave                    {"vendor": "smtp", "behaviours": [...]}; no behaviours = well
//	POST /limit                     {"vendor": "smtp", "rate": {"per_second": 5, "burst": 1}}
//	POST /reset                     forgets entries and behaviours
//	POST /press                     {"entry": 3, "action": "...", "user": "U1", "name": "ann", "url": "..."}: a Slack button
//	POST /key                       {"call": "CA...", "digit": "2"}
//	POST /reply                     {"from": "+1...", "to": "+1...", "body": "...", "url": "..."}: a text from a person
//	POST /status                    {"sid": "SM...", "status": "failed", "code": 30003}
type Vendors struct {
	SMTP    *SMTP
	Slack   *Slack
	Twilio  *Twilio
	Webhook *Webhook
	Push    *Push

	log    *Log
	addr   string
	ln     net.Listener
	server *http.Server
	wg     sync.WaitGroup
}

// New returns vendors that are not started.
func New(cfg Config) *Vendors {
	log := NewLog(cfg.Keep)
	return &Vendors{
		SMTP: NewSMTP(cfg.SMTP, log), Slack: NewSlack(cfg.Slack, log), Twilio: NewTwilio(cfg.Twilio, log),
		Webhook: NewWebhook(cfg.Webhook, log), Push: NewPush(cfg.Push, log), log: log, addr: cfg.Addr,
	}
}

// Start starts all of them, or none.
func (v *Vendors) Start() error {
	for _, start := range []func() error{v.SMTP.Start, v.Slack.Start, v.Twilio.Start, v.Webhook.Start, v.Push.Start, v.startControl} {
		if err := start(); err != nil {
			v.Close()
			return fmt.Errorf("start pretend vendors: %w", err)
		}
	}
	return nil
}

func (v *Vendors) startControl() error {
	ln, err := net.Listen("tcp", or(v.addr, "127.0.0.1:0"))
	if err != nil {
		return err
	}
	v.ln = ln
	v.server = &http.Server{Handler: v.Handler(), ReadHeaderTimeout: 10 * time.Second}
	v.wg.Go(func() { _ = v.server.Serve(ln) })
	return nil
}

// Close stops all of them.
func (v *Vendors) Close() {
	if v.server != nil {
		_ = v.server.Close()
	}
	v.wg.Wait()
	v.SMTP.Close()
	v.Slack.Close()
	v.Twilio.Close()
	v.Webhook.Close()
	v.Push.Close()
}

// URL is the control server's address.
func (v *Vendors) URL() string { return "http://" + v.ln.Addr().String() }

// Log holds what all of them received.
func (v *Vendors) Log() *Log { return v.log }

// Behave sets the behaviour of the named vendor.
func (v *Vendors) Behave(vendor string, list ...Behaviour) error {
	c, err := v.conduct(vendor)
	if err != nil {
		return err
	}
	for _, b := range list {
		if err := b.validate(); err != nil {
			return err
		}
	}
	c.Behave(list...)
	return nil
}

func (v *Vendors) conduct(vendor string) (*conduct, error) {
	switch vendor {
	case SMTPVendor:
		return v.SMTP.conduct, nil
	case SlackVendor:
		return v.Slack.conduct, nil
	case TwilioVendor:
		return v.Twilio.conduct, nil
	case WebhookVendor:
		return v.Webhook.conduct, nil
	case PushVendor:
		return v.Push.conduct, nil
	}
	return nil, fmt.Errorf("no pretend vendor %q", vendor)
}

// Reset forgets entries and behaviours.
func (v *Vendors) Reset() {
	v.log.Reset()
	for _, c := range []*conduct{v.SMTP.conduct, v.Slack.conduct, v.Twilio.conduct, v.Webhook.conduct, v.Push.conduct} {
		c.Behave()
	}
}

// order is the body of every POST to the control server.
type order struct {
	Vendor     string      `json:"vendor"`
	Behaviours []Behaviour `json:"behaviours"`
	Rate       Rate        `json:"rate"`
	Entry      int64       `json:"entry"`
	Action     string      `json:"action"`
	User       string      `json:"user"`
	Name       string      `json:"name"`
	URL        string      `json:"url"`
	Call       string      `json:"call"`
	Digit      string      `json:"digit"`
	From       string      `json:"from"`
	To         string      `json:"to"`
	Body       string      `json:"body"`
	SID        string      `json:"sid"`
	Status     string      `json:"status"`
	Code       int         `json:"code"`
}

// Handler is the control server's.
func (v *Vendors) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /log", func(w http.ResponseWriter, r *http.Request) {
		after, _ := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		entries := v.log.After(after)
		if entries == nil {
			entries = []Entry{}
		}
		writeJSON(w, http.StatusOK, entries)
	})
	post := func(path string, do func(context.Context, order) (string, error)) {
		mux.HandleFunc("POST "+path, func(w http.ResponseWriter, r *http.Request) {
			var o order
			dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&o); err != nil && path != "/reset" {
				writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
				return
			}
			said, err := do(r.Context(), o)
			if err != nil {
				writeJSON(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
				return
			}
			writeJSON(w, http.StatusOK, map[string]string{"said": said})
		})
	}
	post("/behave", func(_ context.Context, o order) (string, error) { return "", v.Behave(o.Vendor, o.Behaviours...) })
	post("/limit", func(_ context.Context, o order) (string, error) {
		c, err := v.conduct(o.Vendor)
		if err == nil {
			c.Limit(o.Rate)
		}
		return "", err
	})
	post("/reset", func(context.Context, order) (string, error) { v.Reset(); return "", nil })
	post("/press", func(ctx context.Context, o order) (string, error) {
		status, text, err := v.Slack.Press(ctx, o.URL, o.Entry, o.Action, o.User, o.Name)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d: %.200s", status, text)
		}
		return text, err
	})
	post("/key", func(ctx context.Context, o order) (string, error) { return v.Twilio.PressKey(ctx, o.Call, o.Digit) })
	post("/reply", func(ctx context.Context, o order) (string, error) {
		return v.Twilio.ReplySMS(ctx, o.URL, o.From, o.To, o.Body)
	})
	post("/status", func(ctx context.Context, o order) (string, error) {
		return "", v.Twilio.Status(ctx, o.SID, o.Status, o.Code)
	})
	return mux
}
