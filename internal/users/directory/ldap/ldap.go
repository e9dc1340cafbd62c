package ldap

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
)

// Attributes are the names of the attributes that are read.
type Attributes struct {
	Name     string // "" = sAMAccountName
	FullName string // "" = displayName
	Email    string // "" = mail
	Phone    string // "" = mobile
	Slack    string // "" = not read
	Stable   string // id that stays when a person is renamed. "" = entryUUID or objectGUID
}

// Config of a client.
type Config struct {
	// URLs of servers with the same content, in the order in which they are tried: ldaps://host, or ldap://host:port.
	URLs []string
	// StartTLS encrypts ldap:// connections before the first request.
	StartTLS bool
	// TLS is the configuration of TLS; nil = the root certificates of the system.
	TLS *tls.Config
	// Timeout of connecting and of a log-in. 0 = 5 s.
	Timeout time.Duration
	// Prefix and Suffix turn a log-in name into the name of a bind: a user principal name (ann@example.com) or a
	// distinguished name (uid=ann,ou=people,dc=example,dc=com). If both are empty, the entry is searched first.
	Prefix, Suffix string
	// BindUser and BindPassword are the account for searches; "" = anonymous searches.
	BindUser, BindPassword string
	// BaseDN is the entry below which people are searched.
	BaseDN string
	// LoginFilter finds the entry of a log-in name, %s. "" = (NAME=%s) with the attribute of the name.
	LoginFilter string
	// PeopleFilter finds all people. "" = (&(objectClass=person)(NAME=*)).
	PeopleFilter string
	Attributes   Attributes
	// Lists defines how mailing lists are found. Without a filter there are no lists.
	Lists ListConfig
}

// ListConfig defines how mailing lists are found.
type ListConfig struct {
	BaseDN string // "" = BaseDN of people
	Filter string // such as (objectClass=groupOfNames); "" = no lists
	Name   string // attribute of the name. "" = cn
	Member string // attribute that holds distinguished names. "" = member
}

// Client queries the servers. It opens a connection for each request. It is safe for concurrent use.
type Client struct {
	cfg   Config
	slots chan struct{}

	mu     sync.Mutex
	failed map[string]time.Time // servers that did not answer, and until when the others are tried first
}

const (
	// maxLogins limits concurrent log-ins.
	maxLogins = 16
	// avoidFor is how long a server that did not answer is tried after the others.
	avoidFor = 30 * time.Second
	// pageTimeout limits one page of a search, searchTimeout the whole search.
	pageTimeout   = 30 * time.Second
	searchTimeout = 5 * time.Minute
	pageSize      = 1000
)

// New checks cfg and returns a client; it opens no connection.
func New(cfg Config) (*Client, error) {
	a, l := &cfg.Attributes, &cfg.Lists
	a.Name, a.FullName = cmp.Or(a.Name, "sAMAccountName"), cmp.Or(a.FullName, "displayName")
	a.Email, a.Phone = cmp.Or(a.Email, "mail"), cmp.Or(a.Phone, "mobile")
	l.Name, l.Member, l.BaseDN = cmp.Or(l.Name, "cn"), cmp.Or(l.Member, "member"), cmp.Or(l.BaseDN, cfg.BaseDN)
	cfg.LoginFilter = cmp.Or(cfg.LoginFilter, "("+a.Name+"=%s)")
	cfg.PeopleFilter = cmp.Or(cfg.PeopleFilter, "(&(objectClass=person)("+a.Name+"=*))")
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	if len(cfg.URLs) == 0 {
		return nil, fault.Invalidf("urls", "ldap: at least one server is required")
	}
	for _, u := range cfg.URLs {
		if _, _, _, err := address(u); err != nil {
			return nil, err
		}
	}
	if !cfg.direct() && cfg.BaseDN == "" {
		return nil, fault.Invalidf("base_dn", "ldap: base_dn is required to search people")
	}
	for _, f := range []string{cfg.LoginFilter, cfg.PeopleFilter, cfg.Lists.Filter} {
		if err := CheckFilter(f); err != nil {
			return nil, err
		}
	}
	if cfg.TLS == nil {
		cfg.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return &Client{cfg: cfg, slots: make(chan struct{}, maxLogins), failed: map[string]time.Time{}}, nil
}

func (c Config) direct() bool { return c.Prefix != "" || c.Suffix != "" }

// CheckFilter returns an Invalid fault for a text that is not a search filter. "" and %s are valid.
func CheckFilter(filter string) error {
	if filter == "" {
		return nil
	}
	if _, err := ldap.CompileFilter(strings.ReplaceAll(filter, "%s", "x")); err != nil {
		return fault.Invalidf("filter", "ldap: the filter cannot be read; write it like (&(objectClass=person)(uid=%%s))")
	}
	return nil
}

// address splits the URL of a server.
func address(raw string) (hostPort, host string, encrypted bool, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.Scheme != "ldap" && u.Scheme != "ldaps" {
		return "", "", false, fault.Invalidf("urls",
			"ldap: the URL of a server must have the form ldaps://host or ldap://host:port")
	}
	port := u.Port()
	if encrypted = u.Scheme == "ldaps"; port == "" && encrypted {
		port = "636"
	} else if port == "" {
		port = "389"
	}
	return net.JoinHostPort(u.Hostname(), port), u.Hostname(), encrypted, nil
}

// query calls do with a connection to the first server that answers. It tries the next server only if do or the
// connection returns an Unavailable fault. If no server answers, it returns an Unavailable fault.
func (c *Client) query(ctx context.Context, do func(*ldap.Conn) error) error {
	var all []error
	for _, server := range c.order(time.Now()) {
		err := c.queryServer(ctx, server, do)
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

// order returns the servers in the configured order, with servers that recently did not answer at the end.
func (c *Client) order(now time.Time) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var good, avoided []string
	for _, u := range c.cfg.URLs {
		if c.failed[u].After(now) {
			avoided = append(avoided, u)
		} else {
			good = append(good, u)
		}
	}
	return append(good, avoided...)
}

func (c *Client) mark(server string, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed[server] = until
}

func (c *Client) queryServer(ctx context.Context, server string, do func(*ldap.Conn) error) error {
	conn, raw, err := c.connect(ctx, server)
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = raw.SetDeadline(deadline) // go-ldap takes no context, so the deadline is set on the connection
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	return do(conn)
}

// connect opens a connection and encrypts it. It returns the LDAP connection and the network connection below it.
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
			return nil, nil, unavailable(err, "the TLS handshake failed")
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
			return nil, nil, unavailable(err, "STARTTLS failed")
		}
	}
	return conn, raw, nil
}

// Ready connects to a server and logs in the account for searches, if one is configured. It reads nothing.
func (c *Client) Ready(ctx context.Context) error { return c.query(ctx, c.bindService) }

// People lists all people; see directory.People. A failure is an Unavailable fault.
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

// ids returns the attributes that may have a stable id. In most servers they are operational attributes, which a server
// returns only on request.
func (a Attributes) ids() []string {
	if a.Stable != "" {
		return []string{a.Stable}
	}
	return []string{"entryUUID", "objectGUID"}
}

// stable returns the stable id of an entry; "" = none. A binary id is returned in hexadecimal digits.
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

// maxID is the maximum length of an id, in bytes. Ids of known servers have 16 or 36.
const maxID = 128

func (a Attributes) entry(e *ldap.Entry) directory.Entry {
	get := func(name string) string {
		if name == "" {
			return ""
		}
		return strings.TrimSpace(e.GetEqualFoldAttributeValue(name))
	}
	return directory.Entry{Ref: e.DN, Stable: a.stable(e), Name: get(a.Name), FullName: get(a.FullName),
		Email: get(a.Email), Phone: get(a.Phone), SlackName: get(a.Slack)}
}

// search returns all entries below base that match. An incomplete result is an error.
func (c *Client) search(ctx context.Context, base, filter string, attributes []string) ([]*ldap.Entry, error) {
	request := ldap.NewSearchRequest(base, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 0, 0, false, filter,
		attributes, nil)
	return c.request(ctx, func(conn *ldap.Conn) (*ldap.SearchResult, error) {
		return conn.SearchWithPaging(request,
			pageSize)
	})
}

// request logs in the account for searches, calls do, and returns the entries that do found.
func (c *Client) request(ctx context.Context, do func(*ldap.Conn) (*ldap.SearchResult, error)) (found []*ldap.Entry, err error) {
	ctx, cancel := context.WithTimeout(ctx, searchTimeout)
	defer cancel()
	err = c.query(ctx, func(conn *ldap.Conn) error {
		conn.SetTimeout(pageTimeout)
		if err := c.bindService(conn); err != nil {
			return err
		}
		answer, err := do(conn)
		if err != nil {
			return unavailable(err, "the search failed")
		}
		found = answer.Entries
		return nil
	})
	return found, err
}

// bindService logs in the account for searches.
func (c *Client) bindService(conn *ldap.Conn) error {
	if c.cfg.BindUser == "" {
		return nil
	}
	if err := conn.Bind(c.cfg.BindUser, c.cfg.BindPassword); err != nil {
		// While a password is being changed, the next server may accept it.
		return unavailable(err, "the server refused the account for searches (bind_user)")
	}
	return nil
}
