package opening

import (
	"bytes"
	"encoding/json"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// contextOf returns the context of an incident from the posted context. If the application declared variables, the result has
// exactly these, in their order, with null for missing ones. Otherwise the result is the posted context. Values keep the bytes of
// the sender, except NUL characters, which PostgreSQL cannot store.
func contextOf(posted json.RawMessage, members map[string]json.RawMessage, variables []string) (json.RawMessage, error) {
	var buf bytes.Buffer
	if len(variables) == 0 {
		if err := json.Compact(&buf, wire.WithoutNUL(posted)); err != nil {
			return nil, err
		}
	} else if err := declared(&buf, members, variables); err != nil {
		return nil, err
	}
	if n := wire.JSONSize(buf.Bytes()); n > incidents.MaxContext {
		return nil, fault.Invalidf("context", "Context too large. %d is larger than limit %d", n, incidents.MaxContext)
	}
	return buf.Bytes(), nil
}

func declared(buf *bytes.Buffer, posted map[string]json.RawMessage, variables []string) error {
	buf.WriteByte('{')
	for i, name := range variables {
		if i > 0 {
			buf.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return err
		}
		buf.Write(key)
		buf.WriteByte(':')
		value, ok := posted[name]
		if !ok {
			value = json.RawMessage("null")
		}
		if err := json.Compact(buf, wire.WithoutNUL(value)); err != nil {
			return err
		}
	}
	buf.WriteByte('}')
	return nil
}
