package fault

import "strings"

// DidYouMean returns "; did you mean X?" with the known name that is most similar to name. It returns "" if every known
// name differs in more than 3 bytes, or in more than half of its bytes. It ignores case.
func DidYouMean(name string, known []string) string {
	best, distance := "", 4
	for _, k := range known {
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance && d < len(k)/2+1 {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// editDistance is the Levenshtein distance: how many bytes must be changed, added or removed to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		previous := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := previous
			if a[i] != b[j] {
				cost++
			}
			previous = row[j+1]
			row[j+1] = min(cost, row[j]+1, previous+1)
		}
	}
	return row[len(b)]
}
