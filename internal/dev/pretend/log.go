package pretend

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Entry is one request that a pretend vendor decided about.
type Entry struct {
	ID     int64  `json:"id"` // 1, 2, 3 ... over all vendors of a log
	Vendor string `json:"vendor"`
	Mode   string `json:"mode"` // email, sms, call, slack, webhook, push; lookup for questions that send nothing

	At         time.Time `json:"at"`          // the request began (the call's start, as near as the vendor can tell)
	AnsweredAt time.Time `json:"answered_at"` // the decision was made; the answer follows at once, if there is one

	Accepted bool   `json:"accepted"` // the message counts as delivered
	Answered bool   `json:"answered"` // the sender got an answer
	Status   int    `json:"status"`   // HTTP status or SMTP code; 0 = none was given
	Reason   string `json:"reason"`   // why it was refused, or which behaviour applied

	From    string `json:"from,omitempty"`
	To      string `json:"to"`
	Subject string `json:"subject,omitempty"`
	Body    string `json:"body,omitempty"`
	HTML    string `json:"html,omitempty"`

	MessageID      int64  `json:"message_id,omitempty"` // Iris's
	IncidentID     int64  `json:"incident_id,omitempty"`
	Application    string `json:"application,omitempty"`
	Plan           string `json:"plan,omitempty"`
	Priority       string `json:"priority,omitempty"`
	Attempt        int    `json:"attempt,omitempty"`
	IdempotencyKey string `json:"idempotency_key,omitempty"`
	VendorID       string `json:"vendor_id,omitempty"` // Message-ID, ts, SID, webhook-id

	Buttons        []Button          `json:"buttons,omitempty"` // Slack's
	URL            string            `json:"url,omitempty"`     // source of a call's text
	StatusCallback string            `json:"status_callback,omitempty"`
	Spoken         string            `json:"spoken,omitempty"` // what a call said, once it was answered
	Headers        map[string]string `json:"headers,omitempty"`
}

// Button of a Slack message.
type Button struct {
	ActionID string `json:"action_id"`
	Text     string `json:"text"`
	Value    string `json:"value,omitempty"`
	URL      string `json:"url,omitempty"`
}

// Log holds the requests that pretend vendors received. Safe for concurrent use.
type Log struct {
	mu      sync.Mutex
	entries []Entry
	last    int64
	keep    int
	changed chan struct{} // closed and replaced at every change
}

// NewLog returns a log of the last keep entries; 0 = all.
func NewLog(keep int) *Log { return &Log{keep: keep, changed: make(chan struct{})} }

// add stores e and returns its id.
func (l *Log) add(e Entry) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	e.ID = l.last
	// Twice the number is kept for a while, so that the slice is rarely copied.
	if l.keep > 0 && len(l.entries) >= 2*l.keep {
		l.entries = slices.Clone(l.entries[len(l.entries)-l.keep+1:])
	}
	l.entries = append(l.entries, e)
	l.notify()
	return e.ID
}

func (l *Log) notify() {
	close(l.changed)
	l.changed = make(chan struct{})
}

// update changes the entry of that id, if it is still kept.
func (l *Log) update(id int64, change func(*Entry)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.find(id); ok {
		change(&l.entries[i])
		l.notify()
	}
}

func (l *Log) find(id int64) (int, bool) {
	return slices.BinarySearchFunc(l.entries, id, func(e Entry, id int64) int { return int(e.ID - id) })
}

// Entry returns the entry of that id.
func (l *Log) Entry(id int64) (Entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.find(id); ok {
		return l.entries[i], true
	}
	return Entry{}, false
}

// Entries returns all entries, oldest first.
func (l *Log) Entries() []Entry { return l.After(0) }

// After returns the entries with an id greater than the given one, oldest first.
func (l *Log) After(id int64) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.after(id)
}

func (l *Log) after(id int64) []Entry {
	i, found := l.find(id)
	if found {
		i++
	}
	entries := slices.Clone(l.entries[i:])
	if l.keep > 0 && len(entries) > l.keep {
		entries = entries[len(entries)-l.keep:]
	}
	return entries
}

// Accepted returns the entries that count as delivered, oldest first.
func (l *Log) Accepted() []Entry {
	return slices.DeleteFunc(l.Entries(), func(e Entry) bool { return !e.Accepted })
}

// Last returns the id of the newest entry, 0 = none.
func (l *Log) Last() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Changed returns a channel that is closed at the next change.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Wait waits until ok is true for the entries, or ctx ends. It calls ok at once and after each change.
func (l *Log) Wait(ctx context.Context, ok func([]Entry) bool) error {
	for {
		l.mu.Lock()
		changed, entries := l.changed, l.after(0)
		l.mu.Unlock()
		if ok(entries) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
