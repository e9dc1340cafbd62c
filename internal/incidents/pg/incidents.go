package pg

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// Incidents stores incidents as people and programs see them. engine.Runner escalates them. Every change is durable
// when its method returns; the caller wakes the processors afterwards. It is safe for concurrent use.
type Incidents struct {
	db       *postgres.DB
	opening  *postgres.Batches[incidents.New, openResult]
	finding  *postgres.Batches[incidents.New, foundKey]
	counting *turns // of events that are counted or grouped
}

// New returns the adapter over d.
func New(d *postgres.DB) *Incidents {
	i := &Incidents{db: d, counting: newTurns(countRuns)}
	i.opening = postgres.NewBatches(d, openBatch, openFlushes, i.openAll)
	i.finding = postgres.NewBatches(d, openBatch, findRuns, i.findAll)
	return i
}

// incidentSelection reads the end of the silence. The stored instant is the spread one at which the processors release the
// incident: see ReleaseOfSilence.
const incidentSelection = `select i.id, i.bucket, i.plan_id, p.name, i.application_id, a.name, i.created_at, i.updated_at,
    i.active, i.resolved, coalesce(u.name, ''), i.current_step, i.reopen_count, %CONTEXT%, coalesce(a.title_variable, ''),
    coalesce(i.source_acknowledged, false), i.snoozed_until,
    i.silenced_until - (i.id * 7919 % 121) * interval '1 second', i.closed_at, coalesce(i.merged_into, 0),
    coalesce(s.name, ''), coalesce(i.silence_id, 0), coalesce(t.name, '')
from incidents i
join plans p on p.id = i.plan_id
join applications a on a.id = i.application_id
left join plan_owners o on o.name_key = lower(p.name)
left join teams t on t.id = coalesce(o.team_id, a.team_id)
left join users u on u.id = i.owner_id
left join integrations s on s.id = i.integration_id
left join incident_contexts c on c.incident_id = i.id
where true`

const newestIncidents = `
and i.id = any(array(
select i.id
from incidents i
left join incident_contexts c on c.incident_id = i.id
where true`

var incidentColumns = map[string]postgres.Column{
	"id":           {Expr: "i.id", Kind: filters.Int},
	"plan_id":      {Expr: "i.plan_id", Kind: filters.Int},
	"active":       {Expr: "i.active", Kind: filters.Flag},
	"resolved":     {Expr: "i.resolved", Kind: filters.Flag},
	"claimed":      {Expr: "(i.owner_id is not null)", Kind: filters.Bool},
	"acknowledged": {Expr: "(i.owner_id is not null or i.source_acknowledged is not null)", Kind: filters.Bool},
	"snoozed":      {Expr: "(i.snoozed_until is not null)", Kind: filters.Bool},
	"silenced":     {Expr: "(i.silenced_until is not null)", Kind: filters.Bool},
	"merged_into":  {Expr: "i.merged_into", Kind: filters.Int},
	"merged":       {Expr: "(i.merged_into is not null)", Kind: filters.Bool},
	"closed":       {Expr: "(i.closed_at is not null)", Kind: filters.Bool},
	"created":      {Expr: "i.created_at", Kind: filters.Time},
	"updated": {Expr: "(case when i.updated_at - i.created_at >= interval '1 ms' then i.updated_at end)",
		Kind: filters.Time},
	"application_id": {Expr: "i.application_id", Kind: filters.Int},
	"integration_id": {Expr: "i.integration_id", Kind: filters.Int},
	"critical": {Expr: "(c.severity = 'critical')",
		Kind: filters.Bool}, // a field for each severity: the planner knows how many rows match
	"error":   {Expr: "(c.severity = 'error')", Kind: filters.Bool},
	"warning": {Expr: "(c.severity = 'warning')", Kind: filters.Bool},
	"info":    {Expr: "(c.severity = 'info')", Kind: filters.Bool},
	// Not c.context: the planner expects few matches, and would read all contexts for each period of a search.
	"context": {Expr: "(select t.context::text from incident_contexts t where t.incident_id = i.id)",
		Kind: filters.Text},
	"text": {Expr: "(select concat_ws(' ', t.context::text, i.dedup_key) from incident_contexts t where t.incident_id = i.id)",
		Kind: filters.Text},
	"owner_id":     {Expr: "i.owner_id", Kind: filters.Int},
	"current_step": {Expr: "i.current_step", Kind: filters.Int},
	targetUser: {Expr: "m.user_id", Kind: filters.Int, Within: `i.id = any(array(
    select m.incident_id from messages m where m.incident_id is not null and % union
    select m.incident_id from message_history m where m.incident_id is not null and %))`},
	"target": {Expr: "m.target", Kind: filters.Text, Within: `exists (
    select 1 from messages m where m.incident_id = i.id and %) or exists (
    select 1 from message_history m where m.incident_id = i.id and %)`},
}

// List returns the incidents that match, in ascending order of ids, or newest first when there is a limit. The context
// and the severity are left out when q.Fields names fields without it.
func (i *Incidents) List(ctx context.Context, q filters.Query) ([]incidents.Incident, error) {
	q, err := withIDs(ctx, i.db, q)
	if err != nil {
		return nil, err
	}
	sql, args, err := incidentList(q)
	if err != nil {
		return nil, err
	}
	return postgres.List(ctx, i.db, sql, args, scanIncident)
}

// incidentList returns the statement of a list. Names in q must be replaced by ids.
func incidentList(q filters.Query) (sql string, args []any, err error) {
	what := "c.context, coalesce(c.severity, '')"
	if len(q.Fields) > 0 && !slices.Contains(q.Fields, "context") && !slices.Contains(q.Fields, "title") {
		what = "null::json, ''"
	}
	selection := strings.Replace(incidentSelection, "%CONTEXT%", what, 1)
	if q.Limit > 0 { // the newest rows are found first, so that contexts of others are not read
		selection += newestIncidents
	}
	l := postgres.NewListQuery("ListIncidents", selection).Tagged("incident", "i.id")
	if err := addConditions(l, q); err != nil {
		return "", nil, err
	}
	sql, args = l.Order(q.Limit, "i.created_at", "i.id")
	if q.Limit > 0 {
		l.SQL.WriteString("))")
		sql, args = l.Order(q.Limit, "i.created_at", "i.id")
	}
	return sql, args, nil
}

// addConditions adds the conditions of q. Names in q must be replaced by ids.
func addConditions(l *postgres.ListQuery, q filters.Query) error {
	q.Conditions = slices.DeleteFunc(slices.Clone(q.Conditions), func(c filters.Condition) bool {
		where, ok := specialConditions[c.Field]
		if ok {
			where(l, c.Values)
		}
		return ok
	})
	return l.Filter(q, incidentColumns)
}

// specialConditions add the conditions that are not comparisons of a column, by field.
var specialConditions = map[string]func(l *postgres.ListQuery, values []any){
	ofTeams: func(l *postgres.ListQuery, values []any) {
		l.Where("i.application_id = any(" + l.Arg(values[0]) + "::bigint[]) or i.plan_id = any(" +
			l.Arg(values[1]) + "::bigint[])")
	},
	ofTeam: func(l *postgres.ListQuery, values []any) {
		l.Where("i.plan_id = any(" + l.Arg(values[1]) + "::bigint[]) or i.application_id = any(" + l.Arg(values[0]) +
			`::bigint[]) and not exists (
    select from plans p join plan_owners o on o.name_key = lower(p.name) where p.id = i.plan_id)`)
	},
	incidents.FieldLabel: func(l *postgres.ListQuery, values []any) { // see incidents.Labels
		name, texts := l.Arg(values[0])+"::text", ""
		for _, group := range slices.Backward(incidents.LabelGroups) {
			texts += "t.context -> '" + group + "' ->> " + name + ", "
		}
		l.Where("(select coalesce(" + texts + "t.context ->> " + name + ", case " + name +
			" when 'severity' then t.severity end) from incident_contexts t where t.incident_id = i.id) = " +
			l.Arg(values[1]) + "::text")
	},
}

// countWithin is how long CountUpTo waits for the database.
const countWithin = 150*time.Millisecond + filters.Margin

// CountUpTo counts the incidents that match each of the queries, up to a limit. Counts that take too long are an
// Unavailable fault.
func (i *Incidents) CountUpTo(ctx context.Context, limit int, queries ...filters.Query) ([]int, error) {
	ctx, cancel := context.WithTimeout(ctx, countWithin)
	defer cancel()
	l := postgres.NewListQuery("CountIncidentsUpTo", "select 0, 0 where false")
	for k, q := range queries {
		q, err := withIDs(ctx, i.db, q)
		if err != nil {
			return nil, err
		}
		l.SQL.WriteString("\nunion all\nselect " + strconv.Itoa(k) + ", count(*) from (select from incidents i left join incident_contexts c on c.incident_id = i.id\nwhere true")
		if err := addConditions(l, q); err != nil {
			return nil, err
		}
		l.SQL.WriteString("\nlimit " + l.Arg(limit) + "::int) x")
	}
	out := make([]int, len(queries))
	_, err := postgres.List(ctx, i.db, l.SQL.String(), l.Args, func(row pgx.CollectableRow) (k int, err error) {
		n := 0
		err = row.Scan(&k, &n)
		if err == nil {
			out[k] = n
		}
		return k, err
	})
	return out, err
}

// Get returns an incident; a NotFound fault when there is none.
func (i *Incidents) Get(ctx context.Context, id incidents.ID) (incidents.Incident, error) {
	n, err := postgres.First(i.List(ctx, filters.Query{Conditions: []filters.Condition{
		{Field: "id", Op: filters.Eq, Values: []any{int64(id)}},
	}}))
	return n, postgres.Named(err, "no such incident")
}

// untouched is the greatest difference between the two times of an incident that was not changed: both are set when it
// is stored, one after the other. Every change comes later, because it needs the number of the incident.
const untouched = time.Millisecond

func scanIncident(row pgx.CollectableRow) (n incidents.Incident, err error) {
	var body []byte
	var snoozed, silenced, closed *time.Time
	err = row.Scan(&n.ID, &n.Bucket, &n.PlanID, &n.Plan, &n.ApplicationID, &n.Application, &n.CreatedAt, &n.UpdatedAt,
		&n.Active, &n.Resolved, &n.Owner, &n.CurrentStep, &n.ReopenCount, &body, &n.Severity, &n.TitleVariable,
		&n.SourceAcknowledged, &snoozed, &silenced, &closed, &n.MergedInto, &n.Integration, &n.Silence, &n.Team)
	n.Context = body
	n.SnoozedUntil, n.SilencedUntil, n.ClosedAt = postgres.Deref(snoozed), postgres.Deref(silenced), postgres.Deref(closed)
	if n.UpdatedAt.Sub(n.CreatedAt) < untouched {
		n.UpdatedAt = time.Time{}
	}
	return n, err
}

// changing is a locked incident before its change.
type changing struct {
	row         postgresdb.Incident
	owner       string // "" = nobody
	application string
}

func (b changing) id() incidents.ID { return b.row.ID }

func (b changing) ownerID() users.ID { return postgres.Deref(b.row.OwnerID) }

// change locks the incidents in ascending order, calls f to decide and write, and returns a result for each of c.IDs in
// their order. before holds the incidents that exist.
func (i *Incidents) change(ctx context.Context, c incidents.Change,
	f func(ctx context.Context, q *postgresdb.Queries, before []changing) error,
) ([]incidents.Acknowledged, error) {
	ids := postgres.Numbers(c.IDs)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var out []incidents.Acknowledged
	work := func(ctx context.Context, q *postgresdb.Queries) error {
		before, err := lockForChange(ctx, q, ids)
		if err != nil {
			return err
		}
		if err := f(ctx, q, before); err != nil {
			return err
		}
		after, err := q.LockForChange(ctx, ids)
		if err != nil {
			return err
		}
		done := map[incidents.ID]incidents.Acknowledged{}
		for k, b := range before {
			done[b.id()] = incidents.Acknowledged{
				ID: b.id(), Found: true, Active: after[k].Incident.Active, PreviousOwner: b.owner, Application: b.application,
			}
		}
		out = make([]incidents.Acknowledged, len(c.IDs))
		for k, id := range c.IDs {
			out[k] = done[id]
			out[k].ID = id
		}
		return nil
	}
	err := i.db.InTx(ctx, work)
	// Another transaction holds a lock for long: retry, so that a person need not press a button again.
	for try := 1; try < postgres.LockTries && postgres.SqlState(err) == postgres.LockTimeout && ctx.Err() == nil; try++ {
		err = i.db.InTx(ctx, work)
	}
	return out, err
}

// lockForChange locks incidents and then reads their texts: a read in the locking statement could return those of
// before the wait.
func lockForChange(ctx context.Context, q *postgresdb.Queries, ids []int64) ([]changing, error) {
	locked, err := q.LockForChange(ctx, ids)
	if err != nil {
		return nil, err
	}
	texts, err := q.TextsOfChange(ctx, ids)
	if err != nil {
		return nil, err
	}
	named := map[int64]postgresdb.TextsOfChangeRow{}
	for _, w := range texts {
		named[int64(w.ID)] = w
	}
	out := make([]changing, len(locked))
	for k, l := range locked {
		out[k] = changing{row: l.Incident, owner: named[int64(l.Incident.ID)].Owner,
			application: named[int64(l.Incident.ID)].Application}
	}
	return out, nil
}

// Acknowledge makes owner the owner of the incidents and ends their escalation; the processors cancel pending messages.
// Repeating it changes nothing; another owner takes over, unless c.AskFirst forbids it. Incidents that are merged into
// them follow. It returns one result per incident, in the given order. Incidents that do not exist have Found unset;
// the others are acknowledged nevertheless.
func (i *Incidents) Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error) {
	var left map[incidents.ID]users.ID
	done, err := i.change(ctx, c, func(ctx context.Context, q *postgresdb.Queries, before []changing) error {
		var chosen []changing
		left = map[incidents.ID]users.ID{}
		var texts []string
		waited, err := dropTimers(ctx, q, before)
		if err != nil {
			return err
		}
		for _, b := range before {
			if !b.row.Active && b.ownerID() == owner.ID && !waited[b.id()] {
				continue
			}
			if c.AskFirst && b.ownerID() != 0 && b.ownerID() != owner.ID && b.ownerID() != c.Replace {
				left[b.id()] = b.ownerID()
				continue
			}
			text := "acknowledged by " + owner.Name + byWay(c, owner.Name)
			if c.Via == incidents.ViaHook { // the sender says so, not the person
				text = "assigned to " + owner.Name + byWay(c, "")
			}
			if b.owner != "" && b.ownerID() != owner.ID {
				text += ", taking over from " + b.owner
			}
			chosen, texts = append(chosen, b), append(texts, text)
		}
		ownerID := int64(owner.ID)
		if err := transitFamily(ctx, q, c, incidents.Acknowledge, postgresdb.SetStatesParams{OwnerID: &ownerID}, chosen, texts); err != nil || len(chosen) == 0 {
			return err
		}
		return q.SetAcknowledgementTimers(ctx, idsOf(chosen))
	})
	for k, d := range done {
		done[k].OwnedBy = left[d.ID]
	}
	return done, err
}

// transit writes what an event does to locked incidents, each with its text on the timeline, and makes the notices of a
// resolve.
func transit(ctx context.Context, q *postgresdb.Queries, c incidents.Change, e incidents.Event, with postgresdb.SetStatesParams, of []changing, texts []string) error {
	if len(of) == 0 {
		return nil
	}
	made, err := Transit(ctx, q, e, with, rowsOf(of)...)
	if err != nil {
		return err
	}
	err = q.AddEntries(ctx, postgresdb.AddEntriesParams{IncidentIds: idsOf(of), Kind: made[0].Kind, Actor: c.Actor,
		Texts: texts})
	if err == nil && e == incidents.Resolve {
		err = Resolved(ctx, q, idsOf(of), c.Actor)
	}
	return err
}

// transitFamily is transit for incidents and for those that are merged into them.
func transitFamily(ctx context.Context, q *postgresdb.Queries, c incidents.Change, e incidents.Event, with postgresdb.SetStatesParams, of []changing, texts []string) error {
	if err := transit(ctx, q, c, e, with, of, texts); err != nil {
		return err
	}
	return follow(ctx, q, c, e, with, of, texts)
}

// Reopen undoes acknowledgements: the incidents lose their owner and escalate again from their current step. Resolved,
// silenced and merged incidents lose their owner and do not escalate. Incidents that are merged into them follow.
// Repeating it changes nothing.
func (i *Incidents) Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *postgresdb.Queries, before []changing) error {
		var chosen []changing
		var texts []string
		for _, b := range before {
			t, err := StatusOf(b.row).After(incidents.Reopen)
			if err != nil {
				return err
			}
			if !t.Changes() {
				continue
			}
			text := "acknowledgement taken back" + byWay(c, "") + ", escalating on"
			switch {
			case !t.After.Active:
				text = "owner removed" + byWay(c, "") + ", not escalating because it is " + string(t.After.State())
			case !t.Before.Owned:
				text = "escalation started again" + byWay(c, "")
			}
			chosen, texts = append(chosen, b), append(texts, text)
		}
		return transitFamily(ctx, q, c, incidents.Reopen, postgresdb.SetStatesParams{}, chosen, texts)
	})
}

// Resolve marks the incidents as resolved and ends their escalation. With resolved false it undoes that, but starts no
// escalation (Reopen does). Owners stay. Incidents that are merged into them follow; one of those cannot be undone
// alone, which is a Conflict. Repeating it changes nothing.
func (i *Incidents) Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error) {
	return i.change(ctx, c, func(ctx context.Context, q *postgresdb.Queries, before []changing) error {
		return resolve(ctx, q, c, before, resolved)
	})
}

func resolve(ctx context.Context, q *postgresdb.Queries, c incidents.Change, before []changing, resolved bool) error {
	event, text := incidents.UndoResolve, "no longer resolved"+byWay(c, "")
	var waited map[incidents.ID]bool
	if resolved {
		event, text = incidents.Resolve, "resolved"+byWay(c, "")
		var err error
		if waited, err = dropTimers(ctx, q, before); err != nil {
			return err
		}
	}
	var chosen []changing
	for _, b := range before {
		if b.row.Resolved != resolved || waited[b.id()] {
			chosen = append(chosen, b)
		}
	}
	if !resolved {
		if err := checkUndo(ctx, q, chosen); err != nil {
			return err
		}
	}
	return transitFamily(ctx, q, c, event, postgresdb.SetStatesParams{}, chosen,
		slices.Repeat([]string{text}, len(chosen)))
}

// maxComment is the length of a comment in characters.
const maxComment = 65535

// AddComment adds a person's comment and returns its number; NotFound when there is no such incident.
func (i *Incidents) AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error) {
	if strings.TrimSpace(content) == "" {
		return 0, fault.Invalidf("content", "Empty comment")
	}
	if n := utf8.RuneCountInString(content); n > maxComment {
		return 0, fault.Invalidf("content", "Comment too long. %d characters are more than the limit of %d", n,
			maxComment)
	}
	content = postgres.Storable(content)
	return postgres.GetInTx(ctx, i.db, func(ctx context.Context, q *postgresdb.Queries) (comment int64, err error) {
		comment, err = q.AddComment(ctx, postgresdb.AddCommentParams{IncidentID: id, AuthorID: int64(author.ID),
			Content: content})
		if postgres.SqlState(err) == "23503" {
			return comment, fault.Wrap(fault.NotFound, err, "no such incident or author")
		}
		if err != nil {
			return comment, err
		}
		return comment, q.AddEntries(ctx, postgresdb.AddEntriesParams{
			IncidentIds: []int64{int64(id)}, Kind: incidents.EntryComment, Actor: author.Name, Texts: []string{content},
		})
	})
}

// Comments returns the comments on an incident, oldest first; none for an incident that does not exist.
func (i *Incidents) Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error) {
	rows, err := postgres.Query(ctx, i.db, (*postgresdb.Queries).Comments, id)
	return postgres.Convert(rows, func(r postgresdb.CommentsRow) incidents.Comment { return incidents.Comment(r) }), err
}

var viaText = map[incidents.Via]string{
	incidents.ViaAPI: "through the API", incidents.ViaWeb: "on the web page", incidents.ViaLink: "with the link of a message",
	incidents.ViaSlack: "in Slack", incidents.ViaSMS: "by text message", incidents.ViaCall: "by phone key",
	incidents.ViaEmail: "by e-mail", incidents.ViaHook: "through a webhook",
}

// byWay returns the end of a timeline entry: the actor, unless said is the actor, and the way of the change (link,
// button, reply ...).
func byWay(c incidents.Change, said string) string {
	s := ""
	switch {
	case c.Actor == "" || strings.EqualFold(c.Actor, said):
	case said == "":
		s = " by " + c.Actor
	default:
		s = ", asked for by " + c.Actor
	}
	if way := viaText[c.Via]; way != "" {
		s += " " + way
	}
	return s
}

var incidentCounts = map[string]string{"plan": "p.name", "plan_id": "i.plan_id::text", "active": "i.active::int::text",
	"application": "a.name", "owner": "u.name", "current_step": "i.current_step::text", "title_variable_name": "a.title_variable",
	"resolved": "i.resolved::int::text"}

// Count counts the incidents that match, and per value of the fields. A limit counts the newest only.
func (i *Incidents) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	q, err := withIDs(ctx, i.db, q)
	if err != nil {
		return filters.Tally{}, err
	}
	c := postgres.Counting{Name: "CountIncidents", Selection: incidentSelection, TagKind: "incident", ID: "i.id",
		Created: "i.created_at"}
	return c.Run(ctx, i.db, q, incidentColumns, fields, incidentCounts)
}
