// Package ldap asks LDAP servers: whether a password is right, who is there, and who is on which mailing list. Errors name
// servers and result codes, never distinguished names, filters or passwords.
package ldap

import (
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/fault"
)

// Attributes are the names of what we read of an entry.
type Attributes struct {
	Name     string // "" = sAMAccountName
	FullName string // "" = displayName
	Email    string // "" = mail
	Phone    string // "" = mobile
	Slack    string // "" = not asked for
	Stable   string // what stays when somebody is renamed. "" = entryUUID or objectGUID, whichever there is
}

// Config of a client.
type Config struct {
	// URLs of servers that hold the same, in the order in which they are asked: ldaps://host, or ldap://host:port.
	URLs []string
	// StartTLS encrypts ldap:// connections before anything is said.
	StartTLS bool
	// TLS is the client's configuration; nil = the system's roots.
	TLS *tls.Config
	// Timeout of connecting and of a log-in. 0 = 5 s.
	Timeout time.Duration
	// Prefix and Suffix make of a log-in name what is bound directly: a user principal name (ann@example.com), or a
	// distinguished name (uid=ann,ou=people,dc=example,dc=com). Both empty = the entry is searched for.
	Prefix, Suffix string
	// BindUser and BindPassword are the account that searches; "" = searching anonymously.
	BindUser, BindPassword string
	// BaseDN is below what is searched.
	BaseDN string
	// LoginFilter finds the entry of who logs in, %s is the name. "" = (NAME=%s) with the attribute of the name.
	LoginFilter string
	// PeopleFilter finds everybody. "" = (&(objectClass=person)(NAME=*)).
	PeopleFilter string
	Attributes   Attributes
	// Lists says how mailing lists are found; without a filter there are none.
	Lists ListConfig
}

// ListConfig says how mailing lists are found.
type ListConfig struct {
	BaseDN string // "" = the one of the people
	Filter string // (objectClass=groupOfNames)
	Name   string // attribute of the name. "" = cn
	Member string // attribute that holds distinguished names. "" = member
}

// Client asks the servers. It opens a connection for each question and is safe for concurrent use.
type Client struct {
	cfg   Config
	slots chan struct{}

	mu   sync.Mutex
	away map[string]time.Time // servers that did not answer, until when they are asked last
}

const (
	// atOnce bounds the log-ins that wait for the servers.
	atOnce = 16
	// avoidFor is how long a server that did not answer is asked after the others.
	avoidFor = 30 * time.Second
	// listTimeout bounds one page of a search, wholeTimeout all of it.
	listTimeout  = 30 * time.Second
	wholeTimeout = 5 * time.Minute
	pageSize     = 1000
)

// New checks cfg and returns a client; it opens no connection.
func New(cfg Config) (*Client, error) {
	defaults := []struct {
		value *string
		to    string
	}{
		{&cfg.Attributes.Name, "sAMAccountName"}, {&cfg.Attributes.FullName, "displayName"}, {&cfg.Attributes.Email, "mail"},
		{&cfg.Attributes.Phone, "mobile"}, {&cfg.Lists.Name, "cn"}, {&cfg.Lists.Member, "member"}, {&cfg.Lists.BaseDN, cfg.BaseDN},
	}
	for _, d := range defaults {
		if *d.value == "" {
			*d.value = d.to
		}
	}
	if cfg.LoginFilter == "" {
		cfg.LoginFilter = "(" + cfg.Attributes.Name + "=%s)"
	}
	if cfg.PeopleFilter == "" {
		cfg.PeopleFilter = "(&(objectClass=person)(" + cfg.Attributes.Name + "=*))"
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	if len(cfg.URLs) == 0 {
		return nil, fault.Invalidf("urls", "ldap: no server is named")
	}
	for _, u := range cfg.URLs {
		if _, _, _, err := address(u); err != nil {
			return nil, err
		}
	}
	if !cfg.direct() && cfg.BaseDN == "" {
		return nil, fault.Invalidf("base_dn", "ldap: the place to search is missing")
	}
	for _, f := range []string{cfg.LoginFilter, cfg.PeopleFilter, cfg.Lists.Filter} {
		if err := CheckFilter(f); err != nil {
			return nil, err
		}
	}
	if cfg.TLS == nil {
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Client{cfg: cfg, slots: make(chan struct{}, atOnce), away: map[string]time.Time{}}, nil
}

func (c Config) direct() bool { return c.Prefix != "" || c.Suffix != "" }

// CheckFilter returns an Invalid fault for what is no search filter; "" and %s are fine.
func CheckFilter(filter string) error {
	if filter == "" {
		return nil
	}
	if _, err := ldap.CompileFilter(strings.ReplaceAll(filter, "%s", "x")); err != nil {
		return fault.Invalidf("filter", "ldap: the filter cannot be read; write it like (&(objectClass=person)(uid=%%s))")
	}
	return nil
}

// address takes the URL of a server apart.
func address(raw string) (hostPort, host string, encrypted bool, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Scheme != "ldap" && u.Scheme != "ldaps" {
		return "", "", false, fault.Invalidf("urls", "ldap: a server is written ldaps://host or ldap://host:port")
	}
	port := u.Port()
	if encrypted = u.Scheme == "ldaps"; port == "" && encrypted {
		port = "636"
	} else if port == "" {
		port = "389"
	}
	return net.JoinHostPort(u.Hostname(), port), u.Hostname(), encrypted, nil
}

// ask has do talk to the first server that answers. What a server says about the question is final; only servers that cannot
// be reached, or cannot answer now, are followed by the next. When none answers the error is an Unavailable fault.
func (c *Client) ask(ctx context.Context, do func(context.Context, *ldap.Conn) error) error {
	var all []error
	for _, server := range c.order(time.Now()) {
		err := c.askOne(ctx, server, do)
		if err == nil || !fault.Is(err, fault.Unavailable) {
			c.mark(server, time.Time{})
			return err
		}
		all = append(all, fmt.Errorf("%s: %w", server, err))
		if ctx.Err() != nil {
			break
		}
		c.mark(server, time.Now().Add(avoidFor))
	}
	return fault.Wrap(fault.Unavailable, errors.Join(all...), "the directory cannot be reached")
}

// order is the servers as configured, those that did not answer lately at the end.
func (c *Client) order(now time.Time) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	avoided := func(u string) bool { return c.away[u].After(now) }
	out := slices.Clone(c.cfg.URLs)
	slices.SortStableFunc(out, func(a, b string) int {
		switch {
		case avoided(a) == avoided(b):
			return 0
		case avoided(a):
			return 1
		}
		return -1
	})
	return out
}

func (c *Client) mark(server string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.away[server] = until
}

func (c *Client) askOne(ctx context.Context, server string, do func(context.Context, *ldap.Conn) error) error {
	conn, raw, err := c.connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = raw.SetDeadline(deadline) // go-ldap has no contexts: the connection ends with the question's
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return do(ctx, conn)
}

// connect dials, encrypts and returns the connection of the protocol with the one below it.
func (c *Client) connect(ctx context.Context, server string) (*ldap.Conn, net.Conn, error) {
	hostPort, host, encrypted, err := address(server)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", hostPort)
	if err != nil {
		return nil, nil, unavailable(err, "cannot connect")
	}
	secure := c.cfg.TLS.Clone()
	if secure.ServerName == "" {
		secure.ServerName = host
	}
	if encrypted {
		t := tls.Client(raw, secure)
		if err := t.HandshakeContext(ctx); err != nil {
			_ = raw.Close()
			return nil, nil, unavailable(err, "cannot agree on TLS")
		}
		raw = t
	}
	conn := ldap.NewConn(raw, encrypted)
	conn.Start()
	if !encrypted && c.cfg.StartTLS {
		stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
		err := conn.StartTLS(secure)
		if !stop() && err == nil {
			err = ctx.Err()
		}
		if err != nil {
			_ = conn.Close()
			return nil, nil, unavailable(cause(err), "cannot begin TLS")
		}
	}
	return conn, raw, nil
}

// People lists everybody, in pages. See directory.People.
func (c *Client) People(ctx context.Context) ([]directory.Entry, error) {
	a := c.cfg.Attributes
	found, err := c.search(ctx, c.cfg.BaseDN, c.cfg.PeopleFilter, c.attributes())
	if err != nil {
		return nil, err
	}
	out := make([]directory.Entry, len(found))
	for i, e := range found {
		out[i] = a.entry(e)
	}
	return out, nil
}

func (c *Client) attributes() []string {
	a := c.cfg.Attributes
	names := append([]string{a.Name, a.FullName, a.Email, a.Phone}, a.ids()...)
	if a.Slack != "" {
		names = append(names, a.Slack)
	}
	return names
}

// ids are the attributes that may hold what an entry is called for good. They are operational in most servers: answered only
// when they are asked for by name.
func (a Attributes) ids() []string {
	if a.Stable != "" {
		return []string{a.Stable}
	}
	return []string{"entryUUID", "objectGUID"}
}

// stable returns what the entry is called for good, "" when it does not say. What is no text is spelled in hexadecimal digits.
func (a Attributes) stable(e *ldap.Entry) string {
	for _, name := range a.ids() {
		value := e.GetEqualFoldAttributeValue(name)
		switch {
		case value == "", len(value) > maxID:
		case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' }):
			return hex.EncodeToString([]byte(value))
		default:
			return value
		}
	}
	return ""
}

// maxID is the longest id in bytes that is believed to be one; those of the known servers have 16 or 36.
const maxID = 128

func (a Attributes) entry(e *ldap.Entry) directory.Entry {
	get := func(name string) string {
		if name == "" {
			return ""
		}
		return strings.TrimSpace(e.GetEqualFoldAttributeValue(name))
	}
	return directory.Entry{Ref: e.DN, Stable: a.stable(e), Name: get(a.Name), FullName: get(a.FullName), Email: get(a.Email), Phone: get(a.Phone), SlackName: get(a.Slack)}
}

// search returns all that is found below base, or an error: never a part.
func (c *Client) search(ctx context.Context, base, filter string, attributes []string) ([]*ldap.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, wholeTimeout)
	defer cancel()
	var out []*ldap.Entry
	err := c.ask(ctx, func(ctx context.Context, conn *ldap.Conn) error {
		conn.SetTimeout(listTimeout)
		if err := c.bindService(conn); err != nil {
			return err
		}
		request := ldap.NewSearchRequest(base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, 0, false, filter, attributes, nil)
		answer, err := conn.SearchWithPaging(request, pageSize)
		if err != nil {
			return said(err, "the search fails")
		}
		out = answer.Entries
		return nil
	})
	return out, err
}

// bindService logs the account in that searches.
func (c *Client) bindService(conn *ldap.Conn) error {
	if c.cfg.BindUser == "" {
		return nil
	}
	if err := conn.Bind(c.cfg.BindUser, c.cfg.BindPassword); err != nil {
		// That the next server knows better is possible while a password is being changed.
		return unavailable(cause(err), "the account that searches (bind_user) is refused")
	}
	return nil
}
