package rollup

import (
	"encoding/binary"
	"math"
	"time"

	"carillon/internal/common"
)

// Cost is what runs used: sums, and the memory of the largest one. The zero value says that nothing was measured.
type Cost struct {
	CPU           time.Duration // whole microseconds
	Memory        int64         // bytes
	Read, Written int64         // bytes
}

// longestCPU bounds the CPU time of a run: 30 years.
const longestCPU = 1e9

// add adds the cost of a run.
func (c *Cost) add(r *common.Run) {
	cpu := min(max(r.CPUSeconds, 0), longestCPU)
	c.merge(Cost{
		CPU:     time.Duration(math.Round(cpu*1e6)) * time.Microsecond,
		Memory:  r.MaxRSSBytes,
		Read:    r.ReadBytes,
		Written: r.WrittenBytes,
	})
}

// merge adds another cost.
func (c *Cost) merge(o Cost) {
	c.CPU = time.Duration(sum(int64(c.CPU), int64(o.CPU)))
	c.Memory = max(c.Memory, o.Memory)
	c.Read, c.Written = sum(c.Read, o.Read), sum(c.Written, o.Written)
}

// sum adds numbers of which the second may be invalid, and stays within the range of the first.
func sum(a, b int64) int64 {
	if b = max(b, 0); a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func (c *Cost) append(data []byte) []byte {
	for _, n := range [...]int64{c.CPU.Microseconds(), c.Memory, c.Read, c.Written} {
		data = binary.AppendUvarint(data, uint64(n))
	}
	return data
}

// take adds an encoded cost. What follows it, which a later version wrote, is not read.
func (c *Cost) take(data []byte) error {
	var all [4]int64
	for i := range all {
		n, size := binary.Uvarint(data)
		if size <= 0 {
			return errShort
		}
		all[i], data = int64(min(n, math.MaxInt64)), data[size:]
	}
	cpu := time.Duration(min(all[0], math.MaxInt64/int64(time.Microsecond))) * time.Microsecond
	c.merge(Cost{CPU: cpu, Memory: all[1], Read: all[2], Written: all[3]})
	return nil
}
