package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

func commandFaults() []fault {
	return []fault{{
		name: "commands",
		about: "commands ignore TERM, leave children behind, hold their outputs open, print floods, one long " +
			"line, NULs and what is not UTF-8, and read input that is never written",
		takes:    40 * time.Second,
		unharmed: true,
		needs:    []resource{theHands},
		run:      misbehave,
	}}
}

// misbehaving is a job whose command gets some arguments more. It prints what is not
// made of numbered lines only.
func (s *strike) misbehaving(name string, args []string) *ownJob {
	o := &ownJob{
		strike: s,
		job:    check.Job{Name: name, Overlap: check.Skip, OnLost: check.Rerun, LostAfter: 20 * time.Second},
	}
	o.body = map[string]any{
		"name":      name,
		"endAt":     s.until,
		"overlap":   o.job.Overlap,
		"onLost":    o.job.OnLost,
		"lostAfter": "20s",
		"killGrace": "1s",
		"args": append([]string{filepath.Join(s.h.bin, "ledger"), "-file", s.ledger, "-locks",
			filepath.Join(s.stack.dir, "locks")}, args...),
	}
	return o
}

// misbehave has jobs of all kinds of bad manners. Those that leave something behind hold
// their lock with it, so that the next run sees it.
func misbehave(ctx context.Context, s *strike) error {
	for _, c := range []struct {
		name    string
		every   int
		args    []string
		timeout string
		stdin   string
		anyText bool
	}{
		{
			name:    "deaf",
			every:   5,
			args:    []string{"-ms", "60000", "60000", "-every", "100", "80", "-ignore-term"},
			timeout: "2s",
		},
		{name: "daemon", every: 2, args: []string{"-ms", "300", "300", "-every", "50", "80", "-daemon", "60000"}},
		{name: "holder", every: 3, args: []string{"-ms", "300", "300", "-every", "50", "80", "-hold", "60000"}},
		{name: "garbage", every: 2, args: []string{"-ms", "100", "100", "-garbage"}, anyText: true},
		{name: "reader", every: 2, args: []string{"-ms", "100", "100", "-every", "20", "80", "-stdin"}},
		{name: "fed", every: 2, args: []string{"-ms", "100", "100", "-stdin"}, stdin: "fed by hand\n", anyText: true},
		{name: "flood", every: 10, args: []string{"-ms", "100", "100", "-flood", "50000000"}, anyText: true},
		{name: "one-line", every: 10, args: []string{"-ms", "100", "100", "-line", "50000000"}, anyText: true},
	} {
		o := s.misbehaving(fmt.Sprintf("bad-%s-%d", c.name, s.rng.Uint32()), c.args)
		o.job.AnyText, o.job.Timeout = c.anyText, c.timeout != ""
		if c.timeout != "" {
			o.body["timeout"] = c.timeout
		}
		if c.anyText { // a store without indexes looks through all of it whenever it is asked
			o.body["output"] = map[string]any{"max": "64KiB"}
		}
		if c.stdin != "" {
			o.body["stdin"] = c.stdin
		}
		if err := o.make(ctx, c.every); err != nil {
			return err
		}
		o.done()
	}
	return harness.Sleep(ctx, 30*time.Second)
}
