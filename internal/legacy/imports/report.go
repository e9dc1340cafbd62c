package imports

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Kind is the severity of a reason.
type Kind string

// The kinds of reasons, the worst first.
const (
	Conflict Kind = "conflict"  // the row contradicts existing data: nothing is written
	NotTaken Kind = "not taken" // the row or a value of it is lost
	Note     Kind = "note"      // the row was imported, with a remark
)

// maxExamples is how many rows a reason names.
const maxExamples = 5

// Reason explains the result of some rows of a class.
type Reason struct {
	Kind     Kind     `json:"kind"`
	Text     string   `json:"reason"`
	Rows     int64    `json:"rows"`
	Examples []string `json:"examples,omitempty"`
	// Whole: whole rows were not imported, not only a value.
	Whole bool `json:"whole_rows,omitempty"`
}

// Class is a kind of rows, with its counts.
type Class struct {
	Name     string   `json:"name"`
	Read     int64    `json:"read"`
	Taken    int64    `json:"taken"`
	Same     int64    `json:"already_here"`
	NotTaken int64    `json:"not_taken"`
	Reasons  []Reason `json:"reasons,omitempty"`
}

// Report is the result of an import for every row. It is used by one goroutine.
type Report struct {
	From    string   `json:"from"` // address without password
	DryRun  bool     `json:"dry_run"`
	Written bool     `json:"written"`
	Seconds float64  `json:"seconds"`
	Classes []*Class `json:"classes"`
	// OnCall compares who is on call there and here; nil = not compared.
	OnCall *Comparison `json:"on_call,omitempty"`

	progress func(class string, rows int64)
	reported time.Time // last call of progress
}

// NewReport returns an empty report. progress, if not nil, is called at most once a second with the number of rows of a
// class read so far.
func NewReport(from string, progress func(class string, rows int64)) *Report {
	return &Report{From: from, Classes: []*Class{}, progress: progress, reported: time.Now()}
}

// Class returns the class of that name and creates it if needed.
func (r *Report) Class(name string) *Class {
	for _, c := range r.Classes {
		if c.Name == name {
			return c
		}
	}
	c := &Class{Name: name}
	r.Classes = append(r.Classes, c)
	return c
}

// Tick calls progress, at most once a second.
func (r *Report) Tick(class string, rows int64) {
	if r.progress == nil || time.Since(r.reported) < time.Second {
		return
	}
	r.reported = time.Now()
	r.progress(class, rows)
}

// AddReason adds a reason. Reasons with the same text are counted together.
func (c *Class) AddReason(r Reason) {
	if r.Whole && r.Kind == NotTaken {
		c.NotTaken += r.Rows
	}
	for i := range c.Reasons {
		have := &c.Reasons[i]
		if have.Kind == r.Kind && have.Text == r.Text {
			have.Rows += r.Rows
			for _, e := range r.Examples {
				if len(have.Examples) < maxExamples {
					have.Examples = append(have.Examples, e)
				}
			}
			return
		}
	}
	c.Reasons = append(c.Reasons, r)
}

// AddOutcome adds the result of a Load.
func (c *Class) AddOutcome(o Outcome) {
	c.Taken += o.Taken
	c.Same += o.Same
	for _, r := range o.Reasons {
		c.AddReason(r)
	}
}

// AddAll adds the result of rows that were not read with Source.Rows.
func (c *Class) AddAll(o Outcome) {
	c.Read += o.Read
	c.AddOutcome(o)
}

// count returns the number of rows with reasons of a kind.
func (r *Report) count(kind Kind) (n int64) {
	for _, c := range r.Classes {
		for _, reason := range c.Reasons {
			if reason.Kind == kind {
				n += reason.Rows
			}
		}
	}
	return n
}

// Conflicts returns how many rows contradict existing data.
func (r *Report) Conflicts() int64 { return r.count(Conflict) }

// Lost returns how many rows or values were not imported.
func (r *Report) Lost() int64 { return r.count(NotTaken) }

// Taken returns how many rows are new here.
func (r *Report) Taken() (n int64) {
	for _, c := range r.Classes {
		n += c.Taken
	}
	return n
}

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%-28s %12s %12s %12s %12s\n", "", "read", "taken", "already here", "not taken")
	for _, c := range r.Classes {
		fmt.Fprintf(&b, "%-28s %12d %12d %12d %12d\n", c.Name, c.Read, c.Taken, c.Same, c.NotTaken)
	}
	for _, part := range []struct {
		kind  Kind
		title string
	}{{Conflict, "Conflicts with existing data"}, {NotTaken, "Not taken"}, {Note, "Notes"}} {
		r.writePart(&b, part.kind, part.title)
	}
	r.OnCall.write(&b)
	b.WriteString("\n" + r.Sentence() + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) writePart(b *strings.Builder, kind Kind, title string) {
	if r.count(kind) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, c := range r.Classes {
		for _, reason := range c.Reasons {
			if reason.Kind != kind {
				continue
			}
			fmt.Fprintf(b, "- %s, %d: %s\n", c.Name, reason.Rows, reason.Text)
			for _, e := range reason.Examples {
				fmt.Fprintf(b, "    %s\n", e)
			}
		}
	}
}

// Sentence is the summary.
func (r *Report) Sentence() string {
	lost := r.Lost()
	switch {
	case r.Conflicts() > 0:
		return "Nothing was written: see the conflicts."
	case r.DryRun && r.Taken() == 0 && lost == 0:
		return "Dry run: nothing was written, and there would be nothing to write."
	case r.DryRun && lost > 0:
		return fmt.Sprintf("Dry run: nothing was written. %d rows would be new here; %d rows or values would be lost.",
			r.Taken(), lost)
	case r.DryRun:
		return fmt.Sprintf("Dry run: nothing was written. %d rows would be new here; nothing would be lost.", r.Taken())
	case r.Taken() == 0 && lost == 0:
		return "Everything was here already; nothing was changed."
	case r.Taken() == 0:
		return fmt.Sprintf("Nothing was new here. %d rows or values were not taken.", lost)
	case lost > 0:
		return fmt.Sprintf("%d rows are new here. %d rows or values were not taken.", r.Taken(), lost)
	}
	return fmt.Sprintf("%d rows are new here; nothing was lost.", r.Taken())
}

// Tidy sorts the reasons of each class by severity and deletes classes without rows and reasons.
func (r *Report) Tidy() {
	r.Classes = slices.DeleteFunc(r.Classes, func(c *Class) bool {
		return c.Read == 0 && c.Taken == 0 &&
			len(c.Reasons) == 0
	})
	rank := []Kind{Conflict, NotTaken, Note}
	for _, c := range r.Classes {
		slices.SortStableFunc(c.Reasons,
			func(a, b Reason) int { return slices.Index(rank, a.Kind) - slices.Index(rank, b.Kind) })
	}
}
