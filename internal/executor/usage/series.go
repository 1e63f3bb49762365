package usage

import (
	"slices"
	"time"

	"carillon/internal/common"
)

const (
	// First is the age of a run at its first sample. Shorter runs have none.
	First = time.Second
	// fine is the time between samples in the first minutes of a run, coarse the time between later ones.
	fine   = 2 * time.Second
	coarse = 10 * time.Second
	// fineFor is the age up to which samples are fine.
	fineFor = 8 * time.Minute

	// recent is how many of the newest samples are kept as they were taken: those of ten minutes.
	recent = 60
	// early is how many of the older ones are kept.
	early = common.MaxUsageSamples - recent
)

// Every returns the time between the samples of a run at an age.
func Every(age time.Duration) time.Duration {
	if age < fineFor {
		return fine
	}
	return coarse
}

// Series holds samples of a run: the newest ones, and older ones of its entire life at an interval that is doubled
// whenever there are too many of them. The zero value is ready.
type Series struct {
	early, recent []common.UsageSample
	interval      time.Duration // between the early ones
}

// Add appends a sample, which is not before the others.
func (s *Series) Add(x common.UsageSample) {
	if s.interval == 0 {
		s.interval = fine
	}
	if s.recent = append(s.recent, x); len(s.recent) <= recent {
		return
	}
	oldest := s.recent[0]
	s.recent = slices.Delete(s.recent, 0, 1)
	if s.early = s.apart(s.early, oldest); len(s.early) <= early {
		return
	}
	for len(s.early) > early {
		s.interval *= 2
		var kept []common.UsageSample
		for _, x := range s.early {
			kept = s.apart(kept, x)
		}
		s.early = kept
	}
}

// apart appends a sample if it is at least about an interval after the last one.
func (s *Series) apart(list []common.UsageSample, x common.UsageSample) []common.UsageSample {
	const jitter = fine / 2
	if n := len(list); n > 0 && x.At.Sub(list[n-1].At) < s.interval-jitter {
		return list
	}
	return append(list, x)
}

// End appends the last sample of a run. It replaces the one before if that is so close that a rate between them would
// be arbitrary.
func (s *Series) End(x common.UsageSample) {
	const close = fine / 4
	if n := len(s.recent); n > 0 && x.At.Sub(s.recent[n-1].At) < close {
		s.recent[n-1] = x
		return
	}
	s.Add(x)
}

// Empty reports whether there is no sample.
func (s *Series) Empty() bool { return len(s.recent) == 0 }

// Samples returns a copy of all samples, the oldest first, and their interval.
func (s *Series) Samples() ([]common.UsageSample, time.Duration) {
	return slices.Concat(s.early, s.recent), s.interval
}
