package common

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// BackfillFire is a fire that a backfill runs.
type BackfillFire struct {
	At      time.Time
	Attempt int
	After   Status // outcome of the attempt before; empty: there is none
}

const (
	// MaxBackfill is the number of fires that one backfill may run.
	MaxBackfill = 10_000
	// maxPacked bounds the packed fires in a head, and maxUnpacked what is unpacked.
	maxPacked   = 64 << 10
	maxUnpacked = 1 << 20
)

// packedFires holds fires as differences, which repeat in most schedules.
type packedFires struct {
	Deltas   []int64        `json:"deltas"` // nanoseconds since the fire before; the first one since 1970
	Attempts map[int]int    `json:"attempts,omitempty"`
	After    map[int]Status `json:"after,omitempty"`
}

// PackFires packs the fires of a backfill for its head. It fails if they take too much space.
func PackFires(fires []BackfillFire) ([]byte, error) {
	packed := packedFires{Deltas: make([]int64, len(fires)), Attempts: map[int]int{}, After: map[int]Status{}}
	before := int64(0)
	for i, f := range fires {
		at := f.At.UnixNano()
		packed.Deltas[i], before = at-before, at
		if f.Attempt > 1 {
			packed.Attempts[i] = f.Attempt
		}
		if f.After != "" {
			packed.After[i] = f.After
		}
	}
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	if err := json.NewEncoder(gz).Encode(packed); err != nil {
		return nil, fmt.Errorf("pack %d fires: %w", len(fires), err)
	}
	if err := gz.Close(); err != nil {
		return nil, fmt.Errorf("pack %d fires: %w", len(fires), err)
	}
	if out.Len() > maxPacked {
		return nil, Errorf(CodeInvalid, "the fires of the backfill take %d bytes, at most %d", out.Len(), maxPacked).
			WithReason("backfill_too_large").WithHint("choose a smaller range")
	}
	return out.Bytes(), nil
}

// UnpackFires returns the fires of a backfill.
func UnpackFires(data []byte) ([]BackfillFire, error) {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack the fires of a backfill: %w", err)
	}
	var packed packedFires
	if err := json.NewDecoder(io.LimitReader(gz, maxUnpacked)).Decode(&packed); err != nil {
		return nil, fmt.Errorf("unpack the fires of a backfill: %w", err)
	}
	if len(packed.Deltas) > MaxBackfill {
		return nil, fmt.Errorf("a backfill of %d fires", len(packed.Deltas))
	}
	fires := make([]BackfillFire, len(packed.Deltas))
	at := int64(0)
	for i, delta := range packed.Deltas {
		at += delta
		fires[i] = BackfillFire{At: time.Unix(0, at).UTC(), Attempt: max(1, packed.Attempts[i]), After: packed.After[i]}
	}
	return fires, nil
}
