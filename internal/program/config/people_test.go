package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimeZonesMailingListsAndMobileSettings(t *testing.T) {
	t.Parallel()
	for content, problem := range map[string]string{
		"time_zones: [UTC, Europe/Zurich, US/Pacific]":   "",
		"time_zones: [Mars/Base]":                        `time_zones[0]): "Mars/Base" is not a time zone`,
		"time_zones: [UTC, Local]":                       `time_zones[1]): "Local" is not a time zone`,
		"time_zones: ['']":                               "is not a time zone",
		"mailing_lists: {max_members: 200}":              "",
		"mailing_lists: {max_members: -1}":               "mailing_lists.max_members): must not be negative",
		"mobile: {activated: true, applications: [app]}": "",
	} {
		c, err := load(t, content, minimal...)
		require.NoError(t, err, content)
		_, err = c.API()
		if problem == "" {
			require.NoError(t, err, content)
		} else {
			require.ErrorContains(t, err, problem, content)
		}
	}
	c, err := load(t, "mailing_lists: {max_members: 200}\nmobile: {activated: true}", minimal...)
	require.NoError(t, err)
	api, err := c.API()
	require.NoError(t, err)
	require.Equal(t, 200, api.MailingLists.MaxMembers)
	require.Contains(t, api.TimeZones, "US/Pacific")
	require.Equal(t, "UTC", api.TimeZones[0])
	for _, zone := range api.TimeZones {
		_, err := time.LoadLocation(zone)
		require.NoError(t, err)
	}
	var said string
	for _, w := range c.Warnings() {
		said += w.Error() + "\n"
	}
	require.Contains(t, said, "mobile.applications: is empty")
	p, err := c.Processor()
	require.NoError(t, err)
	require.Equal(t, 200, p.MailingLists.MaxMembers)
}
