package remote

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/iris-oncall/iris/internal/program/client"
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

// String names the token.
func (t current) String() string {
	return fmt.Sprintf("%s token %d %q of %s", t.Kind, t.ID, t.Name, t.owner())
}

// The kinds of tokens on the wire.
const personal, service = "personal", "service"

// listed is a token of a list.
type listed struct {
	current
	User       string `json:"user"` // of a personal token
	LastUsedAt string `json:"last_used_at"`
}

// token returns the token as the route of the current token shows it.
func (t listed) token(kind string) current {
	t.Kind, t.Username = kind, t.User
	return t.current
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
	found, err := client.All[listed](ctx, api, list)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tOF\tNAME\tSCOPES\tEXPIRES\tLAST USED")
	for _, t := range found {
		fmt.Fprintf(w, "%d\t%s\t%q\t%s\t%s\t%s\n", t.ID, t.token("").owner(), t.Name, strings.Join(t.Scopes, ","),
			t.ExpiresAt, t.LastUsedAt)
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
	Number   int64 `arg:"" help:"Number of the token."`
	Personal bool  `help:"It is a personal token; needed only if a service token has the same number." xor:"kind"`
	Service  bool  `help:"It is a service token; needed only if a personal token has the same number." xor:"kind"`
	Force    bool  `help:"Do not ask, even if it is the token that this command uses."`
}

// Run revokes a token. A number that a personal token and a service token have is refused without the kind. Both have
// numbers of their own only if they were made by an old release.
func (c tokenRevoke) Run(ctx context.Context, e Env) error {
	api, err := c.client(e)
	if err != nil {
		return err
	}
	var used current
	if err := api.Do(ctx, http.MethodGet, "/v1/tokens/current", nil, &used); err != nil {
		return err
	}
	found, err := c.find(ctx, api, used)
	if err != nil {
		return err
	}
	switch {
	case len(found) == 0:
		return fmt.Errorf("you have no token %d and manage none: iris token list, with --service or --all, shows them",
			c.Number)
	case len(found) > 1:
		var list strings.Builder
		for _, t := range found {
			fmt.Fprintf(&list, "\n  iris token revoke %d --%s   revokes %s", t.ID, t.Kind, t)
		}
		return fmt.Errorf("two tokens have the number %d, so name the kind:%s", c.Number, list.String())
	}
	target := fmt.Sprintf("%s/%d", path(found[0].Kind == service), c.Number)
	if found[0].ID == used.ID && found[0].Kind == used.Kind {
		if err := c.ask(e, used); err != nil {
			return err
		}
		target = "/v1/tokens/current" // needs no scope
	}
	return e.Done(api.Do(ctx, http.MethodDelete, target, nil, nil), "%s is revoked", found[0])
}

// find returns the tokens with the number among those that the caller may see. Callers who may not list a kind see none
// of it, except the token in use.
func (c tokenRevoke) find(ctx context.Context, api *client.Client, used current) ([]current, error) {
	var out []current
	for _, kind := range []string{personal, service} {
		if c.Personal && kind != personal || c.Service && kind != service {
			continue
		}
		if used.Kind == kind && used.ID == c.Number {
			out = append(out, used)
			continue
		}
		list := path(kind == service)
		if kind == personal {
			list += "?all=true"
		}
		items, err := client.All[listed](ctx, api, list)
		if kind == personal && forbidden(err) { // only administrators see those of others
			items, err = client.All[listed](ctx, api, path(false))
		}
		if err != nil && !forbidden(err) {
			return nil, err
		}
		for _, t := range items {
			if t.ID == c.Number {
				out = append(out, t.token(kind))
			}
		}
	}
	return out, nil
}

// forbidden reports whether the server refused a request because the caller lacks the right.
func forbidden(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Status == http.StatusForbidden
}

// ask asks whether the token in use is to be revoked. Without a terminal that needs --force.
func (c tokenRevoke) ask(e Env, used current) error {
	if c.Force {
		return nil
	}
	in, ok := e.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return fmt.Errorf("%s is the token that this command uses: --force revokes it", used)
	}
	fmt.Fprintf(e.Err, "%s is the token that this command uses. Revoke it? [y/N] ", used)
	answer, err := bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n')
	if word := strings.TrimSpace(answer); err != nil || word != "y" && word != "Y" && word != "yes" {
		return errors.New("nothing is revoked")
	}
	return nil
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
	_, err = fmt.Fprintf(e.Out, "%s: scopes %s, expires %s\n", t, strings.Join(t.Scopes, ","), t.ExpiresAt)
	return err
}
