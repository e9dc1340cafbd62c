package hooks

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// AlertReads reads alerts.
type AlertReads interface {
	AlertOfKey(ctx context.Context, of intake.Integration, key string) (intake.Alert, error)
	Alert(ctx context.Context, of intake.ID, incident int64) (intake.Alert, error)
	Alerts(ctx context.Context, of intake.ID, q intake.AlertQuery) ([]intake.Alert, error)
	CountAlerts(ctx context.Context, of intake.ID, q intake.AlertQuery) (int, error)
}

// The limits of lists: alerts of a page, the largest page, and the largest offset and limit together. Counts end at
// maxCounted.
const (
	pageOfAlerts = 20
	maxAlerts    = 100
	maxOffset    = 20_000
	maxCounted   = 100_000
)

// readAlerts returns the handler of a read: work returns the data of the answer.
func (h *Hooks) readAlerts(work func(a *alertRequest) (data any, err error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		a := h.beginAlert(w, r, wire.MaxBody)
		var data any
		if a.err == nil {
			data, a.err = work(a)
		}
		if a.err != nil {
			a.refuse()
			return
		}
		answerAlert(w, http.StatusOK, struct {
			Data   any          `json:"data"`
			Paging *alertPaging `json:"paging,omitempty"`
			envelope
		}{data, a.paging, newEnvelope(a.begun, requestID('r', alertDone, 0, a.begun))})
	}
}

// alert returns the alert of the path, or a part of it if the last segment names one.
func (a *alertRequest) alert() (any, error) {
	path := strings.TrimPrefix(a.r.URL.EscapedPath(), alertsPath+"/")
	cut := max(strings.LastIndexByte(path, '/'), 0)
	part, known := alertParts()[strings.TrimPrefix(path[cut:], "/")]
	if known = known && cut > 0; known {
		path = path[:cut]
	}
	identifier, err := url.PathUnescape(path)
	if err != nil || !wire.Storable(identifier) {
		return nil, fault.Invalidf("identifier", "name the alert by its id, alias or tiny id")
	}
	found, err := a.find(a.r.Context(), identifier)
	if err == nil && known {
		return part(a, found)
	}
	return shownAlert(a.d.from, found), err
}

// list returns alerts of the integration, newest first.
func (a *alertRequest) list() (any, error) {
	q, err := readAlertQuery(a.r.URL.Query())
	if err != nil {
		return nil, err
	}
	found, err := a.d.h.d.Alerts.Alerts(a.r.Context(), a.d.from.ID, q)
	data := make([]map[string]any, len(found))
	for k, alert := range found {
		data[k] = shownAlert(a.d.from, alert)
	}
	return data, err
}

func (a *alertRequest) count() (any, error) {
	q, err := readAlertQuery(a.r.URL.Query())
	if err != nil {
		return nil, err
	}
	q.Limit, q.Offset = maxCounted, 0
	n, err := a.d.h.d.Alerts.CountAlerts(a.r.Context(), a.d.from.ID, q)
	return map[string]int{"count": n}, err
}

// request returns what became of a request. Requests are carried out before they are answered, so this is known at
// once.
func (a *alertRequest) request() (any, error) {
	b, incident, ok := parseUUID(wire.Param(a.r, "request"))
	action, known := statusOf(b[0])
	if !ok || !known {
		return nil, fault.New(fault.NotFound, "there is no such request")
	}
	o := alertOutcome(b[1])
	out := map[string]any{"action": action.name, "processedAt": time.Unix(int64(binary.BigEndian.Uint32(b[2:])),
		0).UTC(),
		"integrationId": fmt.Sprint(a.d.from.ID), "alertId": "", "alias": ""}
	if incident != 0 {
		found, err := a.d.h.d.Alerts.Alert(a.r.Context(), a.d.from.ID, incident)
		switch {
		case fault.Is(err, fault.NotFound):
			o = alertMissing
		case err != nil:
			return nil, err
		default:
			out["alertId"], out["alias"] = alertID(found.Incident), alertAlias(found)
		}
	}
	out["success"], out["isSuccess"], out["status"] = o == alertDone, o == alertDone, o.text()
	if o == alertDone {
		out["status"] = action.done
	}
	return out, nil
}

// readAlertQuery reads the parameters of a list.
func readAlertQuery(v url.Values) (q intake.AlertQuery, err error) {
	q.Limit = pageOfAlerts
	for name, to := range map[string]*int{"limit": &q.Limit, "offset": &q.Offset} {
		if given := v.Get(name); given != "" {
			if *to, err = strconv.Atoi(given); err != nil || *to < 0 {
				return q, fault.Invalidf(name, "%s must be a number from 0 on", name)
			}
		}
	}
	if q.Limit = min(q.Limit, maxAlerts); q.Offset > maxOffset-q.Limit {
		return q, fault.Invalidf("offset", "offset and limit together must be at most %d", maxOffset)
	}
	if sort := v.Get("sort"); sort != "" && sort != "createdAt" {
		return q, fault.Invalidf("sort", "sort must be createdAt")
	}
	if order := v.Get("order"); order != "" && order != "desc" {
		return q, fault.Invalidf("order", "order must be desc")
	}
	return q, readSearch(v.Get("query"), &q)
}

// condition is a condition of a search, such as status:open or createdAt >= 1772618400000.
var condition = regexp.MustCompile(`^(\w+)\s*(<=|>=|[:=<>])\s*(.*)$`)

// readSearch reads conditions such as `status:open AND alias:disk`.
func readSearch(search string, q *intake.AlertQuery) error {
	for part := range strings.SplitSeq(strings.ReplaceAll(search, " and ", " AND "), " AND ") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		m := condition.FindStringSubmatch(part)
		if m == nil || !readCondition(m[1], m[2], strings.Trim(m[3], `"`), q) {
			return fault.Invalidf("query", "%s", "query understands status:open, status:closed, acknowledged:true, "+
				"acknowledged:false, alias:NAME, tag:NAME, priority:P1 and createdAt>TIME (also <, >=, <=), joined by AND")
		}
	}
	return nil
}

// readCondition reports whether a condition is known.
func readCondition(name, operator, value string, q *intake.AlertQuery) bool {
	if name == "createdAt" {
		return readCreated(operator, sources.OpsgenieTime(value), q)
	}
	yes := value == "open" || value == "true"
	switch {
	case operator != ":" && operator != "=":
		return false
	case name == "status" && (value == "open" || value == "closed"):
		q.Open = &yes
	case name == "acknowledged" && (value == "true" || value == "false"):
		q.Acknowledged = &yes
	case name == "alias" && value != "" && wire.Storable(value):
		q.Key = sources.ShortKey(value)
	case name == "priority" && priorities.MatchString(value):
		q.Priority = value
	case name == "tag" && value != "" && wire.Storable(value):
		q.Tags = append(q.Tags, value)
	default:
		return false
	}
	return true
}

// readCreated reads a condition on the time of creation, in the microseconds that PostgreSQL stores.
func readCreated(operator string, at time.Time, q *intake.AlertQuery) bool {
	switch {
	case at.IsZero():
		return false
	case operator == ">":
		q.CreatedFrom = at.Add(time.Microsecond)
	case operator == ">=":
		q.CreatedFrom = at
	case operator == "<":
		q.CreatedBefore = at
	case operator == "<=":
		q.CreatedBefore = at.Add(time.Microsecond)
	default:
		return false
	}
	return true
}

// alertID returns the id of the alert of an incident.
func alertID(incident int64) string { return uuid([16]byte{}, incident) }

// alertAlias returns the alias of an alert. Without one, the alias is the id.
func alertAlias(a intake.Alert) string {
	if a.Key == "" || strings.HasPrefix(a.Key, intake.GeneratedKey) {
		return alertID(a.Incident)
	}
	return a.Key
}

// shownAlert is an alert on the wire. Deliveries that repeat an alert are not counted.
func shownAlert(from intake.Integration, a intake.Alert) map[string]any {
	f := sources.OpsgenieFactsOf(sources.OpsgeniePayload(a.Context))
	status := "closed"
	if a.Open {
		status = "open"
	}
	var snoozed *time.Time
	if !a.SnoozedUntil.IsZero() {
		at := a.SnoozedUntil.UTC()
		snoozed = &at
	}
	return map[string]any{"id": alertID(a.Incident), "tinyId": strconv.FormatInt(a.Incident, 10),
		"alias": alertAlias(a), "message": f.Message,
		"status": status, "acknowledged": a.Acknowledged(), "isSeen": a.Owner != "", "tags": list(f.Tags), "snoozed": snoozed != nil, "snoozedUntil": snoozed,
		"count": 1, "lastOccurredAt": a.UpdatedAt.UTC(), "createdAt": a.CreatedAt.UTC(), "updatedAt": a.UpdatedAt.UTC(), "source": f.Source,
		"owner": a.Owner, "priority": f.Priority, "responders": list(f.Responders), "report": map[string]any{}, "actions": list(f.Actions),
		"entity": f.Entity, "description": f.Description, "details": f.Details,
		"integration": map[string]string{"id": fmt.Sprint(from.ID), "name": from.Name, "type": "API"}}
}

// list returns a list that is never null.
func list[T any](values []T) []T { return append([]T{}, values...) }
