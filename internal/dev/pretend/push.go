package pretend

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// PushConfig of the project.
type PushConfig struct {
	Addr    string // "" = a free port on 127.0.0.1
	Project string // "" = iris-pretend
	// Key is the key of the service account. nil = a new one, made when it is first needed.
	Key  *rsa.PrivateKey
	Rate Rate
}

const (
	pushAccount = "iris@pretend.example"
	pushScope   = "https://www.googleapis.com/auth/firebase.messaging"
	pushKeyBits = 2048
	// pushLimit is how many bytes of data and notification Firebase accepts.
	pushLimit = 4096
)

// Push simulates Firebase Cloud Messaging, HTTP v1, and the server that issues access tokens.
type Push struct {
	web
	cfg PushConfig
	key func() *rsa.PrivateKey // made when it is first needed

	mu     sync.Mutex
	access map[string]time.Time // tokens given out, and when they end
}

// NewPush returns a project that is not started. log nil = one of its own.
func NewPush(cfg PushConfig, log *Log) *Push {
	cfg.Project = cmp.Or(cfg.Project, "iris-pretend")
	s := &Push{cfg: cfg, access: map[string]time.Time{}, key: sync.OnceValue(func() *rsa.PrivateKey {
		if cfg.Key != nil {
			return cfg.Key
		}
		key, err := rsa.GenerateKey(rand.Reader, pushKeyBits)
		if err != nil {
			panic(err) // crypto/rand never fails
		}
		return key
	})}
	s.web = web{
		conduct: newConduct(cfg.Rate, log), name: PushVendor, addr: cfg.Addr, dialect: s, lookups: "/token",
		rejection: refusal{status: http.StatusNotFound, code: "UNREGISTERED",
			text: "Requested entity was not found."}, // a dead device
	}
	return s
}

// ForgetTokens invalidates every access token.
func (s *Push) ForgetTokens() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.access)
}

// Credentials is the JSON of the service account. The server must have been started.
func (s *Push) Credentials() string {
	der, err := x509.MarshalPKCS8PrivateKey(s.key())
	if err != nil {
		panic(err) // an RSA key can always be marshalled
	}
	out, _ := json.Marshal(map[string]string{
		"type": "service_account", "project_id": s.cfg.Project, "private_key_id": "1", "client_email": pushAccount, "client_id": "1",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": s.URL() +
			"/token",
	})
	return string(out)
}

func (s *Push) read(r *http.Request, body []byte) (Entry, *refusal) {
	switch {
	case r.URL.Path == "/token":
		e := Entry{Mode: "lookup", To: "access token"}
		if why := s.badGrant(r, body); why != "" {
			return e, &refusal{status: http.StatusBadRequest, code: "invalid_grant", text: why}
		}
		e.VendorID = "ya29." + newSID("")
		s.mu.Lock()
		defer s.mu.Unlock()
		s.access[e.VendorID] = time.Now().Add(time.Hour)
		return e, nil
	case r.URL.Path != "/v1/projects/"+s.cfg.Project+"/messages:send":
		return Entry{}, &refusal{status: http.StatusNotFound, code: "NOT_FOUND",
			text: "there is no such project or method"}
	case r.Method != http.MethodPost:
		return Entry{}, &refusal{status: http.StatusMethodNotAllowed, code: "INVALID_ARGUMENT", text: "POST only"}
	}
	return s.readMessage(r, body)
}

// badGrant returns what is wrong with a request for an access token; "" = nothing.
func (s *Push) badGrant(r *http.Request, body []byte) string {
	form, err := url.ParseQuery(string(body))
	if err != nil || r.Method != http.MethodPost || form.Get("grant_type") != "urn:ietf:params:oauth:grant-type:jwt-bearer" {
		return "the grant type must be a JWT"
	}
	parts := strings.Split(form.Get("assertion"), ".")
	if len(parts) != 3 {
		return "the assertion is not a JWT"
	}
	var header struct{ Alg, Typ string }
	var claims struct {
		Iss, Scope, Aud string
		Exp, Iat        int64
	}
	if decodePart(parts[0], &header) != nil || decodePart(parts[1], &claims) != nil || header.Alg != "RS256" {
		return "the JWT is malformed"
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if err != nil || rsa.VerifyPKCS1v15(&s.key().PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return "the JWT's signature does not match"
	}
	now := time.Now().Unix()
	switch {
	case claims.Iss != pushAccount:
		return "the account is not known"
	case claims.Scope != pushScope:
		return "the scope is not " + pushScope
	case claims.Aud != "http://"+r.Host+"/token":
		return "the audience is not this server"
	case claims.Exp <= now || claims.Exp > now+3700 || claims.Iat > now+60:
		return "the times are not of now"
	}
	return ""
}

func decodePart(part string, into any) error {
	return json.NewDecoder(base64.NewDecoder(base64.RawURLEncoding, strings.NewReader(part))).Decode(into)
}

// pushMessage holds the fields of Firebase that Iris uses. Any other field is refused.
type pushMessage struct {
	Message struct {
		Token        string `json:"token"`
		Notification struct {
			Title string `json:"title"`
			Body  string `json:"body"`
		} `json:"notification"`
		Data    map[string]string `json:"data"`
		Android struct {
			Priority     string `json:"priority"`
			CollapseKey  string `json:"collapse_key"`
			TTL          string `json:"ttl"`
			Notification struct {
				Tag string `json:"tag"`
			} `json:"notification"`
		} `json:"android"`
		APNS struct {
			Headers map[string]string `json:"headers"`
			Payload struct {
				APS struct {
					Sound    string `json:"sound"`
					ThreadID string `json:"thread-id"`
				} `json:"aps"`
			} `json:"payload"`
		} `json:"apns"`
	} `json:"message"`
}

var (
	pushToken = regexp.MustCompile(`^[A-Za-z0-9_:.=-]+$`)
	pushTTL   = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,9})?s$`)
)

func invalidPush(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "INVALID_ARGUMENT", text: text}
}

func (s *Push) readMessage(r *http.Request, body []byte) (Entry, *refusal) {
	e := Entry{Mode: "push", From: s.cfg.Project}
	s.mu.Lock()
	ends, known := s.access[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	s.mu.Unlock()
	if !known || time.Now().After(ends) {
		return e, &refusal{status: http.StatusUnauthorized, code: "UNAUTHENTICATED",
			text: "the access token is not valid"}
	}
	if got := r.Header.Get("Content-Type"); got != "application/json" {
		return e, invalidPush("content type is " + got)
	}
	var p pushMessage
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return e, invalidPush("Invalid JSON payload received: " + err.Error())
	}
	m := p.Message
	e.To, e.Subject, e.Body, e.VendorID = m.Token, m.Notification.Title, m.Data["body"], "projects/"+s.cfg.Project+
		"/messages/0:"+newSID("")
	e.Application, e.Plan, e.Priority, e.IdempotencyKey = m.Data["application"], m.Data["plan"], m.Data["priority"], m.Android.CollapseKey
	e.MessageID, _ = strconv.ParseInt(m.Data["message_id"], 10, 64)
	e.IncidentID, _ = strconv.ParseInt(m.Data["incident_id"], 10, 64)
	if link := m.Data["acknowledge_url"]; link != "" && !strings.Contains(e.Body, link) {
		e.Body = strings.TrimSpace(e.Body + "\n" + link)
	}
	size := len(m.Notification.Title) + len(m.Notification.Body)
	for name, value := range m.Data {
		size += len(name) + len(value)
		// Reserved keys of Firebase.
		if name == "from" || name == "message_type" || strings.HasPrefix(name, "google") || strings.HasPrefix(name, "gcm") {
			return e, invalidPush("Invalid data payload key: " + name)
		}
	}
	switch {
	case !pushToken.MatchString(m.Token) || len(m.Token) > 4096:
		return e, invalidPush("The registration token is not a valid FCM registration token")
	case e.MessageID == 0 || m.Notification.Title == "":
		return e, invalidPush("message_id or the title is missing")
	case size > pushLimit:
		return e, invalidPush("Android message is too big")
	case m.Android.Priority != "HIGH" && m.Android.Priority != "NORMAL":
		return e, invalidPush("Invalid value at 'message.android.priority'")
	case !pushTTL.MatchString(m.Android.TTL):
		return e, invalidPush("Invalid value at 'message.android.ttl'")
	case m.Android.CollapseKey == "" || len(m.APNS.Headers["apns-collapse-id"]) > 64:
		return e, invalidPush("the collapse key is missing or too long")
	case m.APNS.Headers["apns-priority"] != "5" && m.APNS.Headers["apns-priority"] != "10":
		return e, invalidPush("Invalid APNs priority")
	}
	return e, nil
}

func (s *Push) answer(w http.ResponseWriter, e Entry) {
	if e.Mode == "lookup" {
		writeJSON(w, http.StatusOK, map[string]any{"access_token": e.VendorID, "token_type": "Bearer",
			"expires_in": 3600})
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"name": e.VendorID})
}

func (s *Push) refuse(w http.ResponseWriter, r refusal) {
	if r.code == "invalid_grant" {
		writeJSON(w, r.status, map[string]string{"error": r.code, "error_description": r.text})
		return
	}
	code := r.code
	switch {
	case code != "":
	case r.status == http.StatusTooManyRequests:
		code = "QUOTA_EXCEEDED"
	case r.status == http.StatusServiceUnavailable:
		code = "UNAVAILABLE"
	default:
		code = "INTERNAL"
	}
	writeJSON(w, r.status, map[string]any{"error": map[string]any{
		"code": r.status, "message": r.text, "status": map[bool]string{true: "NOT_FOUND",
			false: code}[r.status == http.StatusNotFound],
		"details": []map[string]string{{"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
			"errorCode": code}},
	}})
}
