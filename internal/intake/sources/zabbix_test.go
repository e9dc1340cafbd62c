package sources

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/iris-oncall/iris/internal/intake"
)

func TestZabbixUpdates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update     string
		statuses   []intake.Status
		severity   intake.Severity
		updateOnly bool
	}{
		"comment":         {`"ack":"No","action":"commented"`, nil, "", false},
		"acknowledgement": {`"ack":"Yes","action":"acknowledged"`, []intake.Status{intake.Acknowledged}, intake.Warning, false},
		"rise": {`"ack":"No","action":"changed severity from Warning to Disaster and commented"`,
			[]intake.Status{intake.Firing}, intake.Critical, false},
		"fall": {`"ack":"No","action":"commented, changed severity from Disaster to Information"`,
			[]intake.Status{intake.Firing}, intake.Info, true},
		"number of the new severity": {`"ack":"No","action":"changed severity from Low to Urgent","update_nseverity":"4"`,
			[]intake.Status{intake.Firing}, intake.Error, false},
		"number that Zabbix 6.0 does not know": {`"ack":"No","action":"changed severity from High to Average","update_nseverity":"{EVENT.UPDATE.NSEVERITY}"`,
			[]intake.Status{intake.Firing}, intake.Warning, true},
		"renamed severities": {`"ack":"No","action":"changed severity from High to Low"`,
			[]intake.Status{intake.Firing}, intake.Warning, false},
		"acknowledgement with a rise": {`"ack":"Yes","action":"acknowledged and changed severity from Average to High"`,
			[]intake.Status{intake.Firing, intake.Acknowledged}, intake.Error, true},
	} {
		events, err := Zabbix(request(`{"event_id":"7","value":"1","update":"1","nseverity":"2","name":"n",` + c.update + `}`))
		require.NoError(t, err, name)
		var statuses []intake.Status
		for _, e := range events {
			statuses = append(statuses, e.Status)
			require.Equal(t, "7", e.Key, name)
			require.Equal(t, c.severity, e.Severity, name)
			require.Equal(t, c.updateOnly, e.UpdateOnly, name)
		}
		require.Equal(t, c.statuses, statuses, name)
	}
}

// The media types differ only in a macro that Zabbix 6.0 does not have.
func TestTheMediaTypesOfZabbix(t *testing.T) {
	t.Parallel()
	type parameter struct{ Name, Value string }
	parameters := func(file, version string) (names map[string]string, rest any) {
		raw, err := os.ReadFile("../../../deploy/zabbix/" + file)
		require.NoError(t, err)
		var export struct {
			Content struct {
				Version    string
				MediaTypes []struct {
					Type       string
					Parameters []parameter
					Rest       map[string]any `yaml:",inline"`
				} `yaml:"media_types"`
			} `yaml:"zabbix_export"`
		}
		require.NoError(t, yaml.Unmarshal(raw, &export))
		require.Equal(t, version, export.Content.Version)
		require.Len(t, export.Content.MediaTypes, 1)
		names = map[string]string{}
		for _, p := range export.Content.MediaTypes[0].Parameters {
			names[p.Name] = p.Value
		}
		return names, export.Content.MediaTypes[0].Rest
	}
	newer, rest := parameters("iris.yaml", "6.4")
	older, olderRest := parameters("iris-6.0.yaml", "6.0")
	require.Equal(t, rest, olderRest)
	require.Equal(t, "{EVENT.UPDATE.ACTION}", older["action"])
	require.Equal(t, "{EVENT.UPDATE.NSEVERITY}", newer["update_nseverity"])
	delete(newer, "update_nseverity")
	require.Equal(t, newer, older)
}
