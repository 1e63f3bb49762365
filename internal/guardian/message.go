package guardian

import (
	"encoding/binary"
	"time"
)

// What the worker says: one message each.
type (
	beat struct{ killBy time.Duration } // it is alive; see Child.Beat
	note string                         // for the service manager
)

const (
	kindBeat = 'B'
	kindNote = 'N'
	// maxMessage is the longest that is heard.
	maxMessage = 4096
)

func (b beat) encode() []byte {
	return binary.LittleEndian.AppendUint64([]byte{kindBeat}, uint64(b.killBy))
}

func (n note) encode() []byte { return append([]byte{kindNote}, n...) }

// decode gives a beat, a note, or nil for what is neither.
func decode(message []byte) any {
	switch {
	case len(message) == 9 && message[0] == kindBeat:
		return beat{time.Duration(binary.LittleEndian.Uint64(message[1:]))}
	case len(message) > 1 && message[0] == kindNote:
		return note(message[1:])
	}
	return nil
}
