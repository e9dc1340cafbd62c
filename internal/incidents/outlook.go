package incidents

import "time"

// Outlook is what lists show of an incident besides its own row: its alerts, and who is paged next if nothing changes.
type Outlook struct {
	Alerts, Firing int
	// DueAt is when the next decision about the incident is made: usually its next page. Zero = nobody is paged.
	DueAt time.Time
	// Step of the next page; Again: it repeats pages of this step. 0 = the plan has no further page.
	Step  int
	Again bool
	// Next are whom the plan names for the next page; empty if the incident names them.
	Next []Target
	// Mode is the mode of the next page to the first of Next; "" if it is not a person.
	Mode string
	// Waiting is a message that was not sent yet; the zero value = there is none.
	Waiting WaitingMessage
}

// WaitingMessage is a message that is queued or being sent.
type WaitingMessage struct {
	Recipient, Mode string
	At              time.Time // when it can be sent at the earliest
}
