package sources

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/golden"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/recipes"
)

// TestSamplesOfRecipes tries each sample: what it becomes, that only its recipe recognises it, and that the alert that
// it resolves has the key of the one that fired.
func TestSamplesOfRecipes(t *testing.T) {
	t.Parallel()
	book := builtin
	for _, r := range book.All() {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, TrySamples(book, r))
			fired := map[string]bool{}
			for _, s := range r.Samples {
				decode := Generic(book)
				if s.Mail {
					decode = Email(book)
				}
				events, err := decode(SampleRequest(s))
				require.NoError(t, err, s.Name)
				for _, e := range events {
					require.NotEmpty(t, e.Key, s.Name)
					if e.Status == intake.Firing {
						require.NotEmpty(t, e.Title, s.Name)
						fired[e.Key] = true
					} else {
						require.True(t, fired[e.Key], "sample %s: no sample before it fires with the key %q", s.Name, e.Key)
					}
				}
			}
		})
	}
}

// TestReferenceOfSenders compares the list of senders with the recipes.
func TestReferenceOfSenders(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Senders that Iris knows

A [recipe](../integrations.md#recipes) for each of these senders says where title, key, state, severity and labels are in its payloads. This page is made from
the recipes. ADDRESS and WITHTOKEN stand for the address of an integration without and with its token.

| sender | recipe | integrations of type |
|---|---|---|
`)
	all := builtin.All()
	doors := func(r *recipes.Recipe) string {
		var out []string
		if len(r.Webhook) > 0 {
			out = append(out, "generic")
		}
		if len(r.Mail) > 0 {
			out = append(out, "email")
		}
		return strings.Join(out, ", ")
	}
	for _, r := range all {
		fmt.Fprintf(&b, "| [%s](#%s) | `%s` | %s |\n", r.Label, r.Name, r.Name, doors(r))
	}
	for _, r := range all {
		fmt.Fprintf(&b, "\n<a id=\"%s\"></a>\n\n## %s\n\n%s\n", r.Name, r.Label, r.About)
		for _, text := range []string{r.Setup, r.MailSetup} {
			if text = strings.TrimSpace(text); text != "" {
				fmt.Fprintf(&b, "\n~~~\n%s\n~~~\n", text)
			}
		}
		if r.Unresolved != "" {
			fmt.Fprintf(&b, "\nNothing resolves its incidents: %s\n", r.Unresolved)
		}
		b.WriteString("\n| sample | comes from | becomes |\n|---|---|---|\n")
		for _, s := range r.Samples {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(s.Name), cell(s.From), cell(becomes(s)))
		}
	}
	golden.Equal(t, "../../../docs/reference/senders.md", b.String(), "go test ./internal/intake/sources -run TestReferenceOfSenders -update")
}

// becomes describes the events of a sample.
func becomes(s recipes.Sample) string {
	var out []string
	for _, e := range s.Events {
		out = append(out, strings.Join(strings.Fields(string(e.Status)+" "+string(e.Severity)+" "+e.Title), " "))
	}
	if out == nil {
		return "nothing: it says nothing about an alert"
	}
	return strings.Join(out[:min(len(out), 3)], "; ")
}

// cell returns a text as a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}
