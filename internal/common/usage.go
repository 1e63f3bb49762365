package common

import "time"

// Sources of samples.
const (
	UsageOfCgroup = "cgroup" // CPU time of the run's control group; memory as well, where its controller is delegated
	UsageOfProc   = "proc"   // the sum of the run's processes in /proc
)

// Usage is what the processes of a run have used, as samples in order of time.
type Usage struct {
	Run    string
	Source string
	// Interval is the shortest time between samples, apart from the newest ones, which are closer.
	Interval time.Duration
	Samples  []UsageSample
}

// Until returns the time of the last sample; zero if there is none.
func (u *Usage) Until() time.Time {
	if len(u.Samples) == 0 {
		return time.Time{}
	}
	return u.Samples[len(u.Samples)-1].At
}

// UsageSample is the use of resources up to a time. Cumulative figures never decrease from one sample to the next.
type UsageSample struct {
	At           time.Time `json:"at"`
	CPUSeconds   float64   `json:"cpuSeconds" doc:"CPU time of all processes of the run since its start, ended ones included."`
	MemoryBytes  int64     `json:"memoryBytes" doc:"Resident memory of all processes at this time."`
	ReadBytes    int64     `json:"readBytes" doc:"Bytes that they have read from storage since the start, without what was in the page cache."`
	WrittenBytes int64     `json:"writtenBytes" doc:"Bytes that they have written to storage since the start."`
	Processes    int       `json:"processes" doc:"Number of processes at this time."`
}

// MaxUsageSamples bounds the samples of a run.
const MaxUsageSamples = 240
