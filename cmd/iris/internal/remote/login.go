package remote

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/iris-oncall/iris/internal/program/client"
)

// loginTimeout is how long a log-in waits for the browser.
const loginTimeout = 10 * time.Minute

// Login gets a token with the browser and keeps it.
type Login struct {
	Flags
	Name      string   `help:"Name of the token; default: the name of this computer." placeholder:"NAME"`
	Scopes    []string `help:"What the token may do: read, incidents, oncall, config, admin." default:"read,incidents" placeholder:"SCOPE"`
	NoBrowser bool     `help:"Only print the address that the browser must open."`
	Token     bool     `help:"Read a token from standard input instead."`
}

// Run logs in. Standard error has the address for the browser.
func (c Login) Run(ctx context.Context, e Env) error {
	known, err := e.credentials()
	if err != nil {
		return err
	}
	server, err := c.address(e, known)
	if err != nil {
		return err
	}
	var token, who string
	if c.Token {
		token, who, err = c.given(ctx, e, server)
	} else {
		token, who, err = c.asked(ctx, e, server)
	}
	if err != nil {
		return err
	}
	known.Current, known.Tokens[server] = server, token
	if err := e.save(known); err != nil {
		return fmt.Errorf("keep the token: %w", err)
	}
	fmt.Fprintf(e.Err, "logged in to %s with a token of %s\n", server, who)
	return nil
}

// given returns the token of standard input after the server has accepted it.
func (c Login) given(ctx context.Context, e Env, server string) (token, who string, err error) {
	line, _ := bufio.NewReader(e.In).ReadString('\n')
	if token = strings.TrimSpace(line); token == "" {
		return "", "", errors.New("no token on standard input")
	}
	api, err := client.New(client.Config{URL: server, Token: token, Insecure: c.Insecure})
	if err != nil {
		return "", "", err
	}
	var t current
	err = api.Do(ctx, http.MethodGet, "/v1/tokens/current", nil, &t)
	return token, t.owner(), err
}

// asked returns a token that the person allows in the browser.
func (c Login) asked(ctx context.Context, e Env, server string) (token, who string, err error) {
	api, err := client.New(client.Config{URL: server, Insecure: c.Insecure})
	if err != nil {
		return "", "", err
	}
	if c.Name == "" {
		if c.Name, err = os.Hostname(); err != nil {
			return "", "", fmt.Errorf("%w; give --name", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	verifier, state := oauth2.GenerateVerifier(), rand.Text()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "", "", err
	}
	page := server + "/login/command-line?" + url.Values{"port": {port}, "state": {state}, "name": {c.Name},
		"challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "scopes": {strings.Join(c.Scopes, ",")}}.Encode()
	fmt.Fprintf(e.Err, "Open this address in the browser of this computer:\n%s\n", page)
	if !c.NoBrowser {
		open(ctx, page)
	}
	code, err := receive(ctx, l, state)
	if err != nil {
		return "", "", err
	}
	var made struct{ Token, Username string }
	err = api.Do(ctx, http.MethodPost, "/v1/tokens/exchange", map[string]string{"code": code, "verifier": verifier},
		&made)
	return made.Token, made.Username, err
}

// open opens an address in the browser. If it cannot, the person opens the printed address.
func open(ctx context.Context, address string) {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:], address)...)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}

// receive waits for the redirect of the browser and returns its code. It closes l. Requests without the state are
// refused.
func receive(ctx context.Context, l net.Listener, state string) (string, error) {
	answers := make(chan url.Values, 1)
	s := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if r.URL.Path != "/" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 {
			http.Error(w, "This address belongs to iris login.", http.StatusBadRequest)
			return
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cache-Control", "no-store")
		fmt.Fprintln(w, "Iris: return to the command line. You can close this page.")
		select {
		case answers <- q:
		default: // the browser loaded the page twice
		}
	})}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx),
			time.Second) // so that the browser gets its answer
		defer cancel()
		_ = s.Shutdown(ending)
	}()
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("no answer of the browser: %w", ctx.Err())
	case err := <-served:
		return "", err
	case q := <-answers:
		if q.Get("error") != "" || q.Get("code") == "" {
			return "", errors.New("the log-in was denied in the browser")
		}
		return q.Get("code"), nil
	}
}

// Logout removes the token of a server, and revokes it if it is a personal one.
type Logout struct {
	Flags
	Revoke bool `help:"Revoke a service token too. Programs that use it stop working."`
}

// Run logs out. A token that the server no longer accepts is only removed.
func (c Logout) Run(ctx context.Context, e Env) error {
	known, err := e.credentials()
	if err != nil {
		return err
	}
	server, err := c.address(e, known)
	if err != nil {
		return err
	}
	token := known.Tokens[server]
	if token == "" {
		return fmt.Errorf("you are not logged in to %s", server)
	}
	kept, err := c.end(ctx, server, token)
	var refused *client.Error
	if err != nil && (!errors.As(err, &refused) || refused.Status != http.StatusUnauthorized) {
		return err
	}
	delete(known.Tokens, server)
	if known.Current == server {
		known.Current = ""
	}
	if err := e.save(known); err != nil {
		return err
	}
	if kept != nil {
		fmt.Fprintf(e.Err, "%s is still valid, because programs may use it: iris token revoke --service %d revokes it\n", kept, kept.ID)
	}
	fmt.Fprintf(e.Err, "logged out of %s\n", server)
	return nil
}

// end revokes a token. It returns a service token that it keeps.
func (c Logout) end(ctx context.Context, server, token string) (kept *current, err error) {
	api, err := client.New(client.Config{URL: server, Token: token, Insecure: c.Insecure})
	if err != nil {
		return nil, err
	}
	var t current
	if err := api.Do(ctx, http.MethodGet, "/v1/tokens/current", nil, &t); err != nil {
		return nil, err
	}
	if t.Kind == service && !c.Revoke {
		return &t, nil
	}
	return nil, api.Do(ctx, http.MethodDelete, "/v1/tokens/current", nil, nil)
}
