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

type object = map[string]any

// payload is the request for one device. The body is cut until the request fits.
func payload(device string, m messages.Outbound) (string, error) {
	key := collapseKey(m)
	androidPriority, applePriority := "NORMAL", "5"
	if m.Priority == users.Urgent || m.Priority == users.High {
		androidPriority, applePriority = "HIGH", "10"
	}
	aps := object{"sound": "default"}
	if thread := vendors.Line(m.ThreadKey, maxTitle); thread != "" {
		aps["thread-id"] = thread
	}
	title := vendors.Line(m.Subject, maxTitle)
	if title == "" {
		title = "Iris"
	}
	body := vendors.Cut(strings.TrimSpace(vendors.Text(m.Body)), maxBody)
	for {
		shown, content := object{"title": title, "body": vendors.Cut(body, maxShown)}, data(title, body, m)
		counted, err := plainJSON([]any{shown, content}) // the bytes that Firebase's limit counts
		if err != nil {
			return "", err
		}
		out, err := plainJSON(object{"message": object{
			"token": device, "notification": shown, "data": content,
			"android": object{"priority": androidPriority, "collapse_key": key, "ttl": lifetime,
				"notification": object{"tag": key}},
			"apns": object{"headers": object{"apns-priority": applePriority, "apns-collapse-id": key},
				"payload": object{"aps": aps}},
		}})
		if err != nil || len(counted) <= maxPayload || body == "" {
			return out, err
		}
		body = vendors.Cut(body, len(body)*3/4)
	}
}

// data returns the fields for an app. All values are texts, as Firebase requires.
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
