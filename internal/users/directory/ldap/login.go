package ldap

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-ldap/ldap/v3"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users/directory"
)

var errWrong = fault.New(fault.Unauthenticated, "wrong name or password")

// errHidden marks the error of a search that the server does not permit. Some servers answer instead that the base does
// not exist.
var errHidden = errors.New("the search is not permitted")

// Check returns the entry of the person with the name and password. The name in the entry has the directory's spelling.
// It returns an Unauthenticated fault for an unknown name and a wrong or empty password, and an Unavailable fault if no
// server can answer.
func (c *Client) Check(ctx context.Context, name, password string) (directory.Entry, error) {
	// An empty password would be an anonymous log-in, which servers grant to everybody (RFC 4513, 5.1.2).
	if name == "" || password == "" || strings.ContainsRune(name, 0) {
		return directory.Entry{}, errWrong
	}
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return directory.Entry{}, fault.Wrap(fault.Unavailable, ctx.Err(), "too many concurrent log-ins, try again")
	}
	var found directory.Entry
	err := c.query(ctx, func(conn *ldap.Conn) (err error) {
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

// direct binds as the person, with Prefix and Suffix.
func (c *Client) direct(conn *ldap.Conn, name, password string) (directory.Entry, error) {
	who := name
	if strings.Contains(c.cfg.Prefix, "=") {
		who = ldap.EscapeDN(who)
	} else if strings.ContainsAny(who, `@\/`) {
		return directory.Entry{}, errWrong // the name of another domain, which is not this person
	}
	if err := bind(conn, c.cfg.Prefix+who+c.cfg.Suffix, password); err != nil {
		return directory.Entry{}, err
	}
	if c.cfg.BaseDN == "" {
		return directory.Entry{Name: name}, nil
	}
	entry, err := c.find(conn, name) // with the permissions of the person
	switch {
	case fault.Is(err, fault.Unauthenticated), errors.Is(err, errHidden):
		return directory.Entry{Name: name}, nil // people may not read their own entry
	case err != nil:
		return directory.Entry{}, err
	}
	return entry, nil
}

// searchAndBind finds the entry with the account for searches, then binds as the entry.
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

// find returns the entry of a name. No entry or several entries are an Unauthenticated fault.
func (c *Client) find(conn *ldap.Conn, name string) (directory.Entry, error) {
	filter := strings.ReplaceAll(c.cfg.LoginFilter, "%s", ldap.EscapeFilter(name))
	seconds := max(1, int(c.cfg.Timeout.Seconds()))
	answer, err := conn.Search(ldap.NewSearchRequest(c.cfg.BaseDN, ldap.ScopeWholeSubtree, ldap.NeverDerefAliases, 2,
		seconds, false,
		filter, c.attributes(), nil))
	switch {
	case ldap.IsErrorWithCode(err, ldap.LDAPResultSizeLimitExceeded):
		return directory.Entry{}, errWrong // more than two
	case ldap.IsErrorAnyOf(err, ldap.LDAPResultNoSuchObject, ldap.LDAPResultInsufficientAccessRights):
		return directory.Entry{}, fault.Wrap(fault.Unavailable, errors.Join(errHidden, cause(err)), "the search failed")
	case err != nil:
		return directory.Entry{}, unavailable(err, "the search failed")
	case len(answer.Entries) != 1 || answer.Entries[0].DN == "":
		return directory.Entry{}, errWrong
	}
	entry := c.cfg.Attributes.entry(answer.Entries[0])
	if entry.Name == "" {
		entry.Name = name
	}
	return entry, nil
}

// refusals are the result codes of a bind that mean that the person cannot log in: a wrong password, a locked account.
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
	return unavailable(err, "the log-in failed")
}

// unavailable returns an Unavailable fault for an error of a server; nil stays nil.
func unavailable(err error, what string) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Unavailable, cause(err), what)
}

// cause returns an error without the text of the server, which may repeat names.
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
