package tokens_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth/tokens"
)

// The verifier and the challenge are those of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

func TestGrant(t *testing.T) {
	t.Parallel()
	good := tokens.Grant{Name: "laptop", Scopes: tokens.Scopes{tokens.Read}, Challenge: challenge}
	require.NoError(t, good.Check())
	for field, change := range map[string]func(*tokens.Grant){
		"name":      func(g *tokens.Grant) { g.Name = strings.Repeat("x", 101) },
		"scopes":    func(g *tokens.Grant) { g.Scopes = nil },
		"challenge": func(g *tokens.Grant) { g.Challenge = verifier + "=" },
	} {
		bad := good
		change(&bad)
		require.ErrorContains(t, bad.Check(), field)
	}
	require.NoError(t, good.Confirm(verifier))
	for name, wrong := range map[string]string{"another": strings.ToUpper(verifier), "none": "", "the challenge": challenge, "long": verifier + strings.Repeat("x", 100)} {
		require.ErrorIs(t, good.Confirm(wrong), tokens.ErrGrant, name)
	}
	require.ErrorIs(t, tokens.Grant{}.Confirm(""), tokens.ErrGrant)
	code, other := tokens.MakeCode(), tokens.MakeCode()
	require.NotEqual(t, code, other)
	require.GreaterOrEqual(t, len(code), 26, "at least 128 bits in base32")
}
