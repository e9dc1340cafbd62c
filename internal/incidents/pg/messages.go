package pg

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Messages reads messages from the queue and from history. Their text comes without the tokens of action links. It is
// safe for concurrent use.
type Messages struct{ db *postgres.DB }

// NewMessages returns the adapter over d.
func NewMessages(d *postgres.DB) *Messages { return &Messages{db: d} }

// A message is in one of two tables; every list reads both with the same filters and merges them.
var (
	queuedMessages = `select 1 as place, m.id, m.state, coalesce(m.incident_id, 0) as incident_id,
	coalesce(m.request_id, 0) as request_id, a.name as application, coalesce(p.name, '') as plan, m.target,
	coalesce(m.user_id, 0) as user_id, m.mode, coalesce(m.priority, '') as priority, m.class, m.purpose,
	coalesce(m.template, '') as template, m.step, m.repeat, coalesce(c.destination, m.literal, '') as destination,
	coalesce(` + withoutLinks("c.subject") + `, '') as subject, coalesce(` + withoutLinks("c.body") + `, '') as body,
	coalesce(` + withoutLinks("c.email_html") + `, '') as email_html,
	coalesce(m.batch, '') as batch,
	m.created_at, ` + sentAt + ` as sent_at, m.mode_changed,
	null::jsonb as attempts
from messages m
join applications a on a.id = m.application_id
left join plans p on p.id = m.plan_id
left join message_contents c on c.message_id = m.id
where `
	pastMessages = `select 2 as place, m.id, m.state, coalesce(m.incident_id, 0) as incident_id,
	coalesce(m.request_id, 0) as request_id, a.name as application, coalesce(p.name, '') as plan, m.target,
	coalesce(m.user_id, 0) as user_id, m.mode, coalesce(m.priority, '') as priority, m.class, m.purpose,
	coalesce(m.template, '') as template, m.step, m.repeat, m.destination,
	` + withoutLinks("m.subject") + ` as subject, ` + withoutLinks("m.body") + ` as body, ` + withoutLinks("m.email_html") + ` as email_html,
	coalesce(m.batch, '') as batch,
	m.created_at, ` + sentAt + ` as sent_at, m.mode_changed, m.attempts
from message_history m
join applications a on a.id = m.application_id
left join plans p on p.id = m.plan_id
where `
)

// sentAt is SQL for when a message was sent. A held message was sent with its digest.
const sentAt = `case when m.state in ('sent', 'delivered') then m.settled_at
	when m.state = 'aggregated' and m.batch is not null then coalesce(
		(select max(d.settled_at) from messages d where d.batch = m.batch and d.incident_id is null and d.state in ('sent', 'delivered')),
		(select max(d.settled_at) from message_history d where d.batch = m.batch and d.incident_id is null and d.state in ('sent', 'delivered')))
	end`

// withoutLinks is SQL for a text without the tokens of its action links: a reader of messages must not be able to
// answer in the recipient's name. Filters compare the same text, so that no filter can find a token.
func withoutLinks(expr string) string {
	return "regexp_replace(" + expr + `, '/ack/[A-Za-z0-9_-]{16,}', '/ack/...', 'g')`
}

// messageColumns are the filters of the message list; contents is the alias of the table that holds the text.
func messageColumns(contents string) map[string]postgres.Column {
	return map[string]postgres.Column{
		"id":             {Expr: "m.id", Kind: filters.Int},
		"active":         {Expr: "(m.state in ('pending', 'taken', 'sending') or (m.state = 'aggregated' and m.batch is null))", Kind: filters.Flag},
		"batch":          {Expr: "m.batch", Kind: filters.Text},
		"created":        {Expr: "m.created_at", Kind: filters.Time},
		"sent":           {Expr: "(" + sentAt + ")", Kind: filters.Time},
		"destination":    {Expr: contents + ".destination", Kind: filters.Text},
		"subject":        {Expr: withoutLinks(contents + ".subject"), Kind: filters.Text},
		"body":           {Expr: withoutLinks(contents + ".body"), Kind: filters.Text},
		"incident_id":    {Expr: "m.incident_id", Kind: filters.Int},
		"request_id":     {Expr: "m.request_id", Kind: filters.Int},
		"mode":           {Expr: "m.mode", Kind: filters.Text},
		"application_id": {Expr: "m.application_id", Kind: filters.Int},
		"priority":       {Expr: "m.priority", Kind: filters.Text},
		targetUser:       {Expr: "m.user_id", Kind: filters.Int},
		"target":         {Expr: "m.target", Kind: filters.Text},
		"state":          {Expr: "m.state", Kind: filters.Text},
		"purpose":        {Expr: "m.purpose", Kind: filters.Text},
		"plan_id":        {Expr: "m.plan_id", Kind: filters.Int},
		"vendor": {Expr: "v.vendor", Kind: filters.Text,
			Within: "exists (select from attempts v where v.message_id = m.id and %)"},
	}
}

// Conditions of read. listed leaves out messages without a mode, imported messages that Iris had not decided about, and
// digests with their fallbacks: lists show the pages of a digest instead, with its text and batch.
const (
	listed = "m.mode <> '' and (m.batch is null or m.incident_id is not null)"
	every  = "true"
)

// List returns messages whose mode was decided and pages that were sent in digests, without their attempts: newest
// first with a limit, else by id. More than 20,000 are an Invalid fault. Get also finds the message that carried a
// digest.
func (s *Messages) List(ctx context.Context, q filters.Query) ([]messages.Message, error) {
	found, err := s.read(ctx, "MessageList", listed, q)
	if err != nil {
		return nil, err
	}
	return postgres.Convert(found, messageRow.message), nil
}

// Get returns one message with its attempts. Unknown: NotFound.
func (s *Messages) Get(ctx context.Context, id messages.ID) (messages.Message, error) {
	m, err := postgres.First(s.withAttempts(ctx, "MessageGet",
		filters.Condition{Field: "id", Op: filters.Eq, Values: []any{int64(id)}}, 0))
	return m, postgres.Named(err, "no such message")
}

// ByIncident returns all messages of an incident with their attempts, oldest first.
func (s *Messages) ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error) {
	return s.withAttempts(ctx, "MessagesByIncident", ofIncident(id), 0)
}

// Newest returns the newest messages of an incident with their attempts, oldest first.
func (s *Messages) Newest(ctx context.Context, id incidents.ID, most int) ([]messages.Message, error) {
	out, err := s.withAttempts(ctx, "NewestMessages", ofIncident(id), most)
	slices.Reverse(out)
	return out, err
}

func ofIncident(id incidents.ID) filters.Condition {
	return filters.Condition{Field: "incident_id", Op: filters.Eq, Values: []any{int64(id)}}
}

// withAttempts reads messages: the newest ones first with a limit, else by id.
func (s *Messages) withAttempts(ctx context.Context, name string, cond filters.Condition, limit int) ([]messages.Message, error) {
	found, err := s.read(ctx, name, every, filters.Query{Conditions: []filters.Condition{cond}, Limit: limit})
	if err != nil {
		return nil, err
	}
	out := make([]messages.Message, len(found))
	at := make(map[int64]int, len(found))
	var queued []int64
	for i, f := range found {
		out[i] = f.message()
		if f.Place == 1 {
			at[f.ID] = i
			queued = append(queued, f.ID)
			continue
		}
		if out[i].Attempts, err = pastAttempts(f.Attempts); err != nil {
			return nil, err
		}
	}
	if len(queued) == 0 {
		return out, nil
	}
	calls, err := postgres.Query(ctx, s.db, (*postgresdb.Queries).MessageAttempts, queued)
	for _, c := range calls {
		m := &out[at[int64(c.MessageID)]]
		m.Attempts = append(m.Attempts, attempt(c))
	}
	return out, err
}

// Changes returns the audit log of a message, newest first; empty for an unknown one.
func (s *Messages) Changes(ctx context.Context, id messages.ID) (out []messages.Change, err error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (out []messages.Change, err error) {
		rows, err := q.MessageChanges(ctx, id)
		if err != nil {
			return out, err
		}
		return postgres.Convert(rows, func(r postgresdb.MessageChangesRow) messages.Change {
			return messages.Change{ID: r.ID, At: r.At, Type: r.ChangeType, Old: r.Old, New: r.New,
				Description: r.Description}
		}), nil
	})
}

// ReceiptStatus returns the last status of a message in the vendor's own terms, "" when there is no receipt.
func (s *Messages) ReceiptStatus(ctx context.Context, id messages.ID, vendor string) (status string, err error) {
	return postgres.Get(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (status string, err error) {
		status, err = q.MessageReceiptStatus(ctx, postgresdb.MessageReceiptStatusParams{MessageID: &id, Vendor: vendor})
		if errors.Is(err, pgx.ErrNoRows) {
			return status, nil
		}
		return status, err
	})
}

type messageRow struct {
	Place       int
	ID          int64
	State       string
	IncidentID  int64
	RequestID   int64
	Application string
	Plan        string
	Target      string
	UserID      int64
	Mode        string
	Priority    string
	Class       int
	Purpose     string
	Template    string
	Step        int
	Repeat      int
	Destination string
	Subject     string
	Body        string
	EmailHTML   string
	Batch       string
	CreatedAt   time.Time
	SentAt      *time.Time
	ModeChanged bool
	Attempts    []byte
}

// read finds messages in both tables. A message that is being moved can be in both; it is returned once.
func (s *Messages) read(ctx context.Context, name, which string, q filters.Query) ([]messageRow, error) {
	q, err := withIDs(ctx, s.db, q)
	if err != nil {
		return nil, err
	}
	l := postgres.NewListQuery(name, "select * from (("+queuedMessages+which)
	if err := l.Filter(q, messageColumns("c")); err != nil {
		return nil, err
	}
	l.Order(q.Limit, "m.created_at", "m.id")
	l.SQL.WriteString(") union all (" + pastMessages + which)
	past := messageColumns("m")
	past["vendor"] = postgres.Column{Expr: "(v.value ->> 'vendor')", Kind: filters.Text,
		Within: "exists (select from jsonb_array_elements(m.attempts) v where %)"}
	past["active"] = postgres.Column{Expr: "false", Kind: filters.Flag} // only settled messages move to history
	if err := l.Filter(q, past); err != nil {
		return nil, err
	}
	l.Order(q.Limit, "m.created_at", "m.id")
	l.SQL.WriteString(")) as found")
	sql, args := l.Order(q.Limit, "created_at", "id")
	found, err := postgres.List(ctx, s.db, sql, args, pgx.RowToStructByPos[messageRow])
	if err != nil {
		return nil, err
	}
	seen := make(map[int64]bool, len(found))
	out := found[:0]
	for _, f := range found {
		if !seen[f.ID] {
			seen[f.ID] = true
			out = append(out, f)
		}
	}
	return out, nil
}

func (r messageRow) message() messages.Message {
	return messages.Message{ID: messages.ID(r.ID), State: messages.State(r.State),
		IncidentID: incidents.ID(r.IncidentID),
		RequestID:  r.RequestID, Application: r.Application, Target: r.Target,
		Mode: users.Mode(r.Mode), Priority: users.Priority(r.Priority),
		Purpose: messages.Purpose(r.Purpose), Step: r.Step, Repeat: r.Repeat, Destination: r.Destination,
		Subject: r.Subject, Body: r.Body, EmailHTML: r.EmailHTML, Plan: r.Plan, Template: r.Template, Batch: r.Batch, CreatedAt: r.CreatedAt, ModeChanged: r.ModeChanged,
		TargetChanged: messages.Purpose(r.Purpose) == messages.Fallback, SentAt: postgres.Deref(r.SentAt)}
}

func attempt(a postgresdb.Attempt) messages.Attempt {
	return messages.Attempt{MessageID: a.MessageID, Number: a.Attempt, Mode: a.Mode, Vendor: a.Vendor,
		Account: a.Account, Destination: a.Destination, ProcessID: a.ProcessID, StartedAt: a.StartedAt, InDoubt: a.InDoubt,
		Late: a.Late, Detail: a.Detail, FinishedAt: postgres.Deref(a.FinishedAt), Outcome: postgres.Deref(a.Outcome),
		VendorMessageID: postgres.Deref(a.VendorMessageID)}
}

// pastAttempt is a db.Attempt as history keeps it: the row of the table as JSON.
type pastAttempt struct {
	MessageID       messages.ID       `json:"message_id"`
	Attempt         int               `json:"attempt"`
	Mode            users.Mode        `json:"mode"`
	Vendor          string            `json:"vendor"`
	Account         string            `json:"account"`
	Destination     string            `json:"destination"`
	ProcessID       string            `json:"process_id"`
	StartedAt       time.Time         `json:"started_at"`
	FinishedAt      *time.Time        `json:"finished_at"`
	Outcome         *messages.Outcome `json:"outcome"`
	InDoubt         bool              `json:"in_doubt"`
	Late            bool              `json:"late"`
	Detail          string            `json:"detail"`
	VendorMessageID *string           `json:"vendor_message_id"`
	IdempotencyKey  string            `json:"idempotency_key"`
}

func pastAttempts(raw []byte) ([]messages.Attempt, error) {
	var past []pastAttempt
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &past); err != nil {
		return nil, fault.Wrap(fault.Internal, err, "read the attempts of a past message")
	}
	return postgres.Convert(past, func(p pastAttempt) messages.Attempt { return attempt(postgresdb.Attempt(p)) }), nil
}
