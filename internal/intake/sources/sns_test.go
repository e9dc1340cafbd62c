package sources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
)

// The signature of SNS covers some members of a delivery and no header. Whatever somebody adds elsewhere, or writes
// like them, changes nothing.
func TestUnsignedMembersOfSNSAreNeverRead(t *testing.T) {
	alarm := `{"AlarmName":"disk","AlarmArn":"arn:1","NewStateValue":"ALARM","NewStateReason":"full","Trigger":{"MetricName":"used"}}`
	signed := map[string]string{"MessageId": "m-1", "TopicArn": "arn:aws:sns:eu-west-1:1:alerts",
		"Timestamp": "2026-11-28T00:00:00Z"}
	for name, message := range map[string]map[string]string{
		"an alarm":              {"Type": "Notification", "Message": alarm},
		"a text":                {"Type": "Notification", "Message": "disk full"},
		"a text with a subject": {"Type": "Notification", "Message": "disk full", "Subject": "db1"},
		"an object": {"Type": "Notification",
			"Message": `{"title":"disk full","status":"resolved"}`},
		"a confirmation": {"Type": "SubscriptionConfirmation", "Message": "m", "Token": "t",
			"SubscribeURL": "https://sns.eu-west-1.amazonaws.com/"},
		"a confirmation of a departure": {"Type": "UnsubscribeConfirmation", "Message": alarm, "Token": "t",
			"SubscribeURL": "https://sns.eu-west-1.amazonaws.com/"},
	} {
		decode := func(body string, header string) []intake.Event {
			events, err := SNS(builtin)(intake.Request{Body: []byte(body), Header: func(string) string { return header }})
			require.NoError(t, err, name)
			return events
		}
		envelope := ""
		for _, members := range []map[string]string{signed, message} {
			for member, text := range members {
				raw, err := json.Marshal(text)
				require.NoError(t, err)
				envelope += `"` + member + `":` + string(raw) + ","
			}
		}
		want := decode("{"+envelope[:len(envelope)-1]+"}", "")
		require.Equal(t, message["Type"] == "Notification", len(want) == 1, name)
		for _, other := range []string{"type", "TYPE", "message", "MESSAGE", "messageid", "MessageID", "subject", "SUBJECT", "Default", "default", "MessageAttributes", "Signature",
			"SignatureVersion", "SigningCertURL", "UnsubscribeURL", "title", "key", "dedup_key", "status", "state", "severity", "AlarmName", "NewStateValue", "labels", "links"} {
			for _, value := range []string{`"Notification"`, `"OK"`, `"resolved"`, `"x"`, `7`, `null`, `{"AlarmName":"other","x":"y"}`, `["a"]`} {
				added := `"` + other + `":` + value
				require.Equal(t, want, decode("{"+envelope+added+"}", ""), "%s with %s", name, added)
				require.Equal(t, want, decode("{"+added+","+envelope[:len(envelope)-1]+"}", ""), "%s with %s in front",
					name, added)
			}
		}
		for _, header := range []string{"false", "text/plain", "application/x-www-form-urlencoded", "arn:aws:sns:eu-west-1:1:other"} {
			require.Equal(t, want, decode("{"+envelope[:len(envelope)-1]+"}", header), "%s with the header %s", name,
				header)
		}
	}
}
