package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/internal/operator/senders"
)

type heartbeatCommand struct {
	Add    heartbeatAddCommand    `cmd:"" help:"Add a heartbeat: a signal whose absence opens an incident."`
	List   heartbeatListCommand   `cmd:"" help:"List heartbeats and their states."`
	Remove heartbeatRemoveCommand `cmd:"" help:"Remove a heartbeat. Its incidents stay."`
}

type heartbeatAddCommand struct {
	Integration string        `arg:"" help:"Integration of type heartbeat or opsgenie, whose token the pings have."`
	Name        string        `arg:"" optional:"" default:"default" help:"Name. Pings without a name are for the heartbeat named default."`
	Every       time.Duration `required:"" help:"Expected interval between two pings." placeholder:"5m"`
	Grace       time.Duration `help:"How much later a ping may come." default:"0s"`
	Plan        string        `help:"Plan of its incidents; without it, the integration routes them." placeholder:"NAME"`
	Severity    string        `help:"Severity: critical, error, warning or info; without it, that of the integration."`
	Description string        `help:"Text for the people who are paged."`
}

// Run adds a heartbeat. Its first interval begins with its first ping.
func (c heartbeatAddCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	err := s.AddHeartbeat(ctx, c.Integration, senders.Heartbeat{Name: c.Name, Description: c.Description, Every: c.Every, Grace: c.Grace, Plan: c.Plan}, c.Severity)
	if err != nil {
		return invalidIsUsage(err)
	}
	path, _ := senders.Addresses("heartbeat", "")
	if c.Name != senders.DefaultHeartbeat {
		path += "/" + c.Name
	}
	fmt.Fprintf(e.stderr, "heartbeat %s added; its first interval begins with its first ping\n", c.Name)
	fmt.Fprintf(e.stdout, "address: %s\n", path)
	return nil
}

type heartbeatListCommand struct {
	Integration string `arg:"" optional:"" help:"Integration; without it, all heartbeats are listed."`
}

// Run lists heartbeats.
func (c heartbeatListCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	all, reception, err := s.Heartbeats(ctx, c.Integration)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "INTEGRATION\tNAME\tSTATE\tEVERY\tGRACE\tPLAN\tLAST PING\tDEADLINE\tINCIDENT")
	for _, h := range all {
		deadline, incident := "", ""
		if at := h.Deadline(reception); !at.IsZero() {
			deadline = senders.Moment(at)
		}
		if h.Incident != 0 {
			incident = fmt.Sprint(h.Incident)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Integration, h.Name, h.State(), h.Every, h.Grace, h.Plan, senders.Moment(h.LastPingAt), deadline, incident)
	}
	return w.Flush()
}

type heartbeatRemoveCommand struct {
	Integration string `arg:"" help:"Integration."`
	Name        string `arg:"" help:"Name of the heartbeat."`
}

// Run removes a heartbeat.
func (c heartbeatRemoveCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	if err := s.RemoveHeartbeat(ctx, c.Integration, c.Name); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "heartbeat %s removed\n", c.Name)
	return nil
}
