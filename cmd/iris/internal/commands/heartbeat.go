package commands

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Heartbeat is the group of commands about heartbeats.
type Heartbeat struct {
	Add    heartbeatAdd    `cmd:"" help:"Add a heartbeat: a signal whose absence opens an incident."`
	List   heartbeatList   `cmd:"" help:"List heartbeats and their states."`
	Remove heartbeatRemove `cmd:"" help:"Remove a heartbeat. Its incidents stay."`
}

// heartbeat is a heartbeat of an answer.
type heartbeat struct {
	Integration  string    `json:"integration"`
	Name         string    `json:"name"`
	State        string    `json:"state"`
	EverySeconds int64     `json:"every_seconds"`
	GraceSeconds int64     `json:"grace_seconds"`
	Plan         string    `json:"plan"`
	LastPingAt   time.Time `json:"last_ping_at"`
	Deadline     time.Time `json:"deadline"`
	Incident     int64     `json:"incident_id"`
	LastRun      *float64  `json:"last_run_seconds"`
}

// unnamedHeartbeat is the name of the heartbeat that a ping without a name is for.
const unnamedHeartbeat = "default"

func heartbeatPath(integration, name string) string {
	return "/v1/integrations/" + url.PathEscape(integration) + "/heartbeats/" + url.PathEscape(name)
}

type heartbeatAdd struct {
	remote.Flags
	Integration string        `arg:"" help:"Integration of type heartbeat or opsgenie, whose token the pings have."`
	Name        string        `arg:"" optional:"" default:"default" help:"Name. Pings without a name are for the heartbeat named default."`
	Every       time.Duration `required:"" help:"Expected interval between two pings." placeholder:"5m"`
	Grace       time.Duration `help:"How much later a ping may come." default:"0s"`
	Plan        string        `help:"Plan of its incidents; without it, the integration routes them." placeholder:"NAME"`
	Severity    string        `help:"Severity: critical, error, warning or info; without it, that of the integration."`
	Description string        `help:"Text for the people who are paged."`
}

// Run adds a heartbeat. Its first interval begins with its first ping.
func (c heartbeatAdd) Run(ctx context.Context, e remote.Env) error {
	body := map[string]any{"every_seconds": int64(math.Ceil(c.Every.Seconds())),
		"grace_seconds": int64(math.Ceil(c.Grace.Seconds())), "plan": c.Plan,
		"severity": c.Severity, "description": c.Description}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	if err := create(ctx, api, heartbeatPath(c.Integration, c.Name), body, nil, "a heartbeat named "+c.Name); err != nil {
		return err
	}
	path := "/v1/hooks/heartbeat"
	if c.Name != unnamedHeartbeat {
		path += "/" + url.PathEscape(c.Name)
	}
	fmt.Fprintf(e.Err, "heartbeat %s added; its first interval begins with its first ping\n", c.Name)
	return e.Done(nil, "address: %s", path)
}

type heartbeatList struct {
	remote.Flags
	Integration string `arg:"" optional:"" help:"Integration; without it, all heartbeats are listed."`
}

// Run lists heartbeats.
func (c heartbeatList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	path := "/v1/heartbeats"
	if c.Integration != "" {
		path = "/v1/integrations/" + url.PathEscape(c.Integration) + "/heartbeats"
	}
	all, err := client.All[heartbeat](ctx, api, path+"?limit=500")
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "INTEGRATION\tNAME\tSTATE\tEVERY\tGRACE\tPLAN\tLAST PING\tLAST RUN\tDEADLINE\tINCIDENT")
	for _, h := range all {
		deadline, incident, run := "", "", ""
		if h.LastRun != nil {
			run = time.Duration(*h.LastRun * float64(time.Second)).Round(time.Millisecond).String()
		}
		if !h.Deadline.IsZero() {
			deadline = text.Moment(h.Deadline)
		}
		if h.Incident != 0 {
			incident = fmt.Sprint(h.Incident)
		}
		if err := text.Row(w, h.Integration, h.Name, h.State, text.Seconds(h.EverySeconds), text.Seconds(h.GraceSeconds),
			h.Plan, text.Moment(h.LastPingAt), run, deadline, incident); err != nil {
			return err
		}
	}
	return w.Flush()
}

type heartbeatRemove struct {
	remote.Flags
	Integration string `arg:"" help:"Integration."`
	Name        string `arg:"" help:"Name of the heartbeat."`
}

// Run removes a heartbeat.
func (c heartbeatRemove) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err == nil {
		err = api.Do(ctx, http.MethodDelete, heartbeatPath(c.Integration, c.Name), nil, nil)
	}
	if err == nil {
		fmt.Fprintf(e.Err, "heartbeat %s removed\n", c.Name)
	}
	return err
}
