package diff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/common/yamltext"
)

// Fields returns the names of the fields in which two definitions differ, sorted; all fields that are set, if
// one of them is nil. Of two flows it names the steps that differ, such as steps.load, unless they are many.
func Fields(from, to *common.Job) ([]string, error) {
	before, err := fieldsOf(from)
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(to)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return bytes.Equal(before[name], after[name]) })
	fields := slices.Sorted(maps.Keys(all))
	if at := slices.Index(fields, stepsField); at >= 0 && from != nil && to != nil {
		fields = slices.Replace(fields, at, at+1, stepsOf(from, to)...)
	}
	return fields, nil
}

// StoredFields is Fields of stored jobs, from which the steps of large flows may be left out: they are then compared as
// a whole.
func StoredFields(from, to *common.StoredJob) ([]string, error) {
	apart := func(s *common.StoredJob) bool { return s != nil && s.Flow != nil && s.IsFlow() }
	if !apart(from) || !apart(to) || len(from.Steps) > 0 && len(to.Steps) > 0 {
		return Fields(jobOf(from), jobOf(to))
	}
	before, after := from.Job, to.Job
	before.Steps, after.Steps = nil, nil
	fields, err := Fields(&before, &after)
	if err == nil && from.Flow.StepsSum != to.Flow.StepsSum {
		fields = append(fields, stepsField)
		slices.Sort(fields)
	}
	return fields, err
}

func jobOf(stored *common.StoredJob) *common.Job {
	if stored == nil {
		return nil
	}
	return &stored.Job
}

func fieldsOf(job *common.Job) (map[string]json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	if job == nil {
		return fields, nil
	}
	data, err := json.Marshal(job)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return nil, fmt.Errorf("read the fields of job %q: %w", job.Name, err)
	}
	return fields, nil
}

// Unified returns the difference of two definitions in the format of patch(1), with these file names; empty
// if they are equal. One of the two may be nil, for no job.
func Unified(fromName, toName string, from, to *common.Job) (string, error) {
	before, err := Lines(from)
	if err != nil {
		return "", err
	}
	after, err := Lines(to)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, h := range hunks(edits(before, after)) {
		if out.Len() == 0 {
			fmt.Fprintf(&out, "--- %s\n+++ %s\n", fromName, toName)
		}
		h.write(&out)
	}
	return out.String(), nil
}

// Lines returns a definition as lines of YAML, as an export has them; none for no job.
func Lines(job *common.Job) ([]string, error) {
	if job == nil {
		return nil, nil
	}
	data, err := json.Marshal(job)
	if err == nil {
		data, err = yamltext.Of(data)
	}
	if err != nil {
		return nil, fmt.Errorf("print job %q: %w", job.Name, err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), nil
}

// context is the number of unchanged lines around a difference.
const context = 3

// edit is a line that is kept (' '), removed ('-') or added ('+').
type edit struct {
	kind byte
	line string
}

// hunk is a range of edits; from and to are the numbers of its first lines.
type hunk struct {
	from, to int
	edits    []edit
}

// hunks drops lines that are far from any difference.
func hunks(all []edit) (found []hunk) {
	near := make([]bool, len(all))
	for i := range all {
		if all[i].kind != ' ' {
			for j := max(0, i-context); j <= min(len(all)-1, i+context); j++ {
				near[j] = true
			}
		}
	}
	from, to := 1, 1
	for i := range all {
		if near[i] {
			if i == 0 || !near[i-1] {
				found = append(found, hunk{from: from, to: to})
			}
			last := &found[len(found)-1]
			last.edits = append(last.edits, all[i])
		}
		if all[i].kind != '+' {
			from++
		}
		if all[i].kind != '-' {
			to++
		}
	}
	return found
}

func (h *hunk) write(out *strings.Builder) {
	removed, added := 0, 0
	for _, e := range h.edits {
		if e.kind != '+' {
			removed++
		}
		if e.kind != '-' {
			added++
		}
	}
	// A side without lines is counted from the line before it.
	from, to := h.from, h.to
	if removed == 0 {
		from--
	}
	if added == 0 {
		to--
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", from, removed, to, added)
	for _, e := range h.edits {
		out.WriteByte(e.kind)
		out.WriteString(e.line)
		out.WriteByte('\n')
	}
}

// maxEdits bounds the search for the shortest edit script (Myers 1986), whose work grows with its square.
const maxEdits = 400

// edits returns the shortest edit script, or a longer one if the shortest exceeds the bound.
func edits(a, b []string) (all []edit) {
	var tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		all, a, b = append(all, edit{' ', a[0]}), a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail, a, b = append(tail, edit{' ', a[len(a)-1]}), a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(all, between(a, b), tail)
}

// between advances greedily with 0, 1, 2 … edits on each diagonal, and then traces the path back.
func between(a, b []string) []edit {
	most := min(len(a)+len(b), maxEdits)
	reach := make([]int, 2*most+3) // furthest x on diagonal k, at k+most+1
	var steps [][]int
	for d := 0; d <= most; d++ {
		steps = append(steps, slices.Clone(reach))
		for k := -d; k <= d; k += 2 {
			at := k + most + 1
			x := reach[at-1] + 1
			if k == -d || k != d && reach[at-1] < reach[at+1] {
				x = reach[at+1]
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			if reach[at] = x; x >= len(a) && x-k >= len(b) {
				return wayBack(a, b, steps, most)
			}
		}
	}
	all := make([]edit, 0, len(a)+len(b))
	for _, line := range a {
		all = append(all, edit{'-', line})
	}
	for _, line := range b {
		all = append(all, edit{'+', line})
	}
	return all
}

func wayBack(a, b []string, steps [][]int, most int) (all []edit) {
	x, y := len(a), len(b)
	for d := len(steps) - 1; d >= 0; d-- {
		reach, k := steps[d], x-y
		at := k + most + 1
		from := k - 1
		if k == -d || k != d && reach[at-1] < reach[at+1] {
			from = k + 1
		}
		startX := reach[from+most+1]
		startY := startX - from
		if d == 0 {
			startX, startY = 0, 0
		}
		for x > startX && y > startY {
			x, y = x-1, y-1
			all = append(all, edit{' ', a[x]})
		}
		switch {
		case d == 0:
		case x > startX:
			x--
			all = append(all, edit{'-', a[x]})
		default:
			y--
			all = append(all, edit{'+', b[y]})
		}
	}
	slices.Reverse(all)
	return all
}
