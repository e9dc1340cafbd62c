package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Integration is the group of commands about integrations.
type Integration struct {
	Add     integrationAdd     `cmd:"" help:"Add an integration: a sender of alerts. Prints its address and token, once."`
	List    integrationList    `cmd:"" help:"List the integrations."`
	Show    integrationShow    `cmd:"" help:"Show an integration, its last refusal and its latest payloads."`
	Token   integrationToken   `cmd:"" help:"Add a second token and print it once, or remove the old one."`
	Secret  integrationSecret  `cmd:"" help:"Set or remove the secrets that check the signatures of deliveries."`
	Set     integrationSet     `cmd:"" help:"Change settings of an integration. What no flag names stays."`
	Preview integrationPreview `cmd:"" help:"Print what a payload would do: its events, the rule and the plan. Nothing is opened."`
	Recipes integrationRecipes `cmd:"" help:"List the senders whose payloads and mails are known."`
	Remove  integrationRemove  `cmd:"" help:"Remove an integration. Its tokens become invalid at once; its incidents stay."`
}

// integrationName is the argument of commands about one integration.
type integrationName struct {
	remote.Flags
	Name string `arg:"" help:"Name."`
}

func (c integrationName) path() string { return "/v1/integrations/" + url.PathEscape(c.Name) }

// do sends a request about the integration. suffix is the rest of its path, such as /token; "" = the integration itself.
func (c integrationName) do(ctx context.Context, e remote.Env, method, suffix string, in, out any) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	return api.Do(ctx, method, c.path()+suffix, in, out)
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
	Recipe       *string        `help:"Recipe that reads the payloads of a generic, email or sns integration; none = none. Without it, the one that recognises a payload." placeholder:"NAME"`
	Rules        string         `help:"File with the routing rules, a JSON array. The first rule that matches wins." type:"existingfile" placeholder:"FILE"`
}

// addTo adds the settings that the flags give to the body of a request.
func (f integrationFlags) addTo(body map[string]any) error {
	for name, value := range map[string]*string{"default_plan": f.Plan, "default_severity": f.Severity} {
		if value != nil {
			body[name] = *value
		}
	}
	for name, d := range map[string]*time.Duration{"resolve_after_seconds": f.ResolveAfter, "close_after_seconds": f.CloseAfter} {
		if d != nil {
			body[name] = int64(math.Ceil(d.Seconds()))
		}
	}
	if f.Rate != nil {
		body["rate_per_minute"] = *f.Rate
	}
	if f.Enabled != nil {
		body["enabled"] = *f.Enabled
	}
	if err := errors.Join(readJSON(f.Settings, body, "settings"), readJSON(f.Rules, body, "rules")); err != nil || f.Recipe == nil {
		return err
	}
	settings, _ := body["settings"].(map[string]any)
	if settings == nil {
		settings = map[string]any{}
	}
	settings["recipe"] = *f.Recipe
	body["settings"] = settings
	return nil
}

// readJSON adds the content of a file to a body. No file adds nothing.
func readJSON(file string, body map[string]any, name string) error {
	if file == "" {
		return nil
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	body[name] = value
	return nil
}

type integrationAdd struct {
	integrationName
	Type        string `required:"" help:"What sends the alerts: alertmanager, datadog, email, generic, grafana, heartbeat, nagios, opsgenie, pagerduty, sentry, sns, uptime_kuma or zabbix."`
	Application string `required:"" help:"Application that the incidents belong to." placeholder:"NAME"`
	integrationFlags
}

// Run adds an integration. Standard output has only the address and the token.
func (c integrationAdd) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{"type": c.Type, "application": c.Application}
	if err := c.addTo(body); err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var made text.Integration
	if err := create(ctx, api, c.path(), body, &made, "an integration named "+c.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "integration %s added; its address and token, which is shown only once:\n", c.Name)
	fmt.Fprintf(e.Out, "address: %s\ntoken: %s\n", made.Address, made.Token)
	if withToken := made.AddressWithToken(); withToken != "" {
		fmt.Fprintf(e.Out, "address with the token, for senders that can set no header: %s\n", withToken)
	}
	return nil
}

// create stores a new object. An error names an object that exists already by the description.
func create(ctx context.Context, api *client.Client, path string, body, made any, description string) error {
	err := api.With("If-None-Match", "*").Do(ctx, http.MethodPut, path, body, made)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusPreconditionFailed {
		return fmt.Errorf("%s exists already", description)
	}
	return err
}

type integrationSet struct {
	integrationName
	integrationFlags
}

// Run changes an integration.
func (c integrationSet) Run(ctx context.Context, e remote.Env) error {
	if c.integrationFlags == (integrationFlags{}) {
		return remote.Usagef("nothing to change: give at least one flag")
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	var found map[string]any
	err = api.Edit(ctx, c.path(), &found, func() (any, error) {
		body := map[string]any{}
		for _, name := range []string{"default_plan", "default_severity", "rules", "settings", "rate_per_minute", "enabled", "resolve_after_seconds", "close_after_seconds"} {
			if found[name] != nil {
				body[name] = found[name]
			}
		}
		return body, c.addTo(body)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "integration %s changed\n", c.Name)
	return nil
}

type integrationList struct{ remote.Flags }

// Run lists the integrations.
func (c integrationList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	all, err := client.All[text.Integration](ctx, api, "/v1/integrations?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tAPPLICATION\tPLAN\tENABLED\tACCEPTED\tREFUSED\tLAST DELIVERY")
	for _, i := range all {
		if err := text.Row(w, i.Name, i.Type, i.Application, i.DefaultPlan, fmt.Sprint(i.Enabled),
			fmt.Sprint(i.Activity.Accepted), fmt.Sprint(i.Activity.Refused),
			text.Moment(i.Activity.LastAcceptedAt)); err != nil {
			return err
		}
	}
	return w.Flush()
}

type integrationShow struct {
	integrationName
	Payloads bool `help:"Print the bodies of the latest deliveries too."`
}

// Run shows an integration. The latest deliveries are shown to those who may change it.
func (c integrationShow) Run(ctx context.Context, e remote.Env) error {
	var i text.Integration
	if err := c.do(ctx, e, http.MethodGet, "", nil, &i); err != nil {
		return err
	}
	var latest struct{ Items []text.Payload }
	err := c.do(ctx, e, http.MethodGet, "/payloads", nil, &latest)
	var refused *client.Error
	if errors.As(err, &refused) && refused.Status == http.StatusForbidden && !c.Payloads {
		err = nil
	}
	if err != nil {
		return err
	}
	i.Write(e.Out)
	for _, p := range latest.Items {
		fmt.Fprintf(e.Out, "%s %s\n", text.Moment(p.At), p.Outcome)
		if c.Payloads {
			fmt.Fprintf(e.Out, "%s\n", p.Body)
		}
	}
	return nil
}

type integrationPreview struct {
	integrationName
	Payload     string `help:"File with a payload, - = standard input; without it, the latest delivery." placeholder:"FILE"`
	ContentType string `help:"Content-Type of the payload." placeholder:"TYPE"`
	Sample      string `help:"A sample of a recipe instead." placeholder:"RECIPE[/SAMPLE]"`
}

// Run prints the events of a payload.
func (c integrationPreview) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{}
	if c.ContentType != "" {
		body["content_type"] = c.ContentType
	}
	if c.Sample != "" {
		recipe, name, _ := strings.Cut(c.Sample, "/")
		body["sample"] = map[string]string{"recipe": recipe, "name": name}
	}
	var raw []byte
	var err error
	switch c.Payload {
	case "":
	case "-":
		raw, err = io.ReadAll(e.In)
	default:
		raw, err = os.ReadFile(c.Payload)
	}
	if err != nil {
		return err
	}
	if c.Payload != "" {
		body["payload"] = string(raw)
	}
	var events struct {
		Items []text.Previewed `json:"items"`
	}
	if err := c.do(ctx, e, http.MethodPost, "/preview", body, &events); err != nil {
		return err
	}
	if len(events.Items) == 0 {
		fmt.Fprintln(e.Out, "the payload says nothing about an alert")
	}
	for k, p := range events.Items {
		if k > 0 {
			fmt.Fprintln(e.Out)
		}
		p.Write(e.Out)
	}
	return nil
}

type integrationRecipes struct{ remote.Flags }

// Run lists the recipes.
func (c integrationRecipes) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	all, err := client.All[struct {
		Name, Label, About string
		Webhook, Mail      bool
	}](ctx, api, "/v1/recipes?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPES\tSENDER\tABOUT")
	for _, r := range all {
		var types []string
		if r.Webhook {
			types = append(types, "generic")
		}
		if r.Mail {
			types = append(types, "email")
		}
		if err := text.Row(w, r.Name, strings.Join(types, ","), r.Label, r.About); err != nil {
			return err
		}
	}
	return w.Flush()
}

type integrationToken struct {
	integrationName
	DropOld bool `help:"Remove all tokens except the newest instead."`
}

// Run adds a token, or removes the old ones.
func (c integrationToken) Run(ctx context.Context, e remote.Env) error {
	if c.DropOld {
		if err := c.do(ctx, e, http.MethodDelete, "/token", nil, nil); err != nil {
			return err
		}
		fmt.Fprintf(e.Err, "integration %s: only its newest token is valid now\n", c.Name)
		return nil
	}
	var made text.Integration
	if err := c.do(ctx, e, http.MethodPut, "/token", nil, &made); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "integration %s: a further token, which is shown only once. Change the sender, then remove the old one with --drop-old\n", c.Name)
	return e.Done(nil, "address: %s\ntoken: %s", made.Address, made.Token)
}

type integrationSecret struct {
	integrationName
	Clear bool `help:"Remove all secrets: signatures are no longer checked."`
}

// Run reads one or two secrets from standard input, one per line.
func (c integrationSecret) Run(ctx context.Context, e remote.Env) error {
	secrets := []string{}
	if !c.Clear {
		raw, err := io.ReadAll(io.LimitReader(e.In, 4096))
		if err != nil {
			return fmt.Errorf("read the secrets: %w", err)
		}
		if secrets = strings.Fields(string(raw)); len(secrets) == 0 {
			return errors.New("no secret on standard input: give one or two lines, or --clear")
		}
	}
	if err := c.do(ctx, e, http.MethodPut, "/secrets", map[string]any{"secrets": secrets}, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "integration %s: secrets replaced, now %d\n", c.Name, len(secrets))
	return nil
}

type integrationRemove struct{ integrationName }

// Run removes an integration.
func (c integrationRemove) Run(ctx context.Context, e remote.Env) error {
	if err := c.do(ctx, e, http.MethodDelete, "", nil, nil); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "integration %s removed\n", c.Name)
	return nil
}
