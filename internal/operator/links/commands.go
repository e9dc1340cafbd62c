package links

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"
)

// Commands are the commands.
type Commands struct {
	Link    linkCommand    `cmd:"" help:"Link accounts at an identity provider to users, so that they log in with them. Needs the database."`
	Links   linksCommand   `cmd:"" help:"List the linked accounts. Needs the database."`
	Unlink  unlinkCommand  `cmd:"" help:"Delete a link: the account logs nobody in, and its sessions end. Needs the database."`
	Refused refusedCommand `cmd:"" help:"List accounts whose log-in was refused because no user is linked. Needs the database."`

	RemoveFactor removeFactorCommand `cmd:"" help:"Remove the second factor of a user, who has lost it. Needs the database."`
}

// Streams are where commands write.
type Streams struct{ Out, Err io.Writer }

type linkCommand struct {
	Name     string `arg:"" optional:"" help:"Log-in name."`
	Provider string `help:"Provider, as named in auth.oidc of the configuration; proxy for the authenticating proxy." placeholder:"NAME"`
	Subject  string `help:"Subject (sub) of the account at the provider." placeholder:"SUBJECT"`
	File     string `help:"File with a line \"name,provider,subject\" for each account. All or none are linked." type:"existingfile" placeholder:"FILE"`
}

// Run links one account, or those of a file.
func (c linkCommand) Run(ctx context.Context, e Streams, l *Links) error {
	if c.File == "" {
		if c.Name == "" || c.Provider == "" || c.Subject == "" {
			return errors.New("give a name with --provider and --subject, or --file")
		}
		if err := l.Add(ctx, c.Name, c.Provider, c.Subject); err != nil {
			return err
		}
		fmt.Fprintf(e.Err, "%s can log in with the account %s of %s\n", c.Name, c.Subject, c.Provider)
		return nil
	}
	if c.Name != "" || c.Provider != "" || c.Subject != "" {
		return errors.New("give either a name with --provider and --subject, or --file")
	}
	f, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	n, err := l.AddAll(ctx, f)
	if err != nil {
		return fmt.Errorf("%s: nothing was linked: %w", c.File, err)
	}
	fmt.Fprintf(e.Err, "%d accounts linked\n", n)
	return nil
}

type linksCommand struct {
	Name string `arg:"" optional:"" help:"Log-in name; default: all users."`
}

// Run lists linked accounts.
func (c linksCommand) Run(ctx context.Context, e Streams, l *Links) error {
	found, err := l.List(ctx, c.Name)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tUSER\tPROVIDER\tSUBJECT\tLAST LOG-IN")
	for _, k := range found {
		last := "never"
		if !k.LastLoginAt.IsZero() {
			last = k.LastLoginAt.UTC().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", k.ID, k.User, k.Provider, k.Subject, last)
	}
	return w.Flush()
}

type unlinkCommand struct {
	Number int64 `arg:"" help:"Number of the link, as iris user links prints it."`
}

// Run deletes a link.
func (c unlinkCommand) Run(ctx context.Context, e Streams, l *Links) error {
	if err := l.Remove(ctx, c.Number); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "link %d deleted; its sessions have ended\n", c.Number)
	return nil
}

type refusedCommand struct{}

// Run lists refused accounts.
func (refusedCommand) Run(ctx context.Context, e Streams, l *Links) error {
	found, err := l.Refused(ctx)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tSUBJECT\tNAME\tE-MAIL\tATTEMPTS\tLAST\tREASON")
	for _, r := range found {
		fmt.Fprintf(w, "%s\t%s\t%q\t%q\t%d\t%s\t%s\n", r.Provider, r.Subject, r.Name, r.Email, r.Attempts, r.LastAt.UTC().Format(time.DateTime), r.Reason)
	}
	return w.Flush()
}

type removeFactorCommand struct {
	Name string `arg:"" help:"Log-in name."`
}

// Run removes the second factor of a user.
func (c removeFactorCommand) Run(ctx context.Context, e Streams, l *Links) error {
	name, err := l.RemoveFactor(ctx, c.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "%s has no second factor now; if the configuration requires one, the next log-in asks to set it up\n", name)
	return nil
}
