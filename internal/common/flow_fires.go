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

	// How far it is: empty until it was started, and running until it has an outcome.
	Status Status
	Last   int // the last attempt within the backfill; 0: it has no run
}

// RunID returns the id of the last run that the fire had within a backfill of the job with a uid; empty without one.
func (f *BackfillFire) RunID(uid string) string {
	if f.Last == 0 {
		return ""
	}
	return RunID(PlannedFire(uid, f.At), f.Last)
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

	// Of a backfill that has ended: the fires by outcome, and the last attempts of those that had another one than the
	// requested one.
	Ends map[Status][]int `json:"ends,omitempty"`
	Last map[int]int      `json:"last,omitempty"`
}

// PackFires packs the fires of a backfill, with their outcomes if they have one. It fails if they take too much space.
func PackFires(fires []BackfillFire) ([]byte, error) {
	packed := packedFires{Deltas: make([]int64, len(fires)), Attempts: map[int]int{}, After: map[int]Status{},
		Ends: map[Status][]int{}, Last: map[int]int{}}
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
		if f.Status.Terminal() {
			packed.Ends[f.Status] = append(packed.Ends[f.Status], i)
			if f.Last != f.Attempt {
				packed.Last[i] = f.Last
			}
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
	for status, of := range packed.Ends {
		for _, i := range of {
			if i < 0 || i >= len(fires) {
				return nil, fmt.Errorf("the outcome of fire %d of %d", i, len(fires))
			}
			f := &fires[i]
			f.Status, f.Last = status, f.Attempt
			if last, other := packed.Last[i]; other {
				f.Last = last
			}
		}
	}
	return fires, nil
}
