package entry

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"carillon/internal/common"
)

// usageVersion is the format version of encoded samples.
const usageVersion = 1

// The units in which samples are kept. Cumulative figures are rounded, not their differences.
const (
	usageTime  = time.Millisecond
	usageCPU   = 1e3     // per second
	usageBytes = 1 << 10 // KiB
)

// EncodeUsage encodes the samples of a run, each as its differences from the one before: usually a dozen bytes.
func EncodeUsage(u *common.Usage) []byte {
	data := []byte{usageVersion, 0}
	if u.Source == common.UsageOfCgroup {
		data[1] = 1
	}
	data = binary.AppendUvarint(data, uint64(max(0, u.Interval/usageTime)))
	var last [6]int64
	for i := range u.Samples {
		now := unitsOf(&u.Samples[i])
		for j := range now {
			data = binary.AppendVarint(data, now[j]-last[j])
		}
		last = now
	}
	return data
}

func unitsOf(s *common.UsageSample) [6]int64 {
	cpu := int64(math.Round(min(max(s.CPUSeconds, 0), 1e12) * usageCPU))
	return [6]int64{s.At.UnixMilli(), cpu, max(0, s.MemoryBytes) / usageBytes, max(0, s.ReadBytes) / usageBytes,
		max(0, s.WrittenBytes) / usageBytes, int64(s.Processes)}
}

// latestMilli is the end of the year 9999, after which JSON has no times.
const latestMilli = 253_402_300_799_999

var errUsage = errors.New("decode stored samples: they cannot be read")

// DecodeUsage decodes the samples of a run.
func DecodeUsage(run string, data []byte) (common.Usage, error) {
	if len(data) < 2 || data[0] != usageVersion {
		return common.Usage{}, errUsage
	}
	u := common.Usage{Run: run, Source: common.UsageOfProc}
	if data[1] == 1 {
		u.Source = common.UsageOfCgroup
	}
	interval, size := binary.Uvarint(data[2:])
	if size <= 0 || interval > math.MaxInt64/uint64(usageTime) {
		return common.Usage{}, errUsage
	}
	u.Interval = time.Duration(interval) * usageTime
	var now [6]int64
	for data = data[2+size:]; len(data) > 0; {
		if len(u.Samples) == common.MaxUsageSamples {
			return common.Usage{}, errUsage
		}
		for j := range now {
			n, size := binary.Varint(data)
			if size <= 0 {
				return common.Usage{}, errUsage
			}
			now[j], data = now[j]+n, data[size:]
		}
		if now[0] < 0 || now[0] > latestMilli {
			return common.Usage{}, errUsage
		}
		u.Samples = append(u.Samples, common.UsageSample{
			At:           time.UnixMilli(now[0]).UTC(),
			CPUSeconds:   float64(now[1]) / usageCPU,
			MemoryBytes:  now[2] * usageBytes,
			ReadBytes:    now[3] * usageBytes,
			WrittenBytes: now[4] * usageBytes,
			Processes:    int(now[5]),
		})
	}
	return u, nil
}
