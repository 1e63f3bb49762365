package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// hideFaults kill what watches over commands whose children hide from it.
func hideFaults() []fault {
	const takes = 65 * time.Second
	needs := []resource{aWorker, theHands}
	return []fault{
		{
			name: "stop-guardian-kill-worker",
			about: "SIGSTOP to the guardian, and SIGKILL to the worker some seconds later, while children hide in " +
				"sessions of their own",
			takes: takes,
			alone: true,
			needs: needs,
			run:   stopGuardianKillWorker,
		},
		// They live on until the worker starts again.
		{
			name:      "kill-both-hiding",
			about:     "SIGKILL to worker and guardian while children hide, and a start some seconds later",
			takes:     takes,
			alone:     true,
			needs:     needs,
			permitted: []check.Rule{check.Survivor},
			run:       killBothHiding,
		},
	}
}

// outlast is how long it takes until others have run lost runs again: lease, lostAfter, and some more.
const outlast = 45 * time.Second

// hide makes jobs whose commands leave children with an empty environment, a session of their own and closed
// outputs: orphans, and children of the command's own parent.
func (s *strike) hide(ctx context.Context) error {
	for _, how := range []string{"-daemon", "-hide"} {
		for i := range 3 {
			o := s.misbehaving(fmt.Sprintf("hides%s-%d", how, i), []string{"-ms", "3000", "8000", "-every", "200", "80",
				how, "90000"})
			if err := o.make(ctx, 2); err != nil {
				return err
			}
			o.done()
		}
	}
	return harness.Sleep(ctx, 7*time.Second)
}

func stopGuardianKillWorker(ctx context.Context, s *strike) error {
	if err := s.hide(ctx); err != nil {
		return err
	}
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be stopped", s.w.name)
	}
	end := s.begin(check.Event{Kind: check.WorkerStopped, Worker: s.w.id, Text: string(theGuardian)})
	defer end()
	p.Signal(syscall.SIGSTOP)
	defer p.Signal(syscall.SIGCONT) // unless it has ended
	if err := harness.Sleep(ctx, time.Second+time.Duration(s.rng.Int64N(int64(3*time.Second)))); err != nil {
		return err
	}
	if err := s.kill(ctx, theWorker); err != nil {
		return err
	}
	return harness.Sleep(ctx, outlast)
}

func killBothHiding(ctx context.Context, s *strike) error {
	if err := s.hide(ctx); err != nil {
		return err
	}
	s.w.want(true, time.Second+time.Duration(s.rng.Int64N(int64(9*time.Second))))
	defer s.w.want(true, time.Second)
	if err := s.kill(ctx, theBoth); err != nil {
		return err
	}
	return harness.Sleep(ctx, outlast)
}
