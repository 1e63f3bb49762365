package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
)

const (
	// usageEvery is how long samples wait for others before they are stored.
	usageEvery = 2 * time.Second
	// usagePause is the pause after a failure, and while output or outcomes wait.
	usagePause = 10 * time.Second
	// usageLimit is how long a write of samples may take.
	usageLimit = 5 * time.Second
	// usageLast is how long samples may delay the end of the sink.
	usageLast = 2 * time.Second
	// usageAtOnce is of how many runs samples are stored at once; usageMost, how many samples wait at most.
	usageAtOnce = 100
	usageMost   = 100_000
)

// Usage hands over samples of a run, which replace earlier ones. It does not block. Samples are stored after all else:
// they wait in memory while output or outcomes are in arrears or the store is away, and beyond a bound those of
// further runs are dropped.
func (s *Sink) Usage(u common.Usage) {
	s.mu.Lock()
	s.putUsage(u)
	s.mu.Unlock()
	poke(s.sampled)
}

// putUsage keeps samples, unless later ones are there. The caller holds mu.
func (s *Sink) putUsage(u common.Usage) {
	known := s.usage[u.Run]
	grown := s.usages - len(known.Samples) + len(u.Samples)
	if known.Until().After(u.Until()) || grown > usageMost {
		return
	}
	if s.usage == nil {
		s.usage = map[string]common.Usage{}
	}
	s.usage[u.Run], s.usages = u, grown
}

// takeUsage takes samples of some runs. more reports that others wait.
func (s *Sink) takeUsage() (some []common.Usage, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for run, u := range s.usage {
		if len(some) == usageAtOnce {
			return some, true
		}
		some, s.usages = append(some, u), s.usages-len(u.Samples)
		delete(s.usage, run)
	}
	return some, false
}

// keepUsage stores samples until the context ends, and then once more.
func (s *Sink) keepUsage(ctx context.Context) {
	for pause := usageEvery; ; {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageLast)
			defer cancel()
			_ = s.busy() || s.storeUsage(last)
			return
		case <-s.sampled:
		}
		if !wait(ctx, pause) {
			poke(s.sampled)
			continue
		}
		if s.cfg.Yield != nil {
			s.cfg.Yield(yieldFor, ctx.Done(), nil)
		}
		if pause = usageEvery; s.busy() || !s.storeUsage(ctx) {
			pause = usagePause
			poke(s.sampled)
		}
	}
}

// busy reports whether samples must not be stored now.
func (s *Sink) busy() bool {
	s.mu.Lock()
	arrears := s.waiting.entries > s.limits.batch
	s.mu.Unlock()
	return arrears || s.health.storeFails() || s.refused.Load() ||
		s.cfg.Spool.State().Waiting > int64(s.limits.batchBytes)
}

// storeUsage stores all samples that wait, and reports whether it could. Those that the store refuses are dropped.
func (s *Sink) storeUsage(ctx context.Context) bool {
	for more := true; more; {
		var some []common.Usage
		if some, more = s.takeUsage(); len(some) == 0 {
			return true
		}
		err := s.writeUsage(ctx, Batch{Usage: some})
		if common.CodeOf(err) == common.CodeInvalid {
			s.log.Error("samples_refused_by_log_store", "error", err)
			continue
		}
		if err != nil {
			if !s.usageFails { // once until they are stored again
				s.log.Warn("samples_not_stored", "error", err, "runs", len(some))
			}
			s.usageFails = true
			s.mu.Lock()
			for i := range some {
				s.putUsage(some[i])
			}
			s.mu.Unlock()
			return false
		}
		s.usageFails = false
	}
	return true
}

func (s *Sink) writeUsage(ctx context.Context, b Batch) error {
	ctx, cancel := context.WithTimeout(ctx, usageLimit)
	defer cancel()
	return s.writer.Write(ctx, b)
}
