// Package online connects to what is configured, for iris check-config --online. It sends no message and changes
// nothing.
package online

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/program/apiserver"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/database"
	"github.com/iris-oncall/iris/internal/program/directories"
	"github.com/iris-oncall/iris/internal/program/health"
	"github.com/iris-oncall/iris/internal/program/vendoraccounts"
	"github.com/iris-oncall/iris/internal/vendors"
)

// Within bounds the check of a target.
const Within = 15 * time.Second

// Config is what the servers are configured with. A nil server is not checked.
type Config struct {
	Database  config.Common
	API       *config.API
	Processor *config.Processor
}

// Target is something that Iris connects to, or listens on.
type Target struct {
	Name    string
	Problem string // what failed and what to do, on one line and without secrets; "" = it works
	// Note says more about a target that works.
	Note string
}

// check tries a target. do says what to do when it fails.
type check struct {
	name string
	do   string
	try  func(ctx context.Context) (note string, err error)
}

// Check tries all targets at once, each within a time, and returns them in the order of the configuration.
func Check(ctx context.Context, c Config, within time.Duration) []Target {
	checks, secrets := all(c)
	out := make([]Target, len(checks))
	var wg sync.WaitGroup
	for i, k := range checks {
		wg.Go(func() { out[i] = k.run(ctx, within, secrets) })
	}
	wg.Wait()
	return out
}

type outcome struct {
	note string
	err  error
}

func (k check) run(ctx context.Context, within time.Duration, secrets []string) Target {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	done := make(chan outcome, 1)
	go func() { // some libraries take no context
		note, err := k.try(ctx)
		done <- outcome{note, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select { // an answer at the last moment
		case o = <-done:
		default:
			o.err = fmt.Errorf("no answer within %s", within)
		}
	}
	t := Target{Name: vendors.Clean(k.name, secrets...), Note: o.note}
	if o.err != nil {
		t.Problem = vendors.Clean(postgres.Explain(o.err), secrets...) + ": " + k.do
	}
	return t
}

// failed returns a check that has failed already.
func failed(name, do string, err error) check {
	return check{name, do, func(context.Context) (string, error) { return "", err }}
}

// all returns the checks of a configuration, and the secrets that its errors may name.
func all(c Config) (out []check, secrets []string) {
	if u, err := url.Parse(c.Database.Database.URL.Reveal()); err == nil && u.User != nil {
		if password, ok := u.User.Password(); ok && password != "" {
			secrets = append(secrets, password)
		}
	}
	out = append(out, check{"database", "check database.url (IRIS_DATABASE_URL), and that the server runs and admits the user", c.database})
	directory, sync := config.LDAP{}, config.Sync{}
	if p := c.Processor; p != nil {
		out = append(out, vendorChecks(*p)...)
		out = append(out, check{"gossip",
			"open the gossip port (TCP and UDP) between the processors, or check gossip.advertise there", c.gossip})
		directory, sync = p.LDAP, p.Sync
	}
	if a := c.API; a != nil {
		directory, sync = a.LDAP, a.Sync
		for _, p := range a.OIDC {
			out = append(out, issuer(p, a.PublicURL))
			secrets = append(secrets, p.ClientSecret.Reveal())
		}
		if addr := a.Intake.SMTP.Addr; addr != "" {
			out = append(out, check{"mail intake " + addr, "stop the other program, or change intake.smtp.addr", func(ctx context.Context) (string, error) {
				return listens(ctx, addr, a.Intake.SMTP.Domain)
			}})
		}
	}
	secrets = append(secrets, directory.BindPassword.Reveal())
	for _, server := range directory.URLs {
		one := directory
		one.URLs = []string{server}
		out = append(out, check{"ldap " + server, "check auth.ldap.urls, ca_file, bind_user and bind_password", func(ctx context.Context) (string, error) {
			client, err := directories.LDAP(one, sync)
			if err != nil {
				return "", err
			}
			return "", client.Ready(ctx)
		}})
	}
	return out, secrets
}

// database connects, looks for a pooler in a mode that cannot work, and compares the schemas.
func (c Config) database(ctx context.Context) (string, error) {
	db, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	if err := db.Ping(ctx); err != nil {
		return "", err
	}
	if err := db.CheckPooler(ctx); err != nil {
		return "", err
	}
	if err := db.CheckSchema(ctx); err != nil {
		return "", err
	}
	s, err := db.SchemaState(ctx)
	return fmt.Sprintf("schema %d", s.Have), err
}

func (c Config) open(ctx context.Context) (*postgres.DB, error) {
	return database.Open(ctx, c.Database, "iris check-config", 2, nil, zap.NewNop())
}

// gossip connects to the processors that run.
func (c Config) gossip(ctx context.Context) (string, error) {
	db, err := c.open(ctx)
	if err != nil {
		return "", err
	}
	defer db.Close()
	found, err := pgbuckets.NewCluster(db).View(ctx)
	if err != nil {
		return "", fmt.Errorf("the processors that run are not known: %w", err)
	}
	var mu sync.Mutex
	var silent []string
	var wg sync.WaitGroup
	tried := 0
	for _, m := range found.Members {
		if m.GossipAddr == "" || m.Age >= buckets.DefaultLimits().Fresh {
			continue
		}
		tried++
		wg.Go(func() {
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.GossipAddr)
			if err == nil {
				_ = conn.Close()
				return
			}
			mu.Lock()
			defer mu.Unlock()
			silent = append(silent, m.GossipAddr)
		})
	}
	wg.Wait()
	if len(silent) > 0 {
		return "", fmt.Errorf("no connection to %s", strings.Join(silent, ", "))
	}
	return fmt.Sprintf("%d running processors answer", tried), nil
}

// checker is a vendor that can try its account without sending a message.
type checker interface {
	messages.Vendor
	Check(ctx context.Context) error
}

// advice says what to do when an account of a vendor fails.
var advice = map[string]string{
	"smtp":   "check smtp.addr, tls, ca_file, username and password",
	"slack":  "check slack.token (IRIS_SLACK_TOKEN) and that this host may connect to Slack",
	"twilio": "check twilio.account_sid and auth_token, or key_sid and key_secret, and that this host may connect to Twilio",
	"push":   "check push.credentials and that this host may connect to Google",
}

// vendorChecks returns a check of each account. Webhooks and the mode drop have no server of their own.
func vendorChecks(c config.Processor) (out []check) {
	configured, err := vendoraccounts.New(c, nil, nil, zap.NewNop())
	if err != nil {
		return []check{failed("vendors", "correct the account", err)}
	}
	for _, v := range configured {
		if o, ok := v.(*health.Vendor); ok {
			v = o.Vendor
		}
		if k, ok := v.(checker); ok {
			out = append(out, check{k.Name() + " " + k.Account(), advice[k.Name()], func(ctx context.Context) (string, error) {
				return "", k.Check(ctx)
			}})
		}
	}
	return out
}

// issuer returns the check of a provider of single sign-on.
func issuer(p config.OIDC, publicURL string) check {
	return check{"provider " + p.Name, "check auth.oidc issuer and ca_file; the issuer must be written exactly as the provider writes it", func(context.Context) (string, error) {
		provider, err := apiserver.NewProvider(p, publicURL, zap.NewNop())
		if err != nil {
			return "", err
		}
		return "", provider.Check()
	}}
}

// listens reports whether a server can listen on addr, or whether iris-api does already: its greeting names domain.
func listens(ctx context.Context, addr, domain string) (string, error) {
	l, failure := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if failure == nil {
		return "free", l.Close()
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", failure
	}
	defer func() { _ = conn.Close() }()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	greeting, err := bufio.NewReaderSize(conn, 512).ReadSlice('\n')
	if err == nil && domain != "" && strings.HasPrefix(string(greeting), "220 "+domain+" ") {
		return "iris-api answers there", nil
	}
	return "", fmt.Errorf("the address is in use: %w", failure)
}
