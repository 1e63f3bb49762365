package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"carillon/bench/check"
)

// helper is the command of jobs that record their start in a file.
func (b *bench) helper(ledger string) []string {
	return []string{filepath.Join(b.bin, "helper"), ledger}
}

// throughShell is a command executed by a shell, like that of a job.
func throughShell(words ...string) []string {
	return []string{"/bin/sh", "-c", strings.Join(words, " ")}
}

// starters is the number of concurrent starts of the bare rates: more only add latency.
var starters = [...]int{2, 4}

// bareRate returns the highest rate in runs/s of a command that fork and exec alone reach on this machine.
func (b *bench) bareRate(ctx context.Context, command []string) (best float64, each string, err error) {
	var shown []string
	seconds := "4"
	if b.quick {
		seconds = "2"
	}
	for _, n := range starters {
		out, err := b.bare(ctx, "rate", n, seconds, command)
		if err != nil {
			return 0, "", err
		}
		rate, err := strconv.ParseFloat(out, 64)
		if err != nil {
			return 0, "", err
		}
		best = max(best, rate)
		shown = append(shown, fmt.Sprintf("%.0f with %d at once", rate, n))
	}
	return best, strings.Join(shown, ", "), nil
}

// bareBurst starts a number of helpers as fast as fork and exec alone can, several times, and returns the
// best spread of their lateness.
func (b *bench) bareBurst(ctx context.Context, ledger string, count int, command []string) (check.Spread, error) {
	var best check.Spread
	read, rounds := 0, 3
	if b.quick {
		rounds = 1
	}
	for range rounds {
		for _, n := range starters {
			if _, err := b.bare(ctx, "burst", n, strconv.Itoa(count), command); err != nil {
				return best, err
			}
			lines, err := check.ReadLines(ledger)
			if err != nil {
				return best, err
			}
			var late []time.Duration
			for _, l := range lines[read:] {
				late = append(late, l.Start.Sub(l.Planned))
			}
			read = len(lines)
			if s := check.SpreadOf(late); s.N != count {
				return best, fmt.Errorf("of %d helpers %d wrote a line", count, s.N)
			} else if best.N == 0 || s.P99 < best.P99 {
				best = s
			}
		}
	}
	return best, nil
}

func (b *bench) bare(ctx context.Context, mode string, threads int, amount string, command []string) (string, error) {
	out, err := exec.CommandContext(ctx, filepath.Join(b.bin, "bare"),
		append([]string{mode, strconv.Itoa(threads), amount}, command...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("bare %s: %w: %s", mode, err, out)
	}
	return strings.TrimSpace(string(out)), nil
}
