package sources

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// titleNames are the names of members that have a title wherever they are in a payload, in lower case and without
// punctuation. The value says whether the title identifies what it is about, so that it can be a key. A name that
// depends on what it is the name of ("name" in "job") has that before it.
var titleNames = map[string]bool{
	"title": true, "alertname": true, "alerttitle": true, "incidenttitle": true, "incidentname": true, "rulename": true,
	"alertrulename": true, "monitorname": true, "checkname": true, "conditionname": true, "jobname": true, "servicename": true,
	"displayname": true, "subject": true, "headline": true, "summary": true, "shortdescription": true,
	"eventname": false, "name": false, "message": false, "msg": false, "text": false, "description": false, "reason": false,
	"problem": false,
}

// maxTexts is how many texts stand for a title that a payload lacks.
const maxTexts = 3

// noText matches what says nothing to a person: ids, addresses, times and the like.
var noText = regexp.MustCompile(`^(https?://\S*|[0-9a-fA-F-]{8,}|[\d\s.,:TZ/+-]*|true|false)$`)

// titles are what can stand for the title that a payload lacks at the top; "" = there is none.
type titles struct {
	identity string // the first title that identifies what it is about
	title    string // the first other text with a name like that of a title
	texts    string // the first texts that say something to a person
}

var plainName = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

// titlesIn searches a payload, at any depth.
func titlesIn(body []byte) (out titles) {
	var texts []string
	walkTexts(body, func(parent, name, text string) bool {
		text = strings.Join(strings.Fields(text), " ")
		if noText.MatchString(text) {
			return true
		}
		name, within := strings.ToLower(plainName.Replace(name)), strings.ToLower(plainName.Replace(parent+name))
		switch identifies, known := titleNames[name]; {
		case identifies, titleNames[within]:
			out.identity = text
			return false
		case known && out.title == "":
			out.title = text
		case len(texts) < maxTexts:
			texts = append(texts, text)
		}
		return true
	})
	out.identity, out.title = humanize.Shorten(out.identity, maxSummary), humanize.Shorten(out.title, maxSummary)
	out.texts = humanize.Shorten(strings.Join(texts, ", "), maxSummary)
	return out
}

// walkTexts calls visit with the texts of a JSON value, in their order, until visit returns false. name is that of the
// member, and parent that of the object around it; texts of a list have the name of the list.
func walkTexts(body []byte, visit func(parent, name, text string) bool) {
	type level struct {
		object bool
		of     string // the name of the object or list itself
		name   string // of the member that comes next
		key    bool   // a name comes next
	}
	var levels []level
	for decoder := json.NewDecoder(bytes.NewReader(body)); ; {
		token, err := decoder.Token()
		if err != nil {
			return
		}
		var here *level
		if n := len(levels); n > 0 {
			here = &levels[n-1]
		}
		switch v := token.(type) {
		case json.Delim:
			if v == '}' || v == ']' {
				levels = levels[:len(levels)-1]
				continue
			}
			next := level{object: v == '{', key: v == '{'}
			if here != nil {
				next.of, here.key = here.name, here.object
				if !here.object {
					next.of = here.of
				}
			}
			levels = append(levels, next)
		case string:
			if here != nil && here.key {
				here.name, here.key = v, false
				continue
			}
			if here == nil {
				return
			}
			here.key = here.object
			name := here.name
			if !here.object {
				name = here.of
			}
			if !visit(here.of, name, v) {
				return
			}
		default:
			if here != nil {
				here.key = here.object
			}
		}
	}
}
