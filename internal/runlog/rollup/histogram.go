package rollup

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"time"
)

// Histogram counts times in buckets that are at most an eighth as wide as their lower bound, so that a
// quantile is within 7 % of the true one. It holds microseconds.
type Histogram struct {
	counts []uint64 // by bucket; up to the highest one in use
	Count  uint64
	Sum    time.Duration
	Max    time.Duration
}

// Each power of two is divided into so many buckets.
const (
	subBits    = 3
	subBuckets = 1 << subBits
	maxBucket  = 64 * subBuckets
)

func bucketOf(d time.Duration) int {
	us := uint64(max(0, d.Microseconds()))
	if us < subBuckets {
		return int(us)
	}
	power := bits.Len64(us) - 1
	return (power-subBits+1)*subBuckets + int(us>>(power-subBits))&(subBuckets-1)
}

// middle returns the middle of a bucket.
func middle(bucket int) time.Duration {
	if bucket < subBuckets {
		return time.Duration(bucket) * time.Microsecond
	}
	power := bucket/subBuckets + subBits - 1
	low := uint64(subBuckets+bucket%subBuckets) << (power - subBits)
	width := uint64(1) << (power - subBits)
	return time.Duration(low+width/2) * time.Microsecond
}

// Add counts one time. A negative one, the result of clocks that disagree, counts as zero.
func (h *Histogram) Add(d time.Duration) {
	d = max(0, d)
	h.put(bucketOf(d), 1)
	h.Count++
	h.Sum += d
	h.Max = max(h.Max, d)
}

func (h *Histogram) put(bucket int, n uint64) {
	for len(h.counts) <= bucket {
		h.counts = append(h.counts, 0)
	}
	h.counts[bucket] += n
}

// Merge adds the counts of another histogram.
func (h *Histogram) Merge(o *Histogram) {
	for bucket, n := range o.counts {
		if n > 0 {
			h.put(bucket, n)
		}
	}
	h.Count += o.Count
	h.Sum += o.Sum
	h.Max = max(h.Max, o.Max)
}

// Quantile returns the time that a share q of all does not exceed; zero if there is none.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.Count == 0 {
		return 0
	}
	rank := uint64(q * float64(h.Count))
	seen := uint64(0)
	for bucket, n := range h.counts {
		if seen += n; seen > rank {
			return min(middle(bucket), h.Max)
		}
	}
	return h.Max
}

// Mean returns the average; zero if there is none.
func (h *Histogram) Mean() time.Duration {
	if h.Count == 0 {
		return 0
	}
	return h.Sum / time.Duration(h.Count)
}

// append encodes sum, maximum, and each bucket that is not empty: its distance from the previous one, and its
// count. The total count follows from them.
func (h *Histogram) append(data []byte) []byte {
	data = binary.AppendUvarint(data, uint64(h.Sum.Microseconds()))
	data = binary.AppendUvarint(data, uint64(h.Max.Microseconds()))
	full := 0
	for _, n := range h.counts {
		if n > 0 {
			full++
		}
	}
	data = binary.AppendUvarint(data, uint64(full))
	last := 0
	for bucket, n := range h.counts {
		if n > 0 {
			data = binary.AppendUvarint(data, uint64(bucket-last))
			data = binary.AppendUvarint(data, n)
			last = bucket
		}
	}
	return data
}

var errShort = errors.New("a roll-up is truncated or has an unknown format")

// take adds an encoded histogram, and returns the remaining data.
func (h *Histogram) take(data []byte) ([]byte, error) {
	next := func() (n uint64, err error) {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return 0, errShort
		}
		data = data[size:]
		return n, nil
	}
	var head [3]uint64
	for i := range head {
		n, err := next()
		if err != nil {
			return nil, err
		}
		head[i] = n
	}
	bucket := uint64(0)
	for range head[2] {
		step, err := next()
		if err != nil {
			return nil, err
		}
		n, err := next()
		if err != nil {
			return nil, err
		}
		if bucket += step; bucket >= maxBucket {
			return nil, errShort
		}
		h.put(int(bucket), n)
		h.Count += n
	}
	h.Sum += time.Duration(head[0]) * time.Microsecond
	h.Max = max(h.Max, time.Duration(head[1])*time.Microsecond)
	return data, nil
}
