package ldap

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/directory"
	"github.com/iris-oncall/iris/internal/fault"
)

var errWrong = fault.New(fault.Unauthenticated, "wrong name or password")

// errHidden is in the chain of a search that the server does not permit: it hides the place, or says so.
var errHidden = errors.New("may not be searched")

// Check returns the entry of the person whose name and password these are. The name in it is the directory's own spelling
// when it has one. A name that nobody has, or a wrong or empty password, is an Unauthenticated fault; servers that cannot be
// asked are an Unavailable one.
func (c *Client) Check(ctx context.Context, name, password string) (directory.Entry, error) {
	// An empty password would be an anonymous log-in, which servers grant to everybody (RFC 4513, 5.1.2).
	if name == "" || password == "" || strings.ContainsRune(name, 0) {
		return directory.Entry{}, errWrong
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return directory.Entry{}, fault.Wrap(fault.Unavailable, ctx.Err(), "too many log-ins at once, try again")
	}
	var found directory.Entry
	err := c.ask(ctx, func(ctx context.Context, conn *ldap.Conn) (err error) {
		conn.SetTimeout(c.cfg.Timeout)
		if c.cfg.direct() {
			found, err = c.direct(conn, name, password)
		} else {
			found, err = c.searchAndBind(conn, name, password)
		}
		return err
	})
	return found, err
}

// direct logs the person in under a name that is made of theirs.
func (c *Client) direct(conn *ldap.Conn, name, password string) (directory.Entry, error) {
	who := name
	if strings.Contains(c.cfg.Prefix, "=") {
		who = ldap.EscapeDN(who)
	} else if strings.ContainsAny(who, `@\/`) {
		return directory.Entry{}, errWrong // another domain's spelling, which would not be this name
	}
	if err := bind(conn, c.cfg.Prefix+who+c.cfg.Suffix, password); err != nil {
		return directory.Entry{}, err
	}
	if c.cfg.BaseDN == "" {
		return directory.Entry{Name: name}, nil
	}
	entry, err := c.find(conn, name) // with the person's own rights
	switch {
	case fault.Is(err, fault.Unauthenticated), errors.Is(err, errHidden):
		return directory.Entry{Name: name}, nil // they may not see themselves
	case err != nil:
		return directory.Entry{}, err
	}
	return entry, nil
}

// searchAndBind finds the entry with the rights of the account that searches, then logs in as the entry.
func (c *Client) searchAndBind(conn *ldap.Conn, name, password string) (directory.Entry, error) {
	if err := c.bindService(conn); err != nil {
		return directory.Entry{}, err
	}
	entry, err := c.find(conn, name)
	if err != nil {
		return directory.Entry{}, err
	}
	return entry, bind(conn, entry.Ref, password)
}

// find returns the one entry of a name. None, and several, are nobody's.
func (c *Client) find(conn *ldap.Conn, name string) (directory.Entry, error) {
	filter := strings.ReplaceAll(c.cfg.LoginFilter, "%s", ldap.EscapeFilter(name))
	seconds := max(1, int(c.cfg.Timeout.Seconds()))
	answer, err := conn.Search(ldap.NewSearchRequest(c.cfg.BaseDN, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 2, seconds, false,
		filter, c.attributes(), nil))
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded):
		return directory.Entry{}, errWrong // more than two
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInsufficientAccessRights):
		return directory.Entry{}, unavailable(errors.Join(errHidden, cause(err)), "the search fails")
	case err != nil:
		return directory.Entry{}, said(err, "the search fails")
	case len(answer.Entries) != 1 || answer.Entries[0].DN == "":
		return directory.Entry{}, errWrong
	}
	entry := c.cfg.Attributes.entry(answer.Entries[0])
	if entry.Name == "" {
		entry.Name = name
	}
	return entry, nil
}

// refusals are answers to a log-in that are about the person: a wrong password, an account that is locked or has none.
var refusals = []uint16{
	ldap.LDAPResultInvalidCredentials, ldap.LDAPResultInappropriateAuthentication, ldap.LDAPResultNoSuchObject,
	ldap.LDAPResultInvalidDNSyntax, ldap.LDAPResultConstraintViolation, ldap.LDAPResultInsufficientAccessRights,
	ldap.LDAPResultUnwillingToPerform, ldap.ErrorEmptyPassword,
}

func bind(conn *ldap.Conn, who, password string) error {
	err := conn.Bind(who, password)
	if ldap.IsErrorAnyOf(err, refusals...) {
		return errWrong
	}
	return said(err, "the log-in fails")
}

// said makes a fault of what a server answered to a question that should have gone well; nil stays nil.
func said(err error, what string) error {
	if err == nil {
		return nil
	}
	return unavailable(cause(err), what)
}

func unavailable(err error, what string) error { return fault.Wrap(fault.Unavailable, err, what) }

// cause is an error without what servers add to it: that may repeat names.
func cause(err error) error {
	var e *ldap.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.ResultCode >= ldap.ErrorNetwork && e.Err != nil {
		return e.Err
	}
	return fmt.Errorf("result %d (%s)", e.ResultCode, ldap.LDAPResultCodeMap[e.ResultCode])
}
