package check

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// What is the kind of a line.
type What string

// Events of a command; their numbers a, b, c are in parentheses.
const (
	Start  What = "start"  // it runs (for how long, in ms; wall clock and boot clock at the start, in ns)
	Out    What = "out"    // it has printed so far (numbered lines, bytes)
	End    What = "end"    // it ends (exit code, numbered lines, bytes)
	Term   What = "term"   // it received SIGTERM (numbered lines, bytes)
	Met    What = "met"    // when it started, another command of its job was alive
	Alive  What = "alive"  // a child that left it lives (the command's pid, count)
	Broken What = "broken" // an operation failed (errno)
)

// Line is a record that a command wrote about itself.
type Line struct {
	What    What
	At      Boot
	Pid     int
	Job     string
	Run     string
	Attempt int
	Fence   int64
	Planned time.Time
	Worker  string // id
	Life    string
	A, B, C int64
}

// ReadLedger reads the files to which commands append. A missing file has no lines; a last line without its
// end is still being written, and left out.
func ReadLedger(paths ...string) ([]Line, error) {
	var lines []Line
	for _, path := range paths {
		f, err := os.Open(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		lines, err = readLines(lines, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return lines, nil
}

func readLines(lines []Line, r io.Reader) ([]Line, error) {
	in := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		line, err := parseLine(text)
		if err != nil {
			return nil, fmt.Errorf("line %d, %.300q: %w", n, text, err)
		}
		lines = append(lines, line)
	}
}

func parseLine(text string) (l Line, err error) {
	f := strings.Fields(text)
	if len(f) != 13 {
		return l, fmt.Errorf("it has %d fields", len(f))
	}
	number := func(i int) int64 {
		n, parseErr := strconv.ParseInt(f[i], 10, 64)
		err = errors.Join(err, parseErr)
		return n
	}
	l = Line{
		What:    What(f[0]),
		At:      Boot(number(1)),
		Pid:     int(number(2)),
		Job:     f[3],
		Run:     f[4],
		Attempt: int(number(5)),
		Fence:   number(6),
		Worker:  f[8],
		Life:    f[9],
		A:       number(10),
		B:       number(11),
		C:       number(12),
	}
	planned, parseErr := time.Parse(time.RFC3339Nano, f[7])
	l.Planned = planned.UTC()
	return l, errors.Join(err, parseErr)
}
