package sources

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// titleNames are the names of members that have a title, wherever they are in a payload, without their punctuation.
var titleNames = map[string]bool{"title": true, "alertname": true, "alerttitle": true, "incidenttitle": true,
	"rulename": true, "monitorname": true, "checkname": true, "conditionname": true, "eventname": true, "displayname": true,
	"subject": true, "headline": true, "summary": true, "shortdescription": true, "name": true, "message": true,
	"msg": true, "text": true, "description": true, "reason": true, "problem": true}

// maxTexts is how many texts stand for a title that a payload lacks.
const maxTexts = 3

// noText matches what says nothing to a person: ids, addresses, times and the like.
var noText = regexp.MustCompile(`^(https?://\S*|[0-9a-fA-F-]{8,}|[\d\s.,:TZ/+-]*|true|false)$`)

// titleOf returns what can stand for the title that a payload lacks at the top: the first text with a name like that of
// a title, at any depth, and the first texts that say something to a person. "" = there is none.
func titleOf(body []byte) (title, first string) {
	var texts []string
	walkTexts(body, func(name, text string) bool {
		text = strings.Join(strings.Fields(text), " ")
		if noText.MatchString(text) {
			return true
		}
		if titleNames[strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(name))] {
			title = text
			return false
		}
		if len(texts) < maxTexts {
			texts = append(texts, text)
		}
		return true
	})
	return humanize.Shorten(title, maxSummary), humanize.Shorten(strings.Join(texts, ", "), maxSummary)
}

// walkTexts calls visit with the texts of a JSON value, in their order, until visit returns false. name is that of the
// member; texts of a list have the name of the list.
func walkTexts(body []byte, visit func(name, text string) bool) {
	type level struct {
		object bool
		name   string // of the member that comes next, and of the list
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
				next.name, here.key = here.name, here.object
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
			if !visit(here.name, v) {
				return
			}
		default:
			if here != nil {
				here.key = here.object
			}
		}
	}
}
