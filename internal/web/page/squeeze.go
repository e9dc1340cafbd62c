package page

import (
	"bytes"
	"path"
	"strings"
)

// squeeze removes the indentation, empty lines and lines with only a comment from our scripts and style sheets, so that pages stay small
// without a build step. A text of a script must not go over several lines.
func squeeze(name string, body []byte) []byte {
	ext := path.Ext(name)
	if ext != ".js" && ext != ".css" || strings.HasPrefix(name, "vendor/") {
		return body
	}
	var out bytes.Buffer
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 || ext == ".js" && bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.Bytes()
}
