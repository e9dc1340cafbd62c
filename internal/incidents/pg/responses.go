package pg

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Responses finds the incidents that people answer to and stores their answers. It is safe for concurrent use.
type Responses struct{ db *postgres.DB }

// NewResponses returns the adapter.
func NewResponses(d *postgres.DB) *Responses { return &Responses{d} }

// Asked finds the message that a person answers, in the queue or in history. It returns a NotFound fault if there is
// none.
func (r *Responses) Asked(ctx context.Context, id messages.ID) (messages.AnsweredMessage, error) {
	row, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseAsked, id)
	return messages.AnsweredMessage{MessageID: row.ID, IncidentID: incidents.ID(row.IncidentID), Batch: row.Batch,
		Application:   row.Application,
		ApplicationID: row.ApplicationID, Subject: row.Subject, Body: row.Body, Destination: row.Destination}, err
}

// SlackMessages returns the messages, queued or history, with a time stamp of Slack.
func (r *Responses) SlackMessages(ctx context.Context, ts string, claimed messages.ID) ([]messages.ID, error) {
	return postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseSlackPosted, postgresdb.ResponseSlackPostedParams{
		Ts: postgres.CleanText(ts), Claimed: int64(claimed),
	})
}

// SlackUnknown reports whether Slack may have posted a message with a time stamp that was not recorded.
func (r *Responses) SlackUnknown(ctx context.Context, id messages.ID) (bool, error) {
	return postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseSlackUnknown, int64(id))
}

// AskedBatch finds the message that is a digest, queued or history. A NotFound fault when there is none.
func (r *Responses) AskedBatch(ctx context.Context, batch string) (messages.AnsweredMessage, error) {
	batch = strings.ToLower(batch)
	id, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseBatch, &batch)
	if err != nil {
		return messages.AnsweredMessage{}, err
	}
	m, err := r.Asked(ctx, id)
	m.Batch = batch
	return m, err
}

// Newest returns the newest message to the user whose incident is still escalating.
func (r *Responses) Newest(ctx context.Context, user users.ID) (messages.AnsweredMessage, bool, error) {
	row, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseNewest, &user)
	if fault.Is(err, fault.NotFound) {
		return messages.AnsweredMessage{}, false, nil
	}
	return messages.AnsweredMessage{MessageID: row.ID, IncidentID: row.IncidentID, Application: row.Application,
		ApplicationID: row.ApplicationID}, err == nil, err
}

// Active returns the escalating incidents that have a message to the user, oldest first.
func (r *Responses) Active(ctx context.Context, user users.ID) ([]messages.AnsweredMessage, error) {
	rows, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseActive, &user)
	return postgres.Convert(rows, func(row postgresdb.ResponseActiveRow) messages.AnsweredMessage {
		return messages.AnsweredMessage{
			IncidentID: row.IncidentID, Application: row.Application, ApplicationID: row.ApplicationID,
		}
	}), err
}

// Batch returns the incidents of a digest; none when there is no such digest.
func (r *Responses) Batch(ctx context.Context, batch string) ([]incidents.ID, error) {
	return postgres.Query(ctx, r.db, (*postgresdb.Queries).BatchIncidents, strings.ToLower(batch))
}

// Waiting returns those of the incidents that are neither acknowledged nor resolved.
func (r *Responses) Waiting(ctx context.Context, ids []incidents.ID) ([]incidents.ID, error) {
	return postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseBatchWaiting, postgres.Numbers(ids))
}

// ByContact returns the active user who has the contact verified; phone numbers are compared by their digits, and a
// number for texts also counts for calls. A NotFound fault when no user or more than one has it.
func (r *Responses) ByContact(ctx context.Context, mode users.Mode, source string) (users.User, error) {
	nobody := fault.New(fault.NotFound, "nobody has that contact")
	if contactEmpty(mode, source) {
		return users.User{}, nobody
	}
	rows, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseUserByContact, postgresdb.ResponseUserByContactParams{
		Mode: string(mode), Source: postgres.Storable(source),
	})
	if err == nil && len(rows) != 1 {
		err = nobody
	}
	if err != nil {
		return users.User{}, err
	}
	return pgusers.UserOf(postgresdb.UserByNameRow(rows[0])), nil
}

// ByMessage returns the active recipient of a message if it went to source; a NotFound fault otherwise.
func (r *Responses) ByMessage(ctx context.Context, id messages.ID, mode users.Mode, source string) (users.User, error) {
	if contactEmpty(mode, source) {
		return users.User{}, fault.New(fault.NotFound, "nobody has that contact")
	}
	row, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseUserByMessage, postgresdb.ResponseUserByMessageParams{
		MessageID: int64(id), Mode: string(mode), Source: postgres.Storable(source),
	})
	return pgusers.UserOf(postgresdb.UserByNameRow(row)), err
}

// contactEmpty reports whether a contact has nothing to compare.
func contactEmpty(mode users.Mode, source string) bool {
	if mode == users.SMS || mode == users.Call {
		return !strings.ContainsAny(source, "0123456789")
	}
	return strings.Trim(source, "@ ") == ""
}

// Mailbox returns the first of the addresses whose mails open incidents, and false when none does.
func (r *Responses) Mailbox(ctx context.Context, addresses []string) (messages.Mailbox, bool, error) {
	row, err := postgres.Query(ctx, r.db, (*postgresdb.Queries).ResponseMailbox,
		postgres.Convert(addresses, postgres.Storable))
	if fault.Is(err, fault.NotFound) {
		return messages.Mailbox{}, false, nil
	}
	return messages.Mailbox{Address: row.Email, Application: row.Application, Plan: row.PlanKey}, err == nil, err
}

// maxAnswer bounds the stored text of an answer, in characters.
const maxAnswer = 2000

// Record stores an answer, understood or not.
func (r *Responses) Record(ctx context.Context, a messages.Answer) error {
	return postgres.Exec(ctx, r.db, (*postgresdb.Queries).RecordResponse,
		postgresdb.RecordResponseParams{Mode: a.Mode, Source: a.Source, UserID: postgres.NullID(a.UserID),
			MessageID: postgres.NullID(a.MessageID), IncidentID: postgres.NullID(a.IncidentID), Content: keepable(a.Content), Result: keepable(a.Result)})
}

// keepable returns text from outside as it can be stored: valid UTF-8 without NUL, bounded.
func keepable(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "")
	if utf8.RuneCountInString(s) > maxAnswer {
		s = string([]rune(s)[:maxAnswer])
	}
	return s
}
