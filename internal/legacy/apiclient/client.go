package apiclient

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Config configures a Client. URL is required.
type Config struct {
	URL  string // such as http://127.0.0.1:16649
	App  string // name of the application; "" = requests are not signed
	Key  string // its key
	User string // the user in whose name the application acts; "" = none
	// HTTP performs the requests; nil = a client with a timeout of 30 s.
	HTTP *http.Client
	// Now is the clock for signatures; nil = time.Now.
	Now func() time.Time
}

// Client calls one server as one application. It is safe for concurrent use.
type Client struct {
	base string
	cfg  Config
}

// New returns a client, or an error if the configuration is invalid.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("the URL of the API must be like http://host:port, not %q", cfg.URL)
	}
	if cfg.App == "" && cfg.Key != "" {
		return nil, errors.New("a key needs the name of its application")
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Timeout: 30 * time.Second}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Client{base: strings.TrimRight(cfg.URL, "/"), cfg: cfg}, nil
}

// Error is an answer with a status that is not 2xx.
type Error struct {
	Status      int
	Title       string
	Description string
	RetryAfter  time.Duration // 0 = the server did not say
}

// Error returns the status and the text of the server.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status))
	for _, more := range []string{e.Title, e.Description} {
		if more != "" {
			text += ": " + more
		}
	}
	return text
}

// Refused returns the *Error in err; false = there is none, and the outcome of the request is unknown. With a 4xx
// status the server did nothing. With a 5xx status it may have stored the change.
func Refused(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// Call sends a request. path begins with a slash and may have a query. in, if not nil, is sent as JSON. The answer, at
// most 16 MiB, is decoded into out unless out is nil. A status that is not 2xx is an *Error.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.cfg.App != "" {
		req.Header.Set("Authorization", c.authorization(method, path, body))
	}
	if c.cfg.User != "" {
		req.Header.Set("X-IRIS-USERNAME", c.cfg.User)
	}
	resp, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return fmt.Errorf("%s %s: read answer: %w", method, path, err)
	}
	if resp.StatusCode/100 != 2 {
		return refusal(resp, answer)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: decode answer: %w", method, path, err)
	}
	return nil
}

// authorization signs "WINDOW METHOD PATH BODY[ USER]" with HMAC-SHA512; a window is five seconds.
func (c *Client) authorization(method, path string, body []byte) string {
	mac := hmac.New(sha512.New, []byte(c.cfg.Key))
	fmt.Fprintf(mac, "%d %s %s %s", c.cfg.Now().Unix()/5, method, path, body)
	if c.cfg.User != "" {
		fmt.Fprintf(mac, " %s", c.cfg.User)
	}
	return "hmac " + c.cfg.App + ":" + base64.URLEncoding.EncodeToString(mac.Sum(nil))
}

func refusal(resp *http.Response, body []byte) error {
	e := &Error{Status: resp.StatusCode}
	var problem struct {
		Title, Description, Detail string
	}
	if json.Unmarshal(body, &problem) == nil {
		e.Title, e.Description = problem.Title, problem.Description
		if e.Description == "" {
			e.Description = problem.Detail
		}
	} else if text := strings.TrimSpace(string(body)); len(text) < 200 {
		e.Title = text
	}
	if s, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && s > 0 {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	return e
}
