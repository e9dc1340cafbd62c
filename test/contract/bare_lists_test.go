package contract

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every list of /v1 is an object with items and next. No answer is a bare array.
func TestNoAnswerOfV1IsABareArray(t *testing.T) {
	t.Parallel()
	s := newServer(t, everythingServed(t))
	s.open()
	s.integrations()
	s.silence()
	var bare []string
	read := map[string]bool{}
	for _, o := range s.api.operations {
		if !strings.HasPrefix(o.path, "/v1/") {
			continue
		}
		for status, r := range o.responses {
			content, _ := r.(map[string]any)["content"].(map[string]any)
			media, _ := content["application/json"].(map[string]any)
			if schema, _ := media["schema"].(map[string]any); schema["type"] == "array" {
				bare = append(bare, o.method+" "+o.path+" is described as an array: "+status)
			}
		}
		if o.method != get {
			continue
		}
		a := s.do(admin, get, stand(strings.ReplaceAll(o.path, "{integration}", "generic")), nil)
		if strings.HasPrefix(strings.TrimSpace(a.body), "[") {
			bare = append(bare, "GET "+o.path)
		}
		read[o.path] = a.status == 200
	}
	slices.Sort(bare)
	require.Empty(t, bare)
	for _, path := range []string{"rotations", "gaps", "coverage", "fairness", "unavailability", "conflicts", "calendar-subscriptions", "swap-requests"} {
		require.True(t, read["/v1/teams/{team}/"+path], path)
	}
	for _, path := range []string{"/v1/reachability", "/v1/users/{user}/calendar-subscriptions", "/v1/incidents", "/v1/incidents/{id}/timeline", "/v1/silences"} {
		require.True(t, read[path], path)
	}
}
