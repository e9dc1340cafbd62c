package recipes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/jinja"
)

// Reading is what a recipe found in a payload.
type Reading struct {
	Use     intake.RecipeUse
	Facts   intake.Facts
	Payload []byte // the inner payload, without its envelope
}

// Webhook reads a JSON object that a webhook received at the given time. It uses the named recipe. Without a name, it
// uses the only recipe that recognises the payload. It returns false if no recipe was used. Facts.Failures then says why,
// for example that two recipes recognise the payload.
func (b *Book) Webhook(name string, payload []byte, at time.Time) (Reading, bool) {
	return b.read(name, payload, at, func(r *Recipe) []Shape { return r.Webhook })
}

// Mail does the same for a mail. The payload has the members subject, sender, body, headers and addresses.
func (b *Book) Mail(name string, payload []byte, at time.Time) (Reading, bool) {
	return b.read(name, payload, at, func(r *Recipe) []Shape { return r.Mail })
}

// maxEnvelopes is the largest number of nested envelopes.
const maxEnvelopes = 3

// found is a shape that fits.
type found struct {
	recipe *Recipe
	shape  *Shape
	groups []jinja.Field
	paths  []string
}

func (b *Book) read(name string, payload []byte, at time.Time, shapes func(*Recipe) []Shape) (out Reading, ok bool) {
	if name == intake.NoRecipe {
		return out, false
	}
	candidates := b.sorted
	if name != "" {
		r, known := b.byName[name]
		if !known {
			return refused("the recipe %q does not exist, so the delivery is read without a recipe: check the settings", name), false
		}
		candidates = []*Recipe{r}
	}
	for depth := 0; ; depth++ {
		vars, err := jinja.DecodeVars(payload)
		if err != nil {
			return out, ok
		}
		fits := fitting(candidates, vars, shapes)
		switch {
		case len(fits) > 1:
			out.Facts.Failures = append(out.Facts.Failures, intake.Failure{
				Reason: "the recipes " + names(fits) + " all recognise the delivery or what is inside it, so none of them is used: name one in the settings"})
			return out, ok
		case len(fits) == 0 && name != "" && !ok:
			return refused("the delivery does not match the recipe %q, so it is read without a recipe", name), false
		case len(fits) == 0:
			return out, ok
		}
		f := fits[0]
		inside, wrapped := vars.At(f.shape.Inside)
		vars.Set("match", f.groups)
		vars.Set("delivery", []jinja.Field{{Name: "received", Value: at.UTC().Format("2006-01-02T15:04:05.000Z")}})
		out, ok = Reading{Use: intake.RecipeUse{Name: f.recipe.Name, Label: f.recipe.Label,
			Why: "it has the members " + strings.Join(f.paths, ", ")}, Facts: f.shape.FindIn(vars), Payload: payload}, true
		// An expression of a recipe may find nothing.
		out.Facts.Failures = slices.DeleteFunc(out.Facts.Failures, func(f intake.Failure) bool { return f.Empty })
		if f.shape.Inside == "" || !wrapped || depth >= maxEnvelopes {
			return out, ok
		}
		content, isObject := member(payload, f.shape.Inside, inside)
		if !isObject {
			return out, ok
		}
		payload, candidates = content, b.sorted
		out.Payload = payload
	}
}

func refused(format, name string) Reading {
	reason := strings.Replace(format, "%q", name, 1)
	return Reading{Facts: intake.Facts{Failures: []intake.Failure{{Reason: reason}}}}
}

func fitting(candidates []*Recipe, payload jinja.Vars, shapes func(*Recipe) []Shape) (out []found) {
	for _, r := range candidates {
		for k := range shapes(r) {
			shape := &shapes(r)[k]
			if groups, paths, ok := shape.fit(payload); ok {
				out = append(out, found{r, shape, groups, paths})
				break
			}
		}
	}
	// A recipe for the payload takes precedence over one for any envelope of that kind.
	if proper := slices.DeleteFunc(slices.Clone(out), func(f found) bool { return f.shape.Inside != "" }); len(proper) > 0 {
		return proper
	}
	return out
}

func names(all []found) string {
	var out []string
	for _, f := range all {
		out = append(out, f.recipe.Name)
	}
	return strings.Join(out, ", ")
}

// member returns the object at a path: the member itself, or the JSON in its text.
func member(payload []byte, path, text string) ([]byte, bool) {
	raw := json.RawMessage(payload)
	for name := range strings.SplitSeq(path, ".") {
		var in map[string]json.RawMessage
		if json.Unmarshal(raw, &in) != nil {
			return nil, false
		}
		raw = in[name]
	}
	for _, candidate := range [][]byte{raw, []byte(text)} {
		var object map[string]json.RawMessage
		if json.Unmarshal(candidate, &object) == nil && len(object) > 0 {
			return candidate, true
		}
	}
	return nil, false
}
