package common

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"slices"
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
}

// PackFires packs the fires that a backfill is to run. It fails if they take too much space.
func PackFires(fires []BackfillFire) ([]byte, error) {
	packed := packedFires{Deltas: deltasOf(fires), Attempts: map[int]int{}, After: map[int]Status{}}
	for i, f := range fires {
		if f.Attempt > 1 {
			packed.Attempts[i] = f.Attempt
		}
		if f.After != "" {
			packed.After[i] = f.After
		}
	}
	out, err := pack(packed)
	if err == nil && len(out) > maxPacked {
		err = Errorf(CodeInvalid, "the fires of the backfill take %d bytes, at most %d", len(out), maxPacked).
			WithReason("backfill_too_large").WithHint("choose a smaller range")
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// UnpackFires returns the fires that a backfill is to run.
func UnpackFires(data []byte) ([]BackfillFire, error) {
	var packed packedFires
	if err := unpack(data, &packed); err != nil {
		return nil, err
	}
	fires, err := firesAt(packed.Deltas)
	for i := range fires {
		fires[i].Attempt, fires[i].After = max(1, packed.Attempts[i]), packed.After[i]
	}
	return fires, err
}

// packedEnds holds the fires of a backfill that has ended, with a number for each, so that those of any backfill take
// little more than their times do. Numbers at the end of a list that are 0 are left out.
type packedEnds struct {
	Deltas   []int64  `json:"deltas"`
	Words    []Status `json:"words,omitempty"`    // what Statuses and After refer to, from 1 on; 0 is none
	Statuses []int    `json:"statuses,omitempty"` // outcomes
	After    []int    `json:"after,omitempty"`
	Attempts []int    `json:"attempts,omitempty"` // beyond the first
	Last     []int    `json:"last,omitempty"`     // beyond the requested attempt
}

// PackEnds packs the fires of a backfill that has ended, with their outcomes.
func PackEnds(fires []BackfillFire) ([]byte, error) {
	packed := packedEnds{Deltas: deltasOf(fires)}
	word := func(s Status) int {
		if s == "" {
			return 0
		}
		i := slices.Index(packed.Words, s)
		if i < 0 {
			i, packed.Words = len(packed.Words), append(packed.Words, s)
		}
		return i + 1
	}
	numbers := func(of func(*BackfillFire) int) []int {
		all := make([]int, len(fires))
		used := 0
		for i := range fires {
			if all[i] = of(&fires[i]); all[i] != 0 {
				used = i + 1
			}
		}
		return all[:used]
	}
	packed.Statuses = numbers(func(f *BackfillFire) int { return word(f.Status) })
	packed.After = numbers(func(f *BackfillFire) int { return word(f.After) })
	packed.Attempts = numbers(func(f *BackfillFire) int { return f.Attempt - 1 })
	packed.Last = numbers(func(f *BackfillFire) int { return f.Last - f.Attempt })
	return pack(packed)
}

// UnpackEnds returns the fires of a backfill that has ended.
func UnpackEnds(data []byte) ([]BackfillFire, error) {
	var packed packedEnds
	if err := unpack(data, &packed); err != nil {
		return nil, err
	}
	fires, err := firesAt(packed.Deltas)
	number := func(of []int, i int) int {
		if i < len(of) {
			return of[i]
		}
		return 0
	}
	word := func(of []int, i int) Status {
		if n := number(of, i); n > 0 && n <= len(packed.Words) {
			return packed.Words[n-1]
		}
		return ""
	}
	for i := range fires {
		f := &fires[i]
		f.Status, f.After = word(packed.Statuses, i), word(packed.After, i)
		f.Attempt = number(packed.Attempts, i) + 1
		f.Last = f.Attempt + number(packed.Last, i)
	}
	return fires, err
}

func deltasOf(fires []BackfillFire) []int64 {
	deltas := make([]int64, len(fires))
	before := int64(0)
	for i := range fires {
		at := fires[i].At.UnixNano()
		deltas[i], before = at-before, at
	}
	return deltas
}

func firesAt(deltas []int64) ([]BackfillFire, error) {
	if len(deltas) > MaxBackfill {
		return nil, fmt.Errorf("a backfill of %d fires", len(deltas))
	}
	fires := make([]BackfillFire, len(deltas))
	at := int64(0)
	for i, delta := range deltas {
		at += delta
		fires[i].At = time.Unix(0, at).UTC()
	}
	return fires, nil
}

func pack(v any) ([]byte, error) {
	var out bytes.Buffer
	gz := gzip.NewWriter(&out)
	if err := json.NewEncoder(gz).Encode(v); err != nil {
		return nil, fmt.Errorf("pack the fires of a backfill: %w", err)
	}
	if err := gz.Close(); err != nil {
		return nil, fmt.Errorf("pack the fires of a backfill: %w", err)
	}
	return out.Bytes(), nil
}

func unpack(data []byte, into any) error {
	gz, err := gzip.NewReader(bytes.NewReader(data))
	if err == nil {
		err = json.NewDecoder(io.LimitReader(gz, maxUnpacked)).Decode(into)
	}
	if err != nil {
		return fmt.Errorf("unpack the fires of a backfill: %w", err)
	}
	return nil
}
