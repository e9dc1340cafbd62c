package openapi

import (
	"fmt"
	"strings"
)

// schema expands a short form.
func (s spec) schema(short string) (object, error) {
	short = strings.TrimSpace(short)
	if alternatives := outside(short, '|'); len(alternatives) > 1 {
		choices := make([]any, len(alternatives))
		for i, a := range alternatives {
			expanded, err := s.schema(a)
			if err != nil {
				return nil, err
			}
			choices[i] = expanded
		}
		return object{"anyOf": choices}, nil
	}
	switch {
	case short == "any":
		return object{}, nil
	case short == "null", short == "string", short == "integer", short == "number", short == "boolean", short == "object":
		return object{"type": short}, nil
	case short == "flag":
		return object{"type": "integer", "enum": []any{0, 1}}, nil
	case short == "time":
		return object{"type": "integer", "format": "int64", "description": "Unix seconds"}, nil
	case strings.HasPrefix(short, "[") && strings.HasSuffix(short, "]"):
		items, err := s.schema(short[1 : len(short)-1])
		if err != nil {
			return nil, err
		}
		return object{"type": "array", "items": items}, nil
	case strings.HasPrefix(short, "<") && strings.HasSuffix(short, ">"):
		items, err := s.schema("[" + short[1:len(short)-1] + "]")
		if err != nil {
			return nil, err
		}
		return object{"type": "object", "properties": object{"items": items, "next": object{"type": "null"}},
			"required":             []any{"items", "next"},
			"additionalProperties": false}, nil
	case strings.HasPrefix(short, "{") && strings.HasSuffix(short, "}"):
		values, err := s.schema(short[1 : len(short)-1])
		if err != nil {
			return nil, err
		}
		return object{"type": "object", "additionalProperties": values}, nil
	case s.Schemas[short] != nil:
		return object{"$ref": "#/components/schemas/" + short}, nil
	}
	return nil, fmt.Errorf("schema %q is not known", short)
}

// outside splits text at each sep that is outside of brackets.
func outside(text string, sep rune) []string {
	var parts []string
	depth, from := 0, 0
	for i, r := range text {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case sep:
			if depth == 0 {
				parts = append(parts, text[from:i])
				from = i + 1
			}
		}
	}
	return append(parts, text[from:])
}

// expand returns the JSON Schema of a schema in a spec file. Its keys schema, items and additionalProperties may be
// short forms. "fields" maps names to short forms or schemas; a name with "?" at its end is optional. The object has no
// other fields unless it has "open: true".
func (s spec) expand(written map[string]any) (object, error) {
	out := object{}
	for key, value := range written {
		switch key {
		case "fields":
			fields, ok := value.(map[string]any)
			if !ok {
				return nil, fmt.Errorf("fields must be a map")
			}
			properties, required, err := s.fields(fields)
			if err != nil {
				return nil, err
			}
			out["type"], out["properties"] = "object", properties
			if len(required) > 0 {
				out["required"] = required
			}
			if written["open"] != true {
				out["additionalProperties"] = false
			}
		case "open":
		case "schema", "items", "additionalProperties":
			if short, ok := value.(string); ok {
				expanded, err := s.schema(short)
				if err != nil {
					return nil, err
				}
				out[key] = expanded
				continue
			}
			out[key] = value
		default:
			out[key] = value
		}
	}
	return out, nil
}

func (s spec) fields(written map[string]any) (properties object, required []any, err error) {
	properties = object{}
	for _, name := range sorted(written) {
		key, optional := strings.CutSuffix(name, "?")
		var p object
		switch v := written[name].(type) {
		case string:
			p, err = s.schema(v)
		case map[string]any:
			p, err = s.field(v)
		default:
			err = fmt.Errorf("not a schema: %v", v)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		properties[key] = p
		if !optional {
			required = append(required, key)
		}
	}
	return properties, required, nil
}

// field expands a schema of a spec file. If it has a short form under "schema", the other keys are added to that
// schema.
func (s spec) field(written map[string]any) (object, error) {
	out, err := s.expand(written)
	if err != nil {
		return nil, err
	}
	if short, ok := out["schema"].(object); ok {
		delete(out, "schema")
		for k, v := range short {
			out[k] = v
		}
	}
	return out, nil
}
