// Command events uses a running Iris with the Go clients of PagerDuty and Opsgenie, as programs in the wild do. Its
// arguments are the host and port of Iris, a token of an integration of type pagerduty, one of type opsgenie, a token of
// a person, and the number of an open incident.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"time"

	"github.com/PagerDuty/go-pagerduty"
	"github.com/opsgenie/opsgenie-go-sdk-v2/alert"
	"github.com/opsgenie/opsgenie-go-sdk-v2/client"
	"github.com/sirupsen/logrus"
)

func main() {
	ctx, host := context.Background(), os.Args[1]
	usePagerDuty(ctx, host, os.Args[2])
	useOpsgenie(ctx, host, os.Args[3])
	usePagerDutyREST(ctx, host, os.Args[4], os.Args[5])
	fmt.Println("the Go clients of PagerDuty and Opsgenie got the answers that they expect")
}

// must ends the program if a call failed.
func must[T any](value T, err error) T {
	check(err == nil, err)
	return value
}

func check(ok bool, about ...any) {
	if !ok {
		panic(fmt.Sprint(about...))
	}
}

// redirect sends requests to another host. The functions of go-pagerduty have a fixed address.
type redirect string

func (r redirect) Do(q *http.Request) (*http.Response, error) {
	q.URL.Scheme, q.URL.Host = "http", string(r)
	return http.DefaultClient.Do(q)
}

func usePagerDuty(ctx context.Context, host, key string) {
	c := pagerduty.NewClient("", pagerduty.WithV2EventsAPIEndpoint("http://"+host))
	for _, action := range []string{"trigger", "acknowledge", "resolve"} {
		e := &pagerduty.V2Event{RoutingKey: key, Action: action, DedupKey: "go/disk", Client: "go",
			Links: []any{map[string]string{"href": "https://wiki.example.net/disk", "text": "Runbook"}}}
		if action == "trigger" {
			e.Payload = &pagerduty.V2Payload{Summary: "Disk 95 %", Source: "db7", Severity: "critical",
				Details: map[string]any{"used_pct": 95}}
		}
		got := must(c.ManageEventWithContext(ctx, e))
		check(got.DedupKey == "go/disk" && got.Status == "success", got)
	}
	change := must(c.CreateChangeEventWithContext(ctx, pagerduty.ChangeEvent{RoutingKey: key,
		Payload: pagerduty.ChangeEventPayload{Summary: "api 4.2 rolled out"}}))
	check(change.Status == "success", change)
	for _, kind := range []string{"trigger", "resolve"} {
		old := must(pagerduty.CreateEventWithHTTPClient(pagerduty.Event{ServiceKey: key, Type: kind,
			IncidentKey: "go/v1", Description: "Disk"}, redirect(host)))
		check(old.IncidentKey == "go/v1", old)
	}
	_, err := c.ManageEventWithContext(ctx, &pagerduty.V2Event{RoutingKey: "unknown", Action: "trigger",
		Payload: &pagerduty.V2Payload{Summary: "s"}})
	refused, ok := err.(pagerduty.APIError)
	check(ok && refused.StatusCode == http.StatusBadRequest && refused.APIError.Valid &&
		len(refused.APIError.ErrorObject.Errors) == 1, err)
}

func usePagerDutyREST(ctx context.Context, host, key, id string) {
	c := pagerduty.NewClient(key, pagerduty.WithAPIEndpoint("http://"+host+"/pagerduty"))
	list := must(c.ListIncidentsWithContext(ctx, pagerduty.ListIncidentsOptions{Statuses: []string{"triggered"}, Limit: 1}))
	check(len(list.Incidents) == 1 && list.Limit == 1, list)
	got := must(c.GetIncidentWithContext(ctx, id))
	check(got.ID == id && got.Status == "triggered" && got.Service.ID == "demo" && got.EscalationPolicy.ID != "", got)
	for _, status := range []string{"acknowledged", "resolved"} {
		changed := must(c.ManageIncidentsWithContext(ctx, "demo", []pagerduty.ManageIncidentsOptions{{ID: id, Status: status}}))
		check(len(changed.Incidents) == 1 && changed.Incidents[0].Status == status, changed)
	}
	calls := must(c.ListOnCallsWithContext(ctx, pagerduty.ListOnCallOptions{ScheduleIDs: []string{"demo/primary"}}))
	check(len(calls.OnCalls) > 0 && calls.OnCalls[0].User.ID != "", calls)
	check(len(must(c.ListSchedulesWithContext(ctx, pagerduty.ListSchedulesOptions{})).Schedules) > 0, "schedules")
	check(len(must(c.ListServicesWithContext(ctx, pagerduty.ListServiceOptions{})).Services) > 0, "services")
	check(len(must(c.ListUsersWithContext(ctx, pagerduty.ListUsersOptions{})).Users) > 0, "users")
	check(len(must(c.ListEscalationPoliciesWithContext(ctx, pagerduty.ListEscalationPoliciesOptions{})).EscalationPolicies) > 0, "policies")
	_, err := c.GetIncidentWithContext(ctx, "999999")
	refused, ok := err.(pagerduty.APIError)
	check(ok && refused.NotFound() && refused.APIError.Valid && refused.APIError.ErrorObject.Code == 2100, err)
}

func useOpsgenie(ctx context.Context, host, key string) {
	c := must(alert.NewClient(&client.Config{ApiKey: key, OpsGenieAPIURL: client.ApiUrl(host),
		LogLevel: logrus.ErrorLevel}))
	const alias = "go/queue"
	done := func(want string) func(*alert.AsyncAlertResult, error) {
		return func(got *alert.AsyncAlertResult, err error) {
			status := must(must(got, err).RetrieveStatus(ctx))
			check(status.IsSuccess && status.Status == want && status.Alias == alias && status.AlertID != "",
				fmt.Sprintf("%+v", status))
		}
	}
	is := alert.ALIAS
	done("Created alert")(c.Create(ctx, &alert.CreateAlertRequest{Message: "Queue is full", Alias: alias,
		Description: "9,000 jobs", Tags: []string{"env:prod"},
		Details: map[string]string{"host": "q1"}, Entity: "queue", Priority: alert.P3, Responders: []alert.Responder{{Type: alert.TeamResponder, Name: "db"}}}))
	done("Added note")(c.AddNote(ctx, &alert.AddNoteRequest{IdentifierType: is, IdentifierValue: alias,
		Note: "seen before"}))
	done("Added tags")(c.AddTags(ctx, &alert.AddTagsRequest{IdentifierType: is, IdentifierValue: alias,
		Tags: []string{"team:db", "old"}}))
	done("Removed tags")(c.RemoveTags(ctx, &alert.RemoveTagsRequest{IdentifierType: is, IdentifierValue: alias,
		Tags: "old"}))
	done("Added details")(c.AddDetails(ctx, &alert.AddDetailsRequest{IdentifierType: is, IdentifierValue: alias,
		Details: map[string]string{"disk": "sda"}}))
	done("Removed details")(c.RemoveDetails(ctx, &alert.RemoveDetailsRequest{IdentifierType: is,
		IdentifierValue: alias, Keys: "host"}))
	done("Updated message")(c.UpdateMessage(ctx, &alert.UpdateMessageRequest{IdentifierType: is,
		IdentifierValue: alias, Message: "Queue is still full"}))
	done("Updated description")(c.UpdateDescription(ctx, &alert.UpdateDescriptionRequest{IdentifierType: is,
		IdentifierValue: alias, Description: "9,500 jobs"}))
	done("Updated priority")(c.UpdatePriority(ctx, &alert.UpdatePriorityRequest{IdentifierType: is,
		IdentifierValue: alias, Priority: alert.P1}))
	done("Acknowledged alert")(c.Acknowledge(ctx, &alert.AcknowledgeAlertRequest{IdentifierType: is,
		IdentifierValue: alias}))

	got := must(c.Get(ctx, &alert.GetAlertRequest{IdentifierType: is, IdentifierValue: alias}))
	check(got.Message == "Queue is still full" && got.Description == "9,500 jobs" && got.Priority == alert.P1 &&
		got.Acknowledged && got.Status == "open" &&
		reflect.DeepEqual(got.Tags, []string{"env:prod", "team:db"}) &&
		reflect.DeepEqual(got.Details, map[string]string{"disk": "sda"}), fmt.Sprintf("%+v", got))
	for kind, value := range map[alert.AlertIdentifier]string{alert.ALERTID: got.Id, alert.TINYID: got.TinyId} {
		same := must(c.Get(ctx, &alert.GetAlertRequest{IdentifierType: kind, IdentifierValue: value}))
		check(same.Id == got.Id, fmt.Sprintf("%+v", same))
	}
	list := must(c.List(ctx, &alert.ListAlertRequest{Query: "status: open AND alias: " + alias, Limit: 5}))
	check(len(list.Alerts) == 1 && list.Alerts[0].Id == got.Id, fmt.Sprintf("%+v", list))
	count := must(c.CountAlerts(ctx, &alert.CountAlertsRequest{Query: "alias:" + alias}))
	check(count.Count >= 1, fmt.Sprintf("%+v", count))

	done("Unacknowledged alert")(c.Unacknowledge(ctx, &alert.UnacknowledgeAlertRequest{IdentifierType: is,
		IdentifierValue: alias}))
	done("Added responder")(c.AddResponder(ctx, &alert.AddResponderRequest{IdentifierType: is, IdentifierValue: alias,
		Responder: alert.Responder{Type: alert.UserResponder, Username: "demo"}}))
	done("Added team")(c.AddTeam(ctx, &alert.AddTeamRequest{IdentifierType: is, IdentifierValue: alias,
		Team: alert.Team{Name: "demo"}}))
	done("Snoozed alert")(c.Snooze(ctx, &alert.SnoozeAlertRequest{IdentifierType: is, IdentifierValue: alias,
		EndTime: time.Now().Add(time.Hour)}))
	got = must(c.Get(ctx, &alert.GetAlertRequest{IdentifierType: is, IdentifierValue: alias}))
	check(got.Snoozed && got.SnoozedUntil.After(time.Now()), fmt.Sprintf("%+v", got))
	done("Assigned alert")(c.AssignAlert(ctx, &alert.AssignRequest{IdentifierType: is, IdentifierValue: alias,
		Owner: alert.User{Username: "demo"}}))
	done("Closed alert")(c.Close(ctx, &alert.CloseAlertRequest{IdentifierType: is, IdentifierValue: alias,
		Note: "drained"}))
	_, err := c.Get(ctx, &alert.GetAlertRequest{IdentifierType: is, IdentifierValue: "none"})
	refused, ok := err.(*client.ApiError)
	check(ok && refused.StatusCode == http.StatusNotFound, err)
	_, err = c.UpdatePriority(ctx, &alert.UpdatePriorityRequest{IdentifierType: is, IdentifierValue: alias,
		Priority: "P9"})
	check(err != nil, "P9 was accepted")
}
