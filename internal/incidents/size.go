package incidents

import "strings"

// JSONSize returns the length of compact JSON as Iris's clients count it: non-ASCII characters as \uXXXX, "/" as "\/".
func JSONSize(compact []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(compact); i++ {
		c := compact[i]
		switch {
		case quoted && c == '\\':
			size, used := escapeSize(compact[i:])
			n += size
			i += used - 1
		case c == '"':
			quoted = !quoted
			n++
		case quoted && c == '/':
			n += 2
		case c < 0x80:
			n++
		case c >= 0xf0: // first byte of four: a surrogate pair
			n += 12
		case c >= 0xc0: // first byte of two or three
			n += 6
		} // other bytes belong to a character that was counted
	}
	return n
}

// escapeSize returns how many characters an escape counts for, and how many bytes it has.
func escapeSize(s []byte) (size, used int) {
	if len(s) < 6 || s[1] != 'u' {
		return 2, 2
	}
	switch hex := strings.ToLower(string(s[2:6])); {
	case !strings.HasPrefix(hex, "00"), hex >= "0080":
		return 6, 6
	case hex == "0008", hex == "0009", hex == "000a", hex == "000c", hex == "000d", hex == "0022", hex == "005c", hex == "002f":
		return 2, 6
	case hex < "0020":
		return 6, 6
	}
	return 1, 6
}
