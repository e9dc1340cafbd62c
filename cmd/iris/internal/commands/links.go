package commands

import (
	"context"
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/program/client"
)

// UserLinks are the commands about the accounts of people at identity providers and their second factors.
type UserLinks struct {
	Link    userLink    `cmd:"" help:"Link accounts at an identity provider to users, so that they log in with them."`
	Links   userLinks   `cmd:"" help:"List the linked accounts."`
	Unlink  userUnlink  `cmd:"" help:"Delete a link: the account logs nobody in, and its sessions end."`
	Refused userRefused `cmd:"" help:"List accounts whose log-in was refused because no user is linked."`

	RemoveFactor userRemoveFactor `cmd:"" help:"Remove the second factor of a user, who has lost it."`
}

type userLink struct {
	remote.Flags
	Name     string `arg:"" optional:"" help:"Log-in name."`
	Provider string `help:"Provider, as named in auth.oidc of the configuration; proxy for the authenticating proxy." placeholder:"NAME"`
	Subject  string `help:"Subject (sub) of the account at the provider." placeholder:"SUBJECT"`
	File     string `help:"File with a line \"name,provider,subject\" for each account. All or none are linked." type:"existingfile" placeholder:"FILE"`
}

// Run links one account, or those of a file.
func (c userLink) Run(ctx context.Context, e remote.Env) error {
	in := sso.Linking{User: c.Name, Provider: c.Provider, Subject: c.Subject}
	done := fmt.Sprintf("%s can log in with the account %s of %s", c.Name, c.Subject, c.Provider)
	given := c.Name != "" || c.Provider != "" || c.Subject != ""
	switch {
	case c.File != "" && given:
		return remote.Usagef("give either a name with --provider and --subject, or --file")
	case c.File != "":
		all, err := listed(c.File)
		if err != nil {
			return err
		}
		in.Many, done = all, fmt.Sprintf("%d accounts linked", len(all))
	case c.Name == "" || c.Provider == "" || c.Subject == "":
		return remote.Usagef("give a name with --provider and --subject, or --file")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	if _, err := client.Call(ctx, api, sso.LinkAccounts, in); err != nil {
		if c.File != "" {
			err = fmt.Errorf("%s: nothing was linked: %w", c.File, err)
		}
		return err
	}
	_, err = fmt.Fprintln(e.Err, done)
	return err
}

// listed reads a file of accounts.
func listed(file string) ([]sso.Account, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	lines := csv.NewReader(f)
	lines.FieldsPerRecord, lines.TrimLeadingSpace, lines.Comment = 3, true, '#'
	rows, err := lines.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: nothing was linked: each line must be user,provider,subject: %w", file, err)
	}
	out := make([]sso.Account, len(rows))
	for i, row := range rows {
		out[i] = sso.Account{User: strings.TrimSpace(row[0]), Provider: strings.TrimSpace(row[1]), Subject: row[2]}
	}
	return out, nil
}

type userLinks struct {
	remote.Flags
	Name string `arg:"" optional:"" help:"Log-in name; default: all users."`
}

// Run lists linked accounts.
func (c userLinks) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	query := url.Values{"limit": {"500"}}
	if c.Name != "" {
		query.Set("user", c.Name)
	}
	found, err := client.All[sso.Linked](ctx, api, "/v1/identities?"+query.Encode())
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tUSER\tPROVIDER\tSUBJECT\tLAST LOG-IN")
	for _, k := range found {
		last := "never"
		if k.LastLoginAt != nil {
			last = k.LastLoginAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", k.ID, k.User, k.Provider, k.Subject, last)
	}
	return w.Flush()
}

type userUnlink struct {
	remote.Flags
	Number int64 `arg:"" help:"Number of the link, as iris user links prints it."`
}

// Run deletes a link.
func (c userUnlink) Run(ctx context.Context, e remote.Env) error {
	return change(ctx, e, c.Flags, http.MethodDelete, fmt.Sprintf("/v1/identities/%d", c.Number), nil,
		fmt.Sprintf("link %d deleted; its sessions have ended", c.Number))
}

type userRefused struct{ remote.Flags }

// Run lists refused accounts.
func (c userRefused) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	found, err := client.All[sso.Refusal](ctx, api, "/v1/identities/refused?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tSUBJECT\tNAME\tE-MAIL\tATTEMPTS\tLAST\tREASON")
	for _, r := range found {
		if err := text.Row(w, r.Provider, r.Subject, strconv.Quote(string(r.Name)), strconv.Quote(string(r.Email)), fmt.Sprint(r.Attempts),
			r.LastAt.UTC().Format(time.DateTime), r.Reason); err != nil {
			return err
		}
	}
	return w.Flush()
}

type userRemoveFactor struct{ userName }

// Run removes the second factor of a person.
func (c userRemoveFactor) Run(ctx context.Context, e remote.Env) error {
	return change(ctx, e, c.Flags, http.MethodDelete, c.path("/second-factor"), nil,
		c.Name+" has no second factor now; if the configuration requires one, the next log-in asks to set it up")
}
