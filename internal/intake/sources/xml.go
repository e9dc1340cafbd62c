package sources

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding/htmlindex"
)

// Bounds of an XML document.
const (
	maxXMLDepth    = 50
	maxXMLElements = 10_000
)

var errXML = errors.New("the document nests too deep or has too many elements")

// xmlLike matches the beginning of an XML document. HTML is a text.
var xmlLike = regexp.MustCompile(`^<(\?xml|[A-Za-z_][\w.-]*:?[\w.-]*[\s>/])`)

// xmlElement is an element that is being read.
type xmlElement struct {
	name    string
	members map[string]any
	text    strings.Builder
}

// value is the element as JSON has it: its text, or an object of its attributes and elements.
func (e *xmlElement) value() any {
	text := strings.TrimSpace(e.text.String())
	if len(e.members) == 0 {
		return text
	}
	if text != "" {
		e.add("text", text)
	}
	return e.members
}

// add adds a member; further ones of a name make a list.
func (e *xmlElement) add(name string, value any) {
	switch known := e.members[name].(type) {
	case nil:
		e.members[name] = value
	case []any:
		e.members[name] = append(known, value)
	default:
		e.members[name] = []any{known, value}
	}
}

// xmlObject returns an XML document as a JSON object: elements and attributes are members by their names without a
// prefix, and elements without either are texts.
func xmlObject(body string) ([]byte, error) {
	decoder := xml.NewDecoder(strings.NewReader(body))
	decoder.CharsetReader = func(charset string, in io.Reader) (io.Reader, error) {
		_, err := htmlindex.Get(charset) // the body is UTF-8 already
		return in, err
	}
	open := []*xmlElement{{members: map[string]any{}}}
	for elements := 0; ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return json.Marshal(open[0].members)
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if elements++; elements > maxXMLElements || len(open) > maxXMLDepth {
				return nil, errXML
			}
			e := &xmlElement{name: t.Name.Local, members: map[string]any{}}
			for _, a := range t.Attr {
				if a.Name.Space != "xmlns" && a.Name.Local != "xmlns" {
					e.add(a.Name.Local, a.Value)
				}
			}
			open = append(open, e)
		case xml.CharData:
			open[len(open)-1].text.Write(t)
		case xml.EndElement:
			e := open[len(open)-1]
			open = open[:len(open)-1]
			open[len(open)-1].add(e.name, e.value())
		}
	}
}
