package messages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseReply(t *testing.T) {
	t.Parallel()
	const batch = "0123456789abcdef0123456789abcdef"
	for text, want := range map[string]Reply{
		"Fine, I am on it": {Command: CommandSorry},
		"a":                {Command: CommandClaimAll},
		" L ":              {Command: CommandClaimLast},
		"27 claim":         {Command: CommandClaim, MessageID: 27},
		"27 ack":           {Command: CommandClaim, MessageID: 27},
		"Acknowledge 27":   {Command: CommandClaim, MessageID: 27},
		"ack all":          {Command: CommandClaimAll},
		"ack last":         {Command: CommandClaimLast},
		"Claim 27 please":  {Command: CommandClaim, MessageID: 27},
		"27 CLAIM":         {Command: CommandClaim, MessageID: 27},
		batch + " claim":   {Command: CommandClaim, Batch: batch},
		"f" + batch[1:] + " claim": {Command: CommandClaim, Batch: "f" +
			batch[1:]}, // not the predecessor's reply to words that begin with f
		"claim all":       {Command: CommandClaimAll},
		"Claim Last one":  {Command: CommandClaimLast},
		"27 suppress":     {Command: CommandOther, MessageID: 27},
		"27 what is this": {Command: CommandOther, MessageID: 27},
	} {
		got, err := ParseReply(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for text, title := range map[string]string{
		"": "Invalid response", "claim": "Invalid response", "27": "Invalid response",
		"what is this": "Invalid message id", "99999999999999999999 claim": "Invalid message id", "-5 claim": "Invalid message id",
	} {
		_, err := ParseReply(text)
		var bad *BadReply
		require.ErrorAs(t, err, &bad, text)
		require.Equal(t, title, bad.Title, text)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{"27 claim", "claim all", "f", "", "\x00 \xff", "a b", "claim 99999999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReply(text)
		if err == nil {
			require.NotEmpty(t, r.Command)
			require.GreaterOrEqual(t, int64(r.MessageID), int64(0))
		}
	})
}
