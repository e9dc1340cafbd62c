package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"
)

// JSON answers with v as JSON: no HTML escaping, no trailing newline, Content-Type without a charset. A value that
// cannot be encoded is a defect and becomes a 500.
func JSON(w http.ResponseWriter, status int, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		http.Error(w, "Internal Server Error", http.StatusInternalServerError)
		return
	}
	Raw(w, status, bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}

// Raw answers with encoded JSON.
func Raw(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Storable reports whether PostgreSQL can store s as text.
func Storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
