package answers

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
)

// node is an element of TwiML, the XML in which Twilio reads what to do.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node
}

func verb(name, text string) node { return node{XMLName: xml.Name{Local: name}, Text: text} }

func pause(seconds int) node {
	return node{XMLName: xml.Name{Local: "Pause"}, Attrs: []xml.Attr{attr("length", strconv.Itoa(seconds))}}
}

// gatherKey speaks the nodes. It accepts a key during that time and for so many seconds afterwards. Twilio posts the
// key to action.
func gatherKey(action, seconds string, nodes ...node) node {
	return node{XMLName: xml.Name{Local: "Gather"}, Nodes: nodes, Attrs: []xml.Attr{
		attr("action", action), attr("method", "POST"), attr("numDigits", "1"), attr("timeout",
			seconds), attr("finishOnKey", "#"),
		attr("actionOnEmptyResult", "false"),
	}}
}

func attr(name, value string) xml.Attr { return xml.Attr{Name: xml.Name{Local: name}, Value: value} }

// twiml answers with TwiML.
func twiml(w http.ResponseWriter, nodes ...node) error {
	out, err := xml.Marshal(node{XMLName: xml.Name{Local: "Response"}, Nodes: nodes})
	if err != nil {
		return fmt.Errorf("write TwiML: %w", err)
	}
	w.Header().Set("Content-Type", "application/xml")
	_, _ = w.Write([]byte(xml.Header))
	_, _ = w.Write(out)
	return nil
}
