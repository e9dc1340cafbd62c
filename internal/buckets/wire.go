package buckets

import (
	"encoding/binary"
	"errors"
)

// Kinds of hints between processes. A hint begins with the byte of its kind.
const (
	kindWake    = 'w' // + 32 bytes: buckets in which there may be work
	kindChanged = 'm' // members or leases changed
	kindDemand  = 'd' // + one byte length, sender's process id, opaque bytes
)

// maxDemand is the largest demand hint that is sent.
const maxDemand = 16 << 10

var errMalformed = errors.New("malformed gossip message")

// message is one decoded message.
type message struct {
	kind   byte
	wake   Set
	node   string
	demand []byte
}

func encodeWake(s Set) []byte {
	out := make([]byte, 1, 1+8*len(s))
	out[0] = kindWake
	for _, w := range s {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return out
}

func encodeChanged() []byte { return []byte{kindChanged} }

func encodeDemand(node string, payload []byte) []byte {
	out := make([]byte, 0, 2+len(node)+len(payload))
	out = append(out, kindDemand, byte(len(node)))
	out = append(out, node...)
	return append(out, payload...)
}

// decode parses one message. It copies what it keeps of buf.
func decode(buf []byte) (message, error) {
	if len(buf) == 0 {
		return message{}, errMalformed
	}
	m, rest := message{kind: buf[0]}, buf[1:]
	switch m.kind {
	case kindWake:
		if len(rest) != 8*len(m.wake) {
			return message{}, errMalformed
		}
		for i := range m.wake {
			m.wake[i] = binary.LittleEndian.Uint64(rest[8*i:])
		}
	case kindChanged:
		if len(rest) != 0 {
			return message{}, errMalformed
		}
	case kindDemand:
		if len(rest) == 0 || rest[0] == 0 || len(rest) < 1+int(rest[0]) {
			return message{}, errMalformed
		}
		n := int(rest[0])
		m.node = string(rest[1 : 1+n])
		m.demand = append([]byte{}, rest[1+n:]...)
		if len(m.demand) > maxDemand {
			return message{}, errMalformed
		}
	default:
		return message{}, errMalformed // of a newer release; a hint may be lost
	}
	return m, nil
}
