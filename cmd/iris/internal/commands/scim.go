package commands

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/program/client"
)

// SCIM are the commands about directories that push people and groups, and about the deactivations that wait for an
// administrator.
type SCIM struct {
	Add      scimAdd      `cmd:"" help:"Add a connection for a directory and print its token, which is shown only now."`
	List     scimList     `cmd:"" help:"List the connections."`
	Token    scimToken    `cmd:"" help:"Print a further token of a connection. The older one stays valid until end-old-token."`
	EndOld   scimEndOld   `cmd:"" name:"end-old-token" help:"End the tokens of a connection except the newest."`
	Delete   scimDelete   `cmd:"" help:"Delete a connection. Its people, roles and memberships stay."`
	Held     scimHeld     `cmd:"" help:"List the deactivations that wait for an administrator."`
	Confirm  scimConfirm  `cmd:"" help:"Carry out held deactivations: the users cannot log in and are not paged."`
	Reject   scimReject   `cmd:"" help:"Reject held deactivations: the users stay active."`
	Transfer scimTransfer `cmd:"" help:"Give an existing user to a connection, so that the directory manages the user."`
}

const connectionsPath = "/v1/scim-connections"

type connectionName struct {
	remote.Flags
	Name string `arg:"" help:"Name of the connection."`
}

func (c connectionName) path(rest string) string {
	return connectionsPath + "/" + url.PathEscape(c.Name) + rest
}

// secret sends a request whose answer has a token, and prints the token.
func (c connectionName) secret(ctx context.Context, e remote.Env, method, path string, body any) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var made struct {
		Token string `json:"token"`
	}
	if err := api.Do(ctx, method, path, body, &made); err != nil {
		return err
	}
	_, err = fmt.Fprintln(e.Out, made.Token)
	return err
}

// change sends a request without an answer and reports what was done.
func change(ctx context.Context, e remote.Env, f remote.Flags, method, path string, body any, done string) error {
	api, err := f.API(ctx, e)
	if err == nil {
		err = api.Do(ctx, method, path, body, nil)
	}
	if err == nil {
		_, err = fmt.Fprintln(e.Err, done)
	}
	return err
}

type scimAdd struct {
	connectionName
	Provider string `help:"Provider of single sign-on (auth.oidc) whose rules for groups apply." placeholder:"NAME"`
	Links    bool   `help:"The externalId of a person is the subject at the provider."`
}

// Run adds a connection.
func (c scimAdd) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{"name": c.Name, "links_accounts": c.Links}
	if c.Provider != "" {
		body["provider"] = c.Provider
	}
	return c.secret(ctx, e, http.MethodPost, connectionsPath, body)
}

type scimToken struct{ connectionName }

// Run makes a further token.
func (c scimToken) Run(ctx context.Context, e remote.Env) error {
	return c.secret(ctx, e, http.MethodPut, c.path("/token"), nil)
}

type scimEndOld struct{ connectionName }

// Run ends the older tokens.
func (c scimEndOld) Run(ctx context.Context, e remote.Env) error {
	return change(ctx, e, c.Flags, http.MethodDelete, c.path("/token"), nil, "connection "+c.Name+
		" has only its newest token now")
}

type scimDelete struct{ connectionName }

// Run deletes a connection.
func (c scimDelete) Run(ctx context.Context, e remote.Env) error {
	return change(ctx, e, c.Flags, http.MethodDelete, c.path(""), nil, "connection "+c.Name+" deleted")
}

type scimTransfer struct {
	connectionName
	User string `arg:"" help:"Log-in name of the user."`
}

// Run gives a user to a connection.
func (c scimTransfer) Run(ctx context.Context, e remote.Env) error {
	return change(ctx, e, c.Flags, http.MethodPost, c.path("/users"), map[string]string{"user": c.User}, "connection "+
		c.Name+" manages "+c.User+" now")
}

type scimList struct{ remote.Flags }

// Run lists the connections.
func (c scimList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	found, err := client.All[scim.Connection](ctx, api, connectionsPath+"?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CONNECTION\tPROVIDER\tTOKENS\tLAST USE")
	for _, k := range found {
		var last time.Time
		for _, t := range k.Tokens {
			if t.LastUsedAt != nil && t.LastUsedAt.After(last) {
				last = *t.LastUsedAt
			}
		}
		used := "never"
		if !last.IsZero() {
			used = last.UTC().Format(time.DateTime)
		}
		if err := text.Row(w, k.Name, string(k.Provider), fmt.Sprint(len(k.Tokens)), used); err != nil {
			return err
		}
	}
	return w.Flush()
}

type scimHeld struct{ remote.Flags }

// Run lists the held deactivations.
func (c scimHeld) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	found, err := client.All[scim.Held](ctx, api, "/v1/held-deactivations?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tUSER\tCONNECTION\tREQUESTED")
	for _, h := range found {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", h.ID, h.User, h.Connection, h.RequestedAt.UTC().Format(time.DateTime))
	}
	return w.Flush()
}

type heldNumbers struct {
	remote.Flags
	Number []int64 `arg:"" help:"Numbers, as iris scim held prints them."`
}

// each sends one request for each number. It ends with the first refusal.
func (c heldNumbers) each(ctx context.Context, e remote.Env, method, rest, done string) error {
	for _, n := range c.Number {
		if err := change(ctx, e, c.Flags, method, fmt.Sprintf("/v1/held-deactivations/%d%s", n, rest), nil, fmt.Sprintf("deactivation %d %s", n, done)); err != nil {
			return fmt.Errorf("deactivation %d: %w", n, err)
		}
	}
	return nil
}

type scimConfirm struct{ heldNumbers }

// Run carries out held deactivations.
func (c scimConfirm) Run(ctx context.Context, e remote.Env) error {
	return c.each(ctx, e, http.MethodPost, "/confirm", "carried out")
}

type scimReject struct{ heldNumbers }

// Run rejects held deactivations.
func (c scimReject) Run(ctx context.Context, e remote.Env) error {
	return c.each(ctx, e, http.MethodDelete, "", "rejected: the user stays active")
}
