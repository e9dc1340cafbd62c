package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/messages"
)

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

type clusterBody struct {
	Warning string
	Members []memberView
	Buckets []bucketView
	Owned   int
	Queues  []queueView
}

func (w *Web) showCluster(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	body, err := w.clusterBody(ctx)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	l, whole := w.views.live(rw, r, w.d.Log, "cluster-body", body)
	if !whole {
		return
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "cluster", struct {
		frame
		Live live
	}{w.frame(r, "Cluster", "cluster"), l})
}

func (w *Web) clusterBody(ctx context.Context) (clusterBody, error) {
	seen, err := w.d.Cluster.View(ctx)
	if err != nil {
		return clusterBody{}, err
	}
	depths, err := w.d.Queues.Depths(ctx)
	if err != nil {
		return clusterBody{}, err
	}
	var b clusterBody
	colour := map[string]int{}
	held := map[string]int{}
	for _, l := range seen.Leases {
		held[l.Owner]++
	}
	for i, m := range seen.Members {
		alive := m.Age < buckets.DefaultLimits().Fresh
		v := memberView{Short: short(m.ProcessID), Host: m.Host, Gossip: m.GossipAddr, Version: m.Version, Heartbeat: ago(m.Age),
			StartedAt: m.StartedAt, Buckets: held[m.ProcessID], Colour: i % 8, State: "alive", Chip: "delivered"}
		switch {
		case !alive:
			v.State, v.Chip = "silent", "failed"
		case m.Draining:
			v.State, v.Chip = "draining", "pending"
		}
		if alive {
			colour[m.ProcessID] = i % 8
		}
		b.Members = append(b.Members, v)
	}
	for n, l := range seen.Leases {
		v := bucketView{Number: n, Class: "nobody", Owner: "nobody owns it"}
		if c, ok := colour[l.Owner]; ok {
			v.Class, v.Owner = fmt.Sprintf("m%d", c), short(l.Owner)
			b.Owned++
		}
		b.Buckets = append(b.Buckets, v)
	}
	if missing := buckets.Count - b.Owned; missing > 0 {
		b.Warning = fmt.Sprintf("%d of %d buckets have no live owner: their incidents wait. A running processor takes them over within seconds; start one if there is none.", missing, buckets.Count)
	}
	classes := map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine", messages.ClassOutOfBand: "out of band"}
	for _, d := range depths {
		b.Queues = append(b.Queues, queueView{string(d.Mode), d.Application, classes[d.Class], ago(d.OldestAge), d.Waiting, d.InFlight})
	}
	return b, nil
}

func short(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}
