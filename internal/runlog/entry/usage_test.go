package entry_test

import (
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog/entry"
)

func manySamples() common.Usage {
	u := common.Usage{Run: "r", Source: common.UsageOfProc, Interval: time.Hour}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	for i := range common.MaxUsageSamples {
		u.Samples = append(u.Samples, common.UsageSample{
			At:           at.Add(time.Duration(i) * u.Interval),
			CPUSeconds:   float64(i) * 321.5,
			MemoryBytes:  int64(i%7) << 28,
			ReadBytes:    int64(i) << 30,
			WrittenBytes: int64(i) << 31,
			Processes:    i % 5,
		})
	}
	return u
}

// The samples of a run of ten days take less than 6 KiB.
func TestUsage_RoundTrip(t *testing.T) {
	want := manySamples()
	data := entry.EncodeUsage(&want)
	got, err := entry.DecodeUsage("r", data)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v, %v\nwant %+v", got, err, want)
	}
	if len(data) > 6<<10 {
		t.Errorf("%d bytes", len(data))
	}
	t.Logf("%d samples in %d bytes", len(want.Samples), len(data))
}

func TestUsage_DamagedData(t *testing.T) {
	u := manySamples()
	data := entry.EncodeUsage(&u)
	u.Samples = append(u.Samples, u.Samples[0])
	for _, bad := range [][]byte{nil, {1}, {2, 0, 0}, data[:len(data)-1], entry.EncodeUsage(&u)} {
		if got, err := entry.DecodeUsage("r", bad); err == nil {
			t.Errorf("%d bytes were read as %d samples", len(bad), len(got.Samples))
		}
	}
}

func FuzzDecodeUsage(f *testing.F) {
	u := manySamples()
	f.Add(entry.EncodeUsage(&u))
	f.Add([]byte{1, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := entry.DecodeUsage("r", data); err == nil && len(got.Samples) > common.MaxUsageSamples {
			t.Errorf("%d samples", len(got.Samples))
		}
	})
}
