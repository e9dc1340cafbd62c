// Package directories makes clients of the configured directories: LDAP servers, and Slack workspaces as lists of
// people. The programs and the operator's commands call it. It opens no connection.
package directories

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"

	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/directory"
	"github.com/iris-oncall/iris/internal/users/directory/ldap"
	"github.com/iris-oncall/iris/internal/vendors/slack"
)

// LDAP returns a client of the configured servers. It opens no connection.
func LDAP(l config.LDAP, s config.Sync) (*ldap.Client, error) {
	c := ldap.Config{
		URLs: l.URLs, StartTLS: l.StartTLS, Timeout: l.Timeout, Prefix: l.UserPrefix, Suffix: l.UserSuffix,
		BindUser: l.BindUser, BindPassword: l.BindPassword.Reveal(), BaseDN: l.BaseDN, LoginFilter: l.Filter, PeopleFilter: s.Filter,
		Attributes: ldap.Attributes{
			Name: l.NameAttribute, FullName: l.FullNameAttribute, Email: l.EmailAttribute, Phone: l.PhoneAttribute, Slack: l.SlackAttribute,
			Stable: l.IDAttribute,
		},
		Lists: ldap.ListConfig{
			BaseDN: s.Lists.BaseDN, Filter: s.Lists.Filter, Name: s.Lists.NameAttribute, Member: s.Lists.MemberAttribute,
		},
	}
	if l.CAFile != "" {
		raw, err := os.ReadFile(l.CAFile)
		if err != nil {
			return nil, fmt.Errorf("auth.ldap.ca_file: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(raw) {
			return nil, errors.New("auth.ldap.ca_file: the file must have certificates in PEM")
		}
		c.TLS = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	}
	client, err := ldap.New(c)
	if err != nil {
		return nil, fmt.Errorf("auth.ldap: %w", err)
	}
	return client, nil
}

// Workspace returns a client of a Slack workspace as a list of people. It opens no connection.
func Workspace(a config.Slack) (*slack.Vendor, error) {
	return slack.New(slack.Config{Account: a.Account.Account, Token: a.Token.Reveal(), APIURL: a.APIURL,
		Timeout: a.Timeout})
}

// Rules returns the configured rules for entries.
func Rules(s config.Sync) (directory.Rules, error) {
	region := users.Region(s.PhoneRegion)
	if region != "" && !region.Known() {
		return directory.Rules{}, fmt.Errorf("phone_region: %q is not a known country code, such as US", s.PhoneRegion)
	}
	return directory.Rules{Region: region, Slack: s.SlackContact, PhotoURL: s.PhotoURL,
		Synced: s.From == directory.LDAP}, nil
}

// Syncer returns the syncer of the configured directory; nil = no directory is configured. It opens no connection.
func Syncer(s config.Sync, l config.LDAP, workspaces []config.Slack) (*directory.Syncer, error) {
	if s.From == "" {
		return nil, nil
	}
	rules, err := Rules(s)
	if err != nil {
		return nil, err
	}
	c := directory.Config{Source: s.From, Rules: rules, MaxGone: s.MaxGonePercent}
	for _, p := range s.Presets {
		c.Presets = append(c.Presets, directory.Entry{Name: p.Name, FullName: p.FullName, Email: p.Email,
			Phone: p.Phone, SlackName: p.Slack})
	}
	if s.From == directory.Slack {
		v, err := Workspace(workspaces[0])
		if err != nil {
			return nil, err
		}
		return directory.NewSyncer(v, nil, c), nil
	}
	client, err := LDAP(l, s)
	if err != nil {
		return nil, err
	}
	if s.Lists.Filter == "" {
		return directory.NewSyncer(client, nil, c), nil
	}
	return directory.NewSyncer(client, client, c), nil
}

// Problem checks the settings that package config does not check: filters and the phone region. It opens no connection.
func Problem(l config.LDAP, s config.Sync, workspaces []config.Slack) error {
	if _, err := Rules(s); err != nil {
		return err
	}
	if len(l.URLs) > 0 {
		if _, err := LDAP(l, s); err != nil {
			return err
		}
	}
	_, err := Syncer(s, l, workspaces)
	return err
}
