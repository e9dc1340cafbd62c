package messages

import (
	"net/http"

	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/messages"
)

// classes are the names of the classes of messages.
var classes = map[messages.Class]string{messages.ClassUrgent: "urgent", messages.ClassRoutine: "routine",
	messages.ClassOutOfBand: "out-of-band"}

var queueColumns = v0.Columns[messages.QueueDepth]{
	{"mode", func(d messages.QueueDepth) any { return d.Mode }},
	{"application", func(d messages.QueueDepth) any { return d.Application }},
	{"class", func(d messages.QueueDepth) any { return classes[d.Class] }},
	{"waiting", func(d messages.QueueDepth) any { return d.Waiting }},
	{"in_flight", func(d messages.QueueDepth) any { return d.InFlight }},
	{"oldest_seconds", func(d messages.QueueDepth) any { return float64(d.OldestAge.Milliseconds()) / 1000 }},
}

// list answers with the number of waiting messages by mode, application and class. Iris had no such route.
func (a queues) list(w http.ResponseWriter, r *http.Request) error {
	depths, err := a.Queues.Depths(r.Context())
	return v0.Answer(w, queueColumns.Records(depths), err)
}
