// Package client is a client of /v1. The command line uses it. It sends a token, turns the answers of the server into
// values and clear errors, and follows the cursors of lists. It shares with the server only the definitions of
// operations.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/operation"
)

// maxAnswer is the largest answer that is read, in bytes.
const maxAnswer = 16 << 20

// Config configures a Client. URL is required.
type Config struct {
	URL      string // of the server, such as https://iris.example.com
	Token    string // "" = requests have no credentials
	Insecure bool   // the token may go to another machine without TLS
	// HTTP performs the requests; nil = a client with a timeout of 30 s. Redirects are never followed.
	HTTP *http.Client
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base, token string
	http        http.Client
	header      [2]string // a further header of every request; "" = none
}

// With returns a client that also sends a header.
func (c *Client) With(name, value string) *Client {
	out := *c
	out.header = [2]string{name, value}
	return &out
}

// Address returns the address of a server in its usual form, or an error if it is none.
func Address(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("the address of the server must be like https://iris.example.com, not %.100q", server)
	}
	u.Host = strings.ToLower(u.Host)
	return strings.TrimRight(u.String(), "/"), nil
}

// New returns a client. It refuses to send a token without TLS to another machine, unless the configuration is
// Insecure.
func New(cfg Config) (*Client, error) {
	base, err := Address(cfg.URL)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(base, "http:") && !loopback(base) && !cfg.Insecure {
		return nil, fmt.Errorf("%s has no TLS: others could read the token. Use https, or give --insecure", base)
	}
	c := &Client{base: base, token: cfg.Token, http: http.Client{Timeout: 30 * time.Second}}
	if cfg.HTTP != nil {
		c.http = *cfg.HTTP
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

func loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	return u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()
}

// Error is an answer with a status that is not 2xx.
type Error struct {
	Status int    `json:"-"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Field  string `json:"field"` // the part of the request that is wrong; "" = none
}

// Invalid reports whether the request was wrong, not refused.
func (e *Error) Invalid() bool {
	return e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
}

// Error returns the text of the server with the field that is wrong, and what to do if the credentials do not suffice.
func (e *Error) Error() string {
	text := e.Detail
	if text == "" {
		text = fmt.Sprintf("the server answers %d %s", e.Status, http.StatusText(e.Status))
	}
	if e.Field != "" && !strings.Contains(text, e.Field) {
		text = e.Field + ": " + text
	}
	switch {
	case e.Status == http.StatusUnauthorized:
		text += ": run iris login"
	case e.Status == http.StatusForbidden && strings.Contains(text, "lacks the scope"):
		text += ": use a token with that scope, for example from iris login --scopes"
	case e.Status >= 300 && e.Status < 400:
		text += ": the address does not belong to an Iris server"
	}
	return text
}

// Do sends a request with in as JSON and decodes the answer into out. nil = no body, or an answer that is not read.
// path begins with /v1. A refusal of the server is an *Error.
func (c *Client) Do(ctx context.Context, method, path string, in, out any) error {
	_, _, err := c.send(ctx, method, path, in, out)
	return err
}

// Send is Do, and returns the status of an answer that is not an error.
func (c *Client) Send(ctx context.Context, method, path string, in, out any) (status int, err error) {
	status, _, err = c.send(ctx, method, path, in, out)
	return status, err
}

// Edit changes an object: it reads the object into found and stores what changed returns. It stores nothing if another
// person changed the object meanwhile; the error then says so.
func (c *Client) Edit(ctx context.Context, path string, found any, changed func() (any, error)) error {
	_, header, err := c.send(ctx, http.MethodGet, path, nil, found)
	if err != nil {
		return err
	}
	in, err := changed()
	if err != nil {
		return err
	}
	if tag := header.Get("ETag"); tag != "" {
		c = c.With("If-Match", tag)
	}
	err = c.Do(ctx, http.MethodPut, path, in, nil)
	var refused *Error
	if errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed {
		return errors.New("nothing was changed, because somebody changed the object meanwhile: run the command again")
	}
	return err
}

func (c *Client) send(ctx context.Context, method, path string, in, out any) (status int, header http.Header, err error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return 0, nil, err
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.header[0] != "" {
		req.Header.Set(c.header[0], c.header[1])
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return 0, nil, c.unreachable(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		refused := &Error{}
		_ = json.Unmarshal(answer, refused) // an answer that is no JSON has only its status
		refused.Status = resp.StatusCode
		return 0, nil, refused
	}
	if out == nil {
		return resp.StatusCode, resp.Header, nil
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return 0, nil, fmt.Errorf("%s does not answer like Iris: %w", c.base, err)
	}
	return resp.StatusCode, resp.Header, nil
}

// unreachable describes a request without an answer.
func (c *Client) unreachable(err error) error {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return fmt.Errorf("the certificate of %s is not trusted: %w", c.base, untrusted.Err)
	}
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s cannot be reached: %w", c.base, err)
}

// All returns the items of all pages of a list. path may have a query.
func All[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	return First[T](ctx, c, path, math.MaxInt)
}

// Call carries an operation out on the server. A refusal of the server is an *Error.
func Call[In, Out any](ctx context.Context, c *Client, d operation.Def[In, Out], in In) (out Out, err error) {
	path, body := operation.Request(d, in)
	var into any = &out
	if operation.IsNone(reflect.TypeFor[Out]()) {
		into = nil
	}
	err = c.Do(ctx, d.Method, path, body, into)
	return out, err
}

// First returns the first items of a list, at most most. path may have a query.
func First[T any](ctx context.Context, c *Client, path string, most int) ([]T, error) {
	var all []T
	err := Each(ctx, c, path, func(item T) error {
		if all = append(all, item); len(all) >= most {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, err
}

// errEnough ends First.
var errEnough = errors.New("enough items")

// Each calls do with each item of a list, page by page, until it returns an error. path may have a query.
func Each[T any](ctx context.Context, c *Client, path string, do func(T) error) error {
	u, err := url.Parse(path)
	if err != nil {
		return err
	}
	query := u.Query()
	for {
		u.RawQuery = query.Encode()
		var page struct {
			Items []T    `json:"items"`
			Next  string `json:"next"`
		}
		if err := c.Do(ctx, http.MethodGet, u.String(), nil, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := do(item); err != nil {
				return err
			}
		}
		if page.Next == "" || page.Next == query.Get("cursor") {
			return nil
		}
		query.Set("cursor", page.Next)
	}
}
