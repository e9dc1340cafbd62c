package humanize

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0 s": 0, "15 min": 15 * time.Minute, "1 min 30 s": 90 * time.Second, "1 d 2 h": 26 * time.Hour, "250 ms": 250 * time.Millisecond, "2 s": 1800 * time.Millisecond,
	} {
		require.Equal(t, want, Duration(d))
	}
}

func TestSentence(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "resolved by eve": "Resolved by eve.", "ähnlich": "Ähnlich."} {
		require.Equal(t, want, Sentence(text))
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 59 * time.Second: "59 s", time.Minute: "1 min", 3*time.Hour +
			5*time.Minute: "3 h 5 min", 50 * time.Hour: "2 d",
	} {
		require.Equal(t, want, Age(d))
	}
}
