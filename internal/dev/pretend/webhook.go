package pretend

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// WebhookConfig of the receiver.
type WebhookConfig struct {
	Addr   string // "" = a free port on 127.0.0.1
	Secret string // whsec_BASE64; "" = signatures are not checked
	Rate   Rate
}

// Webhook receives signed webhooks at any path.
type Webhook struct {
	web
	cfg WebhookConfig
}

// NewWebhook returns a receiver that is not started. log nil = one of its own.
func NewWebhook(cfg WebhookConfig, log *Log) *Webhook {
	s := &Webhook{cfg: cfg}
	s.web = web{
		conduct: newConduct(cfg.Rate, log), name: WebhookVendor, addr: cfg.Addr, dialect: s,
		rejection: refusal{status: http.StatusGone, text: "gone"},
	}
	return s
}

func (s *Webhook) read(r *http.Request, body []byte) (Entry, *refusal) {
	// The whole URL is the destination, as the sender names it.
	e := Entry{Mode: "webhook", To: "http://" + r.Host + r.URL.RequestURI(), VendorID: r.Header.Get("Webhook-Id")}
	if r.Method != http.MethodPost {
		return e, &refusal{status: http.StatusMethodNotAllowed, text: "POST only"}
	}
	if why := s.unsigned(r.Header, body); why != "" {
		return e, &refusal{status: http.StatusUnauthorized, text: why}
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return e, &refusal{status: http.StatusUnsupportedMediaType, text: "content type is " + got}
	}
	var p struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      struct {
			*Entry        // the fields have the same names
			AckURL string `json:"acknowledge_url"`
		} `json:"data"`
	}
	p.Data.Entry = &e
	if err := json.Unmarshal(body, &p); err != nil {
		return e, &refusal{status: http.StatusBadRequest, text: "body is not the JSON expected"}
	}
	if p.Type == "" || p.Timestamp.IsZero() || e.MessageID == 0 {
		return e, &refusal{status: http.StatusUnprocessableEntity, text: "type, timestamp or message_id is missing"}
	}
	e.IdempotencyKey = e.VendorID
	if link := p.Data.AckURL; link != "" && !strings.Contains(e.Body, link) {
		e.Body = strings.TrimSpace(e.Body + "\n" + link)
	}
	return e, nil
}

// unsigned returns what is wrong with the signature; "" = nothing.
func (s *Webhook) unsigned(h http.Header, body []byte) string {
	id, timestamp := h.Get("Webhook-Id"), h.Get("Webhook-Timestamp")
	if id == "" || timestamp == "" || h.Get("Webhook-Signature") == "" {
		return "a signature header is missing"
	}
	if s.cfg.Secret == "" {
		return ""
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if d := time.Since(time.Unix(seconds, 0)); err != nil || d > 5*time.Minute || d < -5*time.Minute {
		return "the time stamp is not of now"
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s.cfg.Secret, "whsec_"))
	if err != nil {
		return "the receiver's secret is malformed"
	}
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(id + "." + timestamp + "." + string(body)))
	want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, got := range strings.Fields(h.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(got), []byte(want)) {
			return ""
		}
	}
	return "the signature does not match"
}

func (s *Webhook) answer(w http.ResponseWriter, _ Entry) { w.WriteHeader(http.StatusNoContent) }

func (s *Webhook) refuse(w http.ResponseWriter, r refusal) { http.Error(w, r.text, r.status) }
