package remote

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"text/tabwriter"

	"github.com/iris-oncall/iris/internal/client"
)

// Token is the group of commands about tokens.
type Token struct {
	List    tokenList    `cmd:"" help:"List tokens: your own, or service tokens."`
	Create  tokenCreate  `cmd:"" help:"Create a token. Prints only the token, which cannot be shown again."`
	Revoke  tokenRevoke  `cmd:"" help:"Revoke a token."`
	Current tokenCurrent `cmd:"" help:"Print the token that the commands use, without its secret."`
}

// current is the token of a request.
type current struct {
	ID        int64    `json:"id"`
	Kind      string   `json:"kind"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expires_at"`
	Username  string   `json:"username"`
	Team      string   `json:"team"`
}

// owner names the person, the team or the administrators that the token belongs to.
func (t current) owner() string {
	switch {
	case t.Username != "":
		return t.Username
	case t.Team != "":
		return "team " + t.Team
	}
	return "the administrators"
}

// path returns the path of personal or service tokens.
func path(service bool) string {
	if service {
		return "/v1/service-tokens"
	}
	return "/v1/tokens"
}

type tokenList struct {
	Flags
	Service bool `help:"List the service tokens of the teams that you administer." xor:"kind"`
	All     bool `help:"List the personal tokens of everybody; administrators only." xor:"kind"`
}

// Run lists tokens, newest first.
func (c tokenList) Run(ctx context.Context, e Env) error {
	api, err := c.client(e)
	if err != nil {
		return err
	}
	list := path(c.Service)
	if c.All {
		list += "?all=true"
	}
	type item struct {
		current
		User       string `json:"user"`
		LastUsedAt string `json:"last_used_at"`
	}
	found, err := client.All[item](ctx, api, list)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tOF\tNAME\tSCOPES\tEXPIRES\tLAST USED")
	for _, t := range found {
		t.Username = t.User // a list names the person so
		fmt.Fprintf(w, "%d\t%s\t%q\t%s\t%s\t%s\n", t.ID, t.owner(), t.Name, strings.Join(t.Scopes, ","), t.ExpiresAt, t.LastUsedAt)
	}
	return w.Flush()
}

type tokenCreate struct {
	Flags
	Name    string   `arg:"" help:"Name of the token."`
	Scopes  []string `help:"What it may do: read, incidents, oncall, config, admin." required:"" placeholder:"SCOPE"`
	Days    int64    `help:"In how many days it expires; default: the server decides." placeholder:"N"`
	Service bool     `help:"Create a service token, which belongs to no person."`
	Team    string   `help:"Team of the service token; default: the administrators." placeholder:"NAME"`
}

// Validate checks the flags.
func (c tokenCreate) Validate() error {
	if c.Team != "" && !c.Service {
		return fmt.Errorf("--team needs --service")
	}
	if c.Days < 0 || c.Days > 366 {
		return fmt.Errorf("--days must be between 1 and 366")
	}
	return nil
}

// Run creates a token.
func (c tokenCreate) Run(ctx context.Context, e Env) error {
	api, err := c.client(e)
	if err != nil {
		return err
	}
	body := map[string]any{"name": c.Name, "scopes": c.Scopes}
	if c.Days != 0 {
		body["expires_in_seconds"] = c.Days * 24 * 60 * 60
	}
	if c.Team != "" {
		body["team"] = c.Team
	}
	var made struct{ Token string }
	if err := api.Do(ctx, http.MethodPost, path(c.Service), body, &made); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Out, made.Token)
	return err
}

type tokenRevoke struct {
	Flags
	Number  int64 `arg:"" help:"Number of the token."`
	Service bool  `help:"It is a service token."`
}

// Run revokes a token.
func (c tokenRevoke) Run(ctx context.Context, e Env) error {
	api, err := c.client(e)
	if err == nil {
		err = api.Do(ctx, http.MethodDelete, fmt.Sprintf("%s/%d", path(c.Service), c.Number), nil, nil)
	}
	if err == nil {
		_, err = fmt.Fprintf(e.Out, "token %d is revoked\n", c.Number)
	}
	return err
}

type tokenCurrent struct{ Flags }

// Run prints the token in use.
func (c tokenCurrent) Run(ctx context.Context, e Env) error {
	api, err := c.client(e)
	if err != nil {
		return err
	}
	var t current
	if err := api.Do(ctx, http.MethodGet, "/v1/tokens/current", nil, &t); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Out, "%s token %d %q of %s: scopes %s, expires %s\n", t.Kind, t.ID, t.Name, t.owner(), strings.Join(t.Scopes, ","), t.ExpiresAt)
	return err
}
