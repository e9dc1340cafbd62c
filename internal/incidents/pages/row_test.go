package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

func TestTheNextPageInWords(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(4 * time.Minute)
	active := incidents.Incident{Active: true, CurrentStep: 1}
	to := func(targets ...incidents.Target) []incidents.Target { return targets }
	omar, db := incidents.Target{Role: "user", Name: "omar"}, incidents.Target{Role: "oncall-primary", Name: "db"}
	for want, c := range map[string]struct {
		i incidents.Incident
		o incidents.Outlook
	}{
		"omar by call": {active, incidents.Outlook{DueAt: at, Step: 2, Next: to(omar),
			Mode: "call"}},
		"omar again by call": {active, incidents.Outlook{DueAt: at, Step: 1, Again: true,
			Next: to(omar), Mode: "call"}},
		"omar and 1 more": {active, incidents.Outlook{DueAt: at, Step: 2, Next: to(omar, db),
			Mode: "call"}},
		"on call for db": {active, incidents.Outlook{DueAt: at, Step: 2, Next: to(db)}},
		"step 2":         {active, incidents.Outlook{DueAt: at, Step: 2}},
		"ann by sms": {active, incidents.Outlook{DueAt: time.Now(), Step: 2, Next: to(omar),
			Waiting: incidents.WaitingMessage{Recipient: "ann", Mode: "sms", At: at}}},
		"pages again":                           {incidents.Incident{SnoozedUntil: at}, incidents.Outlook{}},
		"the silence ends":                      {incidents.Incident{SilencedUntil: at}, incidents.Outlook{}},
		"nobody is left to page: the plan ends": {active, incidents.Outlook{DueAt: at}},
	} {
		require.Equal(t, ahead{want, at}, whatIsNext(c.i, c.o), want)
	}
	require.Zero(t, whatIsNext(incidents.Incident{Owner: "ann"}, incidents.Outlook{}))
	require.Zero(t, whatIsNext(incidents.Incident{Resolved: true, SnoozedUntil: at}, incidents.Outlook{}))
}
