package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// entry is a line of the commands' ledger.
type entry struct {
	what, job, run, worker string
	pid                    int
	at                     check.Boot
	length                 time.Duration // that it is to run for, where it starts
}

// follow calls for each line that is appended to the ledger from now on, within less
// than a millisecond, until it is stopped.
func follow(ctx context.Context, path string, each func(entry) (stop bool)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	var rest string
	buffer := make([]byte, 64<<10)
	for {
		n, err := f.Read(buffer)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		rest += string(buffer[:n])
		for {
			line, after, whole := strings.Cut(rest, "\n")
			if !whole {
				break
			}
			rest = after
			if e, ok := readEntry(line); ok && each(e) {
				return nil
			}
		}
		if n == 0 {
			if err := harness.Sleep(ctx, 500*time.Microsecond); err != nil {
				return err
			}
		}
	}
}

func readEntry(line string) (entry, bool) {
	f := strings.Fields(line)
	if len(f) != 13 {
		return entry{}, false
	}
	at, err := strconv.ParseInt(f[1], 10, 64)
	pid, err2 := strconv.Atoi(f[2])
	length, err3 := strconv.ParseInt(f[10], 10, 64)
	return entry{
			what:   f[0],
			at:     check.Boot(at),
			pid:    pid,
			job:    f[3],
			run:    f[4],
			worker: f[8],
			length: time.Duration(length) * time.Millisecond,
		},
		errors.Join(err, err2, err3) == nil
}
