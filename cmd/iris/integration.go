package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/internal/operator/senders"
)

type integrationCommand struct {
	Add     integrationAddCommand     `cmd:"" help:"Add an integration: a sender of alerts. Prints its address and token, once."`
	List    integrationListCommand    `cmd:"" help:"List the integrations."`
	Show    integrationShowCommand    `cmd:"" help:"Show an integration, its last refusal and its latest payloads."`
	Token   integrationTokenCommand   `cmd:"" help:"Add a second token and print it once, or remove the old one."`
	Secret  integrationSecretCommand  `cmd:"" help:"Set or remove the secrets that check the signatures of deliveries."`
	Set     integrationSetCommand     `cmd:"" help:"Change settings of an integration. What no flag names stays."`
	Preview integrationPreviewCommand `cmd:"" help:"Print what a payload would do: its events, the rule and the plan. Nothing is opened."`
	Remove  integrationRemoveCommand  `cmd:"" help:"Remove an integration. Its tokens become invalid at once; its incidents stay."`
}

type integrationAddCommand struct {
	Name        string `arg:"" help:"Name."`
	Type        string `required:"" help:"What sends the alerts: alertmanager, datadog, email, generic, grafana, heartbeat, nagios, opsgenie, pagerduty, sentry, sns, uptime_kuma or zabbix."`
	Application string `required:"" help:"Application that the incidents belong to." placeholder:"NAME"`
	integrationFlags
}

// integrationFlags are the settings that people change.
type integrationFlags struct {
	Plan         *string        `help:"Plan for events that no rule matches; without it, that of the application." placeholder:"NAME"`
	Severity     *string        `help:"Severity of events that name none: critical, error, warning or info. Default: error."`
	Rate         *int           `help:"Deliveries per minute that are accepted. Default: 600."`
	ResolveAfter *time.Duration `help:"Time without a delivery after which an incident is resolved; 0 = never." placeholder:"DURATION"`
	CloseAfter   *time.Duration `help:"Time without news after which an incident is closed; 0 = never. Default: that of the installation." placeholder:"DURATION"`
	Enabled      *bool          `help:"Whether deliveries are accepted." negatable:""`
	Settings     string         `help:"File with the settings, a JSON object: expressions of a generic or email integration, signatures of grafana or sns." type:"existingfile" placeholder:"FILE"`
	Rules        string         `help:"File with the routing rules, a JSON array. The first rule that matches wins." type:"existingfile" placeholder:"FILE"`
}

// edit returns the edit that the flags ask for.
func (f integrationFlags) edit() (senders.Edit, error) {
	out := senders.Edit{DefaultPlan: f.Plan, Severity: f.Severity, RatePerMinute: f.Rate, ResolveAfter: f.ResolveAfter, CloseAfter: f.CloseAfter, Enabled: f.Enabled}
	return out, errors.Join(readJSON(f.Rules, &out.Rules), readJSON(f.Settings, &out.Settings))
}

// Run adds an integration. Standard output has only the address and the token.
func (c integrationAddCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	edit, err := c.edit()
	if err != nil {
		return err
	}
	n := senders.NewIntegration{Application: c.Application, Content: senders.Content{Name: c.Name, Type: c.Type, Enabled: true}}
	edit.Apply(&n.Content)
	token, err := s.Add(ctx, n)
	if err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stderr, "integration %s added; its address and token, which is shown only once:\n", c.Name)
	path, withToken := senders.Addresses(c.Type, token)
	fmt.Fprintf(e.stdout, "address: %s\ntoken: %s\n", path, token)
	if withToken != "" {
		fmt.Fprintf(e.stdout, "address with the token, for senders that can set no header: %s\n", withToken)
	}
	return nil
}

type integrationSetCommand struct {
	Name string `arg:"" help:"Name."`
	integrationFlags
}

// Run changes an integration.
func (c integrationSetCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	if c.integrationFlags == (integrationFlags{}) {
		return commands.Usagef("nothing to change: give at least one flag")
	}
	edit, err := c.edit()
	if err == nil {
		err = s.Set(ctx, c.Name, edit)
	}
	return e.done(err, "integration %s changed", c.Name)
}

// readJSON decodes a file. No file leaves the value.
func readJSON(file string, into any) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

type integrationListCommand struct{}

// Run lists the integrations.
func (integrationListCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	all, err := s.List(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tAPPLICATION\tPLAN\tENABLED\tACCEPTED\tREFUSED\tLAST DELIVERY")
	for _, i := range all {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%t\t%d\t%d\t%s\n", i.Name, i.Type, i.Application, i.DefaultPlan, i.Enabled, i.Activity.Accepted,
			i.Activity.Refused, senders.Moment(i.Activity.LastAcceptedAt))
	}
	return w.Flush()
}

type integrationShowCommand struct {
	Name     string `arg:"" help:"Name."`
	Payloads bool   `help:"Print the bodies of the latest deliveries too."`
}

// Run shows an integration.
func (c integrationShowCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	i, payloads, err := s.Show(ctx, c.Name)
	if err != nil {
		return err
	}
	senders.WriteIntegration(e.stdout, i, payloads, c.Payloads)
	return nil
}

type integrationPreviewCommand struct {
	Name        string `arg:"" help:"Name."`
	Payload     string `help:"File with a payload, - = standard input; without it, the latest delivery." placeholder:"FILE"`
	ContentType string `help:"Content-Type of the payload." placeholder:"TYPE"`
}

// Run prints the events of a payload.
func (c integrationPreviewCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	d := senders.Delivery{ContentType: c.ContentType, At: time.Now()}
	var err error
	switch c.Payload {
	case "":
	case "-":
		d.Body, err = io.ReadAll(e.stdin)
	default:
		d.Body, err = os.ReadFile(c.Payload)
	}
	if err != nil {
		return err
	}
	events, err := s.Preview(ctx, c.Name, d)
	if err != nil {
		return invalidIsUsage(err)
	}
	if len(events) == 0 {
		fmt.Fprintln(e.stdout, "the payload says nothing about an alert")
	}
	for k, p := range events {
		if k > 0 {
			fmt.Fprintln(e.stdout)
		}
		senders.WritePreview(e.stdout, p)
	}
	return nil
}

type integrationTokenCommand struct {
	Name    string `arg:"" help:"Name."`
	DropOld bool   `help:"Remove all tokens except the newest instead."`
}

// Run adds a token, or removes the old ones.
func (c integrationTokenCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	if c.DropOld {
		if err := s.DropOldTokens(ctx, c.Name); err != nil {
			return err
		}
		fmt.Fprintf(e.stderr, "integration %s: only its newest token is valid now\n", c.Name)
		return nil
	}
	token, path, err := s.AddToken(ctx, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "integration %s: a further token, which is shown only once. Change the sender, then remove the old one with --drop-old\n", c.Name)
	fmt.Fprintf(e.stdout, "address: %s\ntoken: %s\n", path, token)
	return nil
}

type integrationSecretCommand struct {
	Name  string `arg:"" help:"Name."`
	Clear bool   `help:"Remove all secrets: signatures are no longer checked."`
}

// Run reads one or two secrets from standard input, one per line.
func (c integrationSecretCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	var secrets []string
	if !c.Clear {
		raw, err := io.ReadAll(io.LimitReader(e.stdin, 4096))
		if err != nil {
			return fmt.Errorf("read the secrets: %w", err)
		}
		if secrets = strings.Fields(string(raw)); len(secrets) == 0 {
			return errors.New("no secret on standard input: give one or two lines, or --clear")
		}
	}
	if err := s.SetSecrets(ctx, c.Name, secrets); err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stderr, "integration %s: secrets replaced, now %d\n", c.Name, len(secrets))
	return nil
}

type integrationRemoveCommand struct {
	Name string `arg:"" help:"Name."`
}

// Run removes an integration.
func (c integrationRemoveCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	if err := s.Remove(ctx, c.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "integration %s removed\n", c.Name)
	return nil
}

type routeCommand struct {
	Test routeTestCommand `cmd:"" help:"Print which plan an event of an integration would use, and why. Nothing is opened."`
}

type routeTestCommand struct {
	Integration string            `arg:"" help:"Name of the integration."`
	Label       map[string]string `help:"A label of the event. May be repeated." placeholder:"NAME=VALUE"`
	Severity    string            `help:"Severity of the event."`
	Title       string            `help:"Title of the event."`
	At          string            `help:"When the event arrives; default: now." placeholder:"RFC3339"`
}

// Run prints the route.
func (c routeTestCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	at := time.Now()
	if c.At != "" {
		var err error
		if at, err = time.Parse(time.RFC3339, c.At); err != nil {
			return commands.Usagef("--at: %q is not like 2026-11-22T09:00:00Z", c.At)
		}
	}
	choice, err := s.TestRoute(ctx, c.Integration, senders.Event{Labels: c.Label, Title: c.Title, Severity: c.Severity}, at)
	senders.WriteRoute(e.stdout, choice)
	return err
}
