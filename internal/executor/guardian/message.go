package guardian

import (
	"encoding/binary"
	"time"
)

// Messages between worker and guardian, one per packet. The guardian answers each beat with its echo.
type (
	// beat is a heartbeat of the worker; see Child.Beat.
	beat struct {
		killBy time.Duration
		number uint64
	}
	note string                  // from the worker, for the service manager
	echo struct{ number uint64 } // of a beat
)

const (
	kindBeat = 'B'
	kindNote = 'N'
	kindEcho = 'E'
	// maxMessage is the maximum length of a message; longer ones are truncated.
	maxMessage = 4096
)

func (b beat) encode() []byte {
	message := binary.LittleEndian.AppendUint64([]byte{kindBeat}, uint64(b.killBy))
	return binary.LittleEndian.AppendUint64(message, b.number)
}

func (n note) encode() []byte { return append([]byte{kindNote}, n...) }

func (e echo) encode() []byte { return binary.LittleEndian.AppendUint64([]byte{kindEcho}, e.number) }

// decode returns a beat, a note, an echo, or nil for anything else.
func decode(message []byte) any {
	switch {
	case len(message) == 17 && message[0] == kindBeat:
		return beat{time.Duration(binary.LittleEndian.Uint64(message[1:])), binary.LittleEndian.Uint64(message[9:])}
	case len(message) > 1 && message[0] == kindNote:
		return note(message[1:])
	case len(message) == 9 && message[0] == kindEcho:
		return echo{binary.LittleEndian.Uint64(message[1:])}
	}
	return nil
}
