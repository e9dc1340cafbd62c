package processor

import (
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// links makes the links in messages.
type links struct {
	public string
	sign   *auth.Links
}

// AckURL implements delivery.Links. There is no link without a user, because somebody must acknowledge. A link without
// an incident is for a digest and acknowledges its incidents.
func (l *links) AckURL(incident incidents.ID, message messages.ID, user users.ID) string {
	if user == 0 {
		return ""
	}
	return l.public + "/ack/" + l.sign.Sign(auth.Link{
		Purpose: auth.Acknowledge, IncidentID: int64(incident), MessageID: int64(message), UserID: user,
		ExpiresAt: time.Now().Add(auth.LinkLife),
	})
}

// IncidentURL implements delivery.Links.
func (l *links) IncidentURL(incident incidents.ID) string {
	if incident == 0 {
		return ""
	}
	return l.public + "/incidents/" + strconv.FormatInt(int64(incident), 10)
}
