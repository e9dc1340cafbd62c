package oncall

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/users"
)

// PersonalNotice is a personal notice for one reader.
type PersonalNotice struct {
	Kind   NoticeKind
	Team   string
	Reader users.ID
	By     string // name of the person who made the change
	// Facts are those of Notice.Shifts.
	Facts []NoticeFact
	Note  string
	Zone  *time.Location // of the reader
	Link  string         // where to answer; "" = no link
}

// Text returns a short text for phones. It returns false if the notice does not concern the reader or its kind has no
// text.
func (p PersonalNotice) Text() (Text, bool) {
	var own, others []NoticeFact
	for _, f := range p.Facts {
		if f.User == p.Reader {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	request := "swap request for " + p.Team
	switch p.Kind {
	case SwapAsked:
		subject := p.By + " asks you to take a shift of " + p.Team
		if len(own) > 0 {
			subject = p.By + " asks you to swap shifts of " + p.Team
		}
		return Text{subject, stacked(p.list("You would take", others), p.list("You would give", own), quoted(p.Note),
			line("Answer", p.Link))}, true
	case SwapAccepted:
		return Text{p.By + " accepted your " + request, stacked(p.list("You gave away", own),
			p.list("You have now", others))}, true
	case SwapDeclined:
		return Text{p.By + " declined your " + request, stacked(p.list("Still yours", own),
			line("Ask others", p.Link))}, true
	case SwapExpired:
		return Text{"Your " + request + " expired", stacked("Nobody agreed in time: "+p.Note+".",
			p.list("Still yours", own))}, true
	case SwapWithdrawn:
		return Text{p.By + " withdrew the " + request, stacked("You need not answer, nothing changes.",
			p.list("It was about", p.Facts))}, true
	case PagerTaken:
		return p.pager()
	case ShiftsHandedOver:
		return p.handedOver()
	}
	return Text{}, false
}

// pager returns the text of a notice that a person took the pager; the first fact is the shift taken.
func (p PersonalNotice) pager() (Text, bool) {
	if len(p.Facts) == 0 {
		return Text{}, false
	}
	taken := p.Facts[0]
	if taken.User == p.Reader {
		return Text{
			fmt.Sprintf("You have the pager of %s", p.Team), fmt.Sprintf("You are %s of %s from now until %s.",
				taken.Role, p.Team, shortTime(taken.End, p.Zone)),
		}, true
	}
	var lost []NoticeFact
	for _, f := range p.Facts[1:] {
		if f.User == p.Reader {
			f.Start, f.End = clock.Later(f.Start, taken.Start), clock.Earlier(f.End, taken.End)
			lost = append(lost, f)
		}
	}
	return Text{
		fmt.Sprintf("%s took the pager of %s from you", taken.Name,
			p.Team), stacked(p.list(taken.Name+" is on call in your place", lost)),
	}, len(lost) > 0
}

// handedOver returns the text of a notice that somebody gave shifts to other people.
func (p PersonalNotice) handedOver() (Text, bool) {
	var lost, got []NoticeFact
	for i, f := range p.Facts {
		switch {
		case f.User != p.Reader:
		case i%2 == 0:
			lost = append(lost, f)
		default:
			got = append(got, f)
		}
	}
	return Text{fmt.Sprintf("%s changed your shifts of %s", p.By, p.Team),
		stacked(p.list("No longer yours", lost), p.list("Yours now", got))}, len(lost)+len(got) > 0
}

// mostListed is how many shifts a message to a phone lists.
const mostListed = 5

func (p PersonalNotice) list(title string, facts []NoticeFact) string {
	if len(facts) == 0 {
		return ""
	}
	var out []string
	for i, f := range facts {
		if i == mostListed {
			out = append(out, fmt.Sprintf("and %d more", len(facts)-i))
			break
		}
		out = append(out, fmt.Sprintf("%s %s to %s", f.Role, f.Start.In(p.Zone).Format(shortLayout),
			shortTime(f.End, p.Zone)))
	}
	return title + ": " + strings.Join(out, ", ") + "."
}

func line(title, text string) string {
	if text == "" {
		return ""
	}
	return title + ": " + text
}

func quoted(note string) string {
	if note == "" {
		return ""
	}
	return "“" + note + "”"
}

func stacked(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(s string) bool { return s == "" }), "\n")
}

const shortLayout = "Mon 2 Jan 15:04"

func shortTime(t time.Time, zone *time.Location) string {
	return t.In(zone).Format(shortLayout + " MST")
}
