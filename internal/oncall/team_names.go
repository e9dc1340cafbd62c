package oncall

import (
	"golang.org/x/text/unicode/norm"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// CheckTeamName refuses a new name of a team that looks like another one because of other forms of its characters, such
// as full-width letters. Names are stored in the form NFKC, in which the database compares them.
func CheckTeamName(name string) error {
	if plain := norm.NFKC.String(name); plain != name {
		return fault.Invalidf("name", "the name of a team needs plain forms of its characters: write it as %.255q",
			plain)
	}
	return nil
}
