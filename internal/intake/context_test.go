package intake_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/intake"
)

func TestWithMemberKeepsTheSendersText(t *testing.T) {
	t.Parallel()
	for object, want := range map[string]string{
		`{}`: `{"title":"a<b"}`, " { \n} ": ` {"title":"a<b"}`, `{"b":1, "a":"x" }`: `{"b":1, "a":"x","title":"a<b"}`,
	} {
		got := string(intake.WithMember(json.RawMessage(object), "title", "a<b"))
		require.Equal(t, want, got)
		require.True(t, json.Valid([]byte(got)), got)
	}
}
