package page

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScriptsAreServedWithoutIndentation(t *testing.T) {
	t.Parallel()
	const script = "// Draws.\nfunction draw() {\n  // why\n\n  return \"a  //b\";\n}\n"
	require.Equal(t, "function draw() {\nreturn \"a  //b\";\n}\n", string(squeeze("oncall/a.js", []byte(script))))
	require.Equal(t, "// Draws.\n", string(squeeze("vendor/a.js", []byte("// Draws.\n"))))
	require.Equal(t, "a {\n}\n", string(squeeze("a.css", []byte("a {\n  }\n"))))
}
