// Package cluster serves the page that shows the message processors, the buckets and the queues. The web site mounts it.
package cluster

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/humanize"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Members returns the running processes and the owners of the buckets, from the database.
type Members interface {
	View(ctx context.Context) (buckets.View, error)
}

// Queues returns the number of messages that wait for delivery.
type Queues interface {
	Depths(ctx context.Context) ([]messages.QueueDepth, error)
}

// Deps are the parts that the page works on.
type Deps struct {
	Members Members
	Queues  Queues
}

// Handlers serves the page. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the page.
func (h Handlers) Routes(r chi.Router) { page.Get(r, "/cluster", h.show) }

type memberView struct {
	Short, Host, Gossip, Version, Heartbeat, State, Chip string
	StartedAt                                            time.Time
	Buckets, Colour                                      int
}

type bucketView struct {
	Number       int
	Class, Owner string
}

type queueView struct {
	Mode, Application, Class, Oldest string
	Waiting, InFlight                int64
}

type bodyView struct {
	Warning string
	Members []memberView
	Buckets []bucketView
	Owned   int
	Queues  []queueView
}

func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	body, err := h.body(r.Context())
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	live, whole := h.Pages.Live(rw, r, "cluster-body", body)
	if !whole {
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "cluster", struct {
		page.Frame
		Live page.Live
	}{h.Pages.Frame(r, "Cluster", "cluster"), live})
}

func (h Handlers) body(ctx context.Context) (bodyView, error) {
	cluster, err := h.Members.View(ctx)
	if err != nil {
		return bodyView{}, err
	}
	depths, err := h.Queues.Depths(ctx)
	if err != nil {
		return bodyView{}, err
	}
	var b bodyView
	colour := map[string]int{} // of the running members
	owned := map[string]int{}
	for _, l := range cluster.Leases {
		owned[l.Owner]++
	}
	for i, m := range cluster.Members {
		v := memberView{Short: short(m.ProcessID), Host: m.Host, Gossip: m.GossipAddr, Version: m.Version, Heartbeat: humanize.Age(m.Age),
			StartedAt: m.StartedAt, Buckets: owned[m.ProcessID], Colour: i % 8, State: "running", Chip: "delivered"}
		running := m.Age < buckets.DefaultLimits().Fresh
		switch {
		case !running:
			v.State, v.Chip = "no heartbeat", "failed"
		case m.Draining:
			v.State, v.Chip = "stopping", "pending"
		}
		if running {
			colour[m.ProcessID] = v.Colour
		}
		b.Members = append(b.Members, v)
	}
	for n, l := range cluster.Leases {
		v := bucketView{Number: n, Class: "unowned", Owner: "no running owner"}
		if c, ok := colour[l.Owner]; ok {
			v.Class, v.Owner = fmt.Sprintf("m%d", c), short(l.Owner)
			b.Owned++
		}
		b.Buckets = append(b.Buckets, v)
	}
	if missing := buckets.Count - b.Owned; missing > 0 {
		b.Warning = fmt.Sprintf("%d of %d buckets have no running owner. Their incidents page nobody until a processor takes the buckets over, usually within seconds. "+
			"If no processor is running, start one.", missing, buckets.Count)
	}
	classes := map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine", messages.ClassOutOfBand: "out of band"}
	for _, d := range depths {
		b.Queues = append(b.Queues, queueView{string(d.Mode), d.Application, classes[d.Class], humanize.Age(d.OldestAge), d.Waiting, d.InFlight})
	}
	return b, nil
}

func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}
