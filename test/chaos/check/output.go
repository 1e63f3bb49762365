package check

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"
	"strings"
)

// text is the output of a run as it was read.
type text struct {
	lines   int64 // numbered ones, from the first without a gap
	missing int   // records of missing output
	torn    bool  // it ends within a line
}

// outputs reads all output, and compares it with what was printed.
func (j *judge) outputs() {
	if j.Output == nil {
		return
	}
	for _, c := range j.order {
		job, r := j.jobOf(c.Run), j.runs[c.Run]
		if job == nil || r == nil || job.AnyText || open(r.Status) {
			continue
		}
		got, there, err := j.read(c.Run)
		if err != nil {
			j.broken(Output, c.Job, c.Run, "%v", err)
			continue
		}
		if !there {
			continue
		}
		j.report.Read++
		loose := job.MayMiss || r.OutputTruncated || j.limited(c)
		if loose {
			continue
		}
		if got.missing > 0 {
			j.broken(Output, c.Job, c.Run, "%d parts of it are missing", got.missing)
			continue
		}
		j.complete(job, r, c, got)
	}
}

// complete checks whether enough of a command's output was stored. Output of the last second before its
// worker's death may be missing.
func (j *judge) complete(job *Job, r *Run, c *command, got text) {
	death := j.death(job, c)
	var need, all int64
	var firstLost *Line
	for i := range c.printed {
		p := &c.printed[i]
		if all = max(all, p.A); death == nil || p.At <= death.from.Add(-j.Flush-j.Precision) {
			need = max(need, p.A)
		}
		if p.A > got.lines && firstLost == nil {
			firstLost = p
		}
	}
	switch {
	case got.lines < need:
		j.broken(Output, c.Job, c.Run, "%d lines, and %d had been printed in time (%d in all; %s)", got.lines, need,
			all, r.Status)
	case c.end != nil && got.lines > all:
		j.broken(Output, c.Job, c.Run, "%d lines, and %d had been printed", got.lines, all)
	case got.torn && death == nil && c.end != nil:
		j.broken(Output, c.Job, c.Run, "ends within a line")
	}
	if death != nil && firstLost != nil && death.from > firstLost.At {
		j.lostText = append(j.lostText, death.from.Sub(firstLost.At))
	}
}

// death returns when the worker of a command could store no more of its output: it was killed or stopped
// before it can have delivered all.
func (j *judge) death(job *Job, c *command) *trouble {
	for i := range j.troubles {
		t := &j.troubles[i]
		if t.on(c.Worker) && t.to >= c.At && t.from <= c.last.Add(j.Finish) &&
			(t.kind == WorkerKilled || t.kind == WorkerStopped && t.to.Sub(t.from) >= j.stands(job)) {
			return t
		}
	}
	return nil
}

// read checks a run's output line by line.
func (j *judge) read(run string) (got text, there bool, err error) {
	body, err := j.Output(run)
	if err != nil || body == nil {
		return text{}, false, err
	}
	got, err = verify(body, run)
	return got, true, errors.Join(err, body.Close())
}

// mark is the prefix of the line in place of missing output.
var mark = []byte("[carillon: ")

func verify(body io.Reader, run string) (text, error) {
	var got text
	in := bufio.NewReaderSize(body, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			got.torn = len(line) > 0
			return got, nil
		}
		if err != nil {
			return got, err
		}
		if bytes.HasPrefix(line, mark) {
			got.missing++
			continue
		}
		if got.missing > 0 { // output after a gap may begin anywhere
			continue
		}
		n, err := numbered(strings.TrimSuffix(string(line), "\n"), run)
		if err != nil {
			return got, fmt.Errorf("line %d, %.200q: %w", got.lines, line, err)
		}
		if n != got.lines {
			return got, fmt.Errorf("line %d has number %d", got.lines, n)
		}
		got.lines++
	}
}

// numbered parses a line as commands print it.
func numbered(line, run string) (int64, error) {
	i := strings.LastIndexByte(line, ' ') + 1
	if sum, err := strconv.ParseUint(line[i:], 16, 32); err != nil ||
		uint32(sum) != crc32.ChecksumIEEE([]byte(line[:i])) {
		return 0, errors.New("its checksum is not right")
	}
	f := strings.Fields(line)
	if len(f) < 4 || f[2] != run {
		return 0, errors.New("it is not this run's")
	}
	return strconv.ParseInt(f[0], 10, 64)
}

func number(n *int) string {
	if n == nil {
		return "nothing"
	}
	return strconv.Itoa(*n)
}
