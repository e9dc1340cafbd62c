package push

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Sizes, in bytes. Firebase accepts 4096 of data and notification together; phones show some lines.
const (
	maxPayload = 4000
	maxTitle   = 200
	maxShown   = 600
	maxBody    = 1600
	maxValue   = 500 // of each other value
)

// lifetime is how long Firebase keeps a message for a phone that is off.
const lifetime = "3600s"

type envelope struct {
	Message message `json:"message"`
}

type message struct {
	Token        string            `json:"token"`
	Notification notification      `json:"notification"`
	Data         map[string]string `json:"data"`
	Android      android           `json:"android"`
	APNS         apns              `json:"apns"`
}

type notification struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

type android struct {
	Priority     string              `json:"priority"`
	CollapseKey  string              `json:"collapse_key"`
	TTL          string              `json:"ttl"`
	Notification androidNotification `json:"notification"`
}

type androidNotification struct {
	Tag string `json:"tag"`
}

type apns struct {
	Headers map[string]string `json:"headers"`
	Payload apnsPayload       `json:"payload"`
}

type apnsPayload struct {
	APS aps `json:"aps"`
}

type aps struct {
	Sound    string `json:"sound"`
	ThreadID string `json:"thread-id,omitempty"`
}

// payload is the request for one device. The body is cut until the request fits.
func payload(device string, m messages.Outbound) (string, error) {
	key := collapseKey(m)
	android := android{Priority: "NORMAL", CollapseKey: key, TTL: lifetime, Notification: androidNotification{Tag: key}}
	apns := apns{
		Headers: map[string]string{"apns-priority": "5", "apns-collapse-id": key},
		Payload: apnsPayload{APS: aps{Sound: "default", ThreadID: vendors.Line(m.ThreadKey, maxTitle)}},
	}
	if m.Priority == users.Urgent || m.Priority == users.High {
		android.Priority, apns.Headers["apns-priority"] = "HIGH", "10"
	}
	title := vendors.Line(m.Subject, maxTitle)
	if title == "" {
		title = "Iris"
	}
	body := vendors.Cut(strings.TrimSpace(vendors.Text(m.Body)), maxBody)
	for {
		out, size, err := encode(envelope{message{
			Token: device, Notification: notification{Title: title, Body: vendors.Cut(body, maxShown)}, Data: data(title, body, m),
			Android: android, APNS: apns,
		}})
		if err != nil || size <= maxPayload || body == "" {
			return out, err
		}
		body = vendors.Cut(body, len(body)*3/4)
	}
}

// data holds the fields for an app. All values are texts.
func data(title, body string, m messages.Outbound) map[string]string {
	out := map[string]string{"message_id": strconv.FormatInt(int64(m.MessageID), 10), "title": title, "body": body}
	if m.IncidentID != 0 {
		out["incident_id"] = strconv.FormatInt(int64(m.IncidentID), 10)
	}
	for name, value := range map[string]string{
		"application": m.Application, "plan": m.Plan, "priority": string(m.Priority), "incident_url": m.IncidentURL, "acknowledge_url": m.AckURL,
	} {
		// A URL that was cut is useless.
		if isLink := strings.HasSuffix(name, "_url"); isLink && len(value) > maxValue {
			continue
		}
		if value = vendors.Line(value, maxValue); value != "" {
			out[name] = value
		}
	}
	return out
}

// encode returns the request and how much of it counts for Firebase's limit.
func encode(e envelope) (string, int, error) {
	counted, err := plainJSON(struct {
		N notification
		D map[string]string
	}{e.Message.Notification, e.Message.Data})
	if err != nil {
		return "", 0, err
	}
	out, err := plainJSON(e)
	return out, len(counted), err
}

func plainJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// collapseKey is the same for every sending of a message in doubt, so that phones show it once.
func collapseKey(m messages.Outbound) string {
	key := m.IdempotencyKey
	if key == "" {
		key = strconv.Itoa(m.Attempt)
	}
	sum := sha256.Sum256([]byte(key))
	return "iris-" + strconv.FormatInt(int64(m.MessageID), 10) + "-" + hex.EncodeToString(sum[:8])
}
