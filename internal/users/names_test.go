package users

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestCanonicalName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"sysadm": "sysadm", "SysAdm": "sysadm", "ſyſadm": "sysadm", "ｓｙｓadm": "sysadm", " sysadm ": "sysadm",
		"\u212Aim": "kim", "STRASSE": "strasse", "straße": "strasse", "ﬁona": "fiona", "İ": "i̇", "ΣΑΣ": "σασ", "σας": "σασ",
		"Ann Example": "ann example", "ann@example.com": "ann@example.com", "e\u0301": "\u00e9",
	} {
		require.Equal(t, want, CanonicalName(name), name)
		require.Equal(t, want, CanonicalName(CanonicalName(name)), name)
	}
	require.True(t, SameName("Ann ", "aNN"))
	require.False(t, SameName("ann", "anne"))
}

func TestCheckNewName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ann", "Ann Example", "ann@example.com", "o'neill-2", "Jürgen", "Анна", "Ελένη", "山田", "user_1 (night)"} {
		require.NoError(t, CheckNewName(name), name)
	}
	for _, name := range []string{"ſyſadm", "ｓysadm", "\u212Aim", "ﬁona", "sуsadm" /* Cyrillic у */, "αnn", "an\u200bn", "an\u202en", "an\u00adn"} {
		require.True(t, fault.Is(CheckNewName(name), fault.Invalid), name)
	}
}
