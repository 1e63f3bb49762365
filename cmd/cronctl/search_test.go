package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// printed puts runs of a job with what they printed behind the API, the first one the oldest.
func (s *stage) printed(texts ...string) (ids []string) {
	s.runs, s.output = map[string]*common.Run{}, map[string]string{}
	for i, text := range texts {
		at := time.Unix(int64(1_700_000_000+60*i), 0).UTC()
		fire := common.PlannedFire("aaaaaaaaaaaaaaaa", at)
		r := &common.Run{
			ID:          common.RunID(fire, 1),
			Job:         "hello",
			JobUID:      "aaaaaaaaaaaaaaaa",
			Fire:        fire,
			PlannedAt:   at,
			Cause:       common.CauseCron,
			Attempt:     1,
			Status:      common.StatusFailed,
			ExitCode:    new(i),
			Group:       "g" + fmt.Sprint(i%2),
			OutputBytes: int64(len(text)),
		}
		s.runs[r.ID], s.output[r.ID] = r, text
		ids = append(ids, r.ID)
	}
	return ids
}

func TestGetRunsFilters(t *testing.T) {
	s := newStage(t)
	ids := s.printed("", "", "", "")
	shown := func(args ...string) (n int) {
		t.Helper()
		out := s.run(append([]string{"get", "runs"}, args...)...).want(t, exitOK).out
		for _, id := range ids {
			n += strings.Count(out, id)
		}
		return n
	}
	for args, want := range map[string]int{
		"":                            4,
		"--exit-code 0":               1,
		"--exit-code 9":               0,
		"--group g1":                  2,
		"-q HELLO":                    4,
		"-q unknown":                  0,
		"--from 2023-11-14T22:14:20Z": 3,
		"--from 2023-11-14T22:14:20Z --to 2023-11-14T22:15:20Z": 1,
	} {
		if got := shown(strings.Fields(args)...); got != want {
			t.Errorf("%s: %d runs, want %d", args, got, want)
		}
	}
	s.run("get", "runs", "--exit-code", "300").want(t, exitUsage, "exitCode")
	s.run("get", "runs", "--from", "never").want(t, exitUsage, "--from")
	s.run("get", "runs", "--from", "2023-01-02T00:00:00Z", "--to", "2023-01-01T00:00:00Z").want(t, exitUsage,
		"must be after from")
}

func TestSearch(t *testing.T) {
	s := newStage(t)
	ids := s.printed("a needle\nhay\n", "hay\n", "the \x1b[1mNeedle\x1b[0m in a hay stack\nneedle\n")
	got := s.run("search", "needle").want(t, exitOK, ids[0], ids[2], "a needle", "the Needle in a hay stack",
		"searched 3 runs, back to ", "no more runs to search")
	if strings.Contains(got.out, ids[1]) || strings.Count(got.out, "\n") != 4 {
		t.Errorf("%s", got.out)
	}
	if got = s.run("search", "needle", "--limit", "1").want(t, exitOK, ids[2],
		"there are more"); strings.Contains(got.out, ids[0]) {
		t.Errorf("%s", got.out)
	}
	s.run("search", "needle", "--case", "-o", "wide").want(t, exitOK, "stdout", "OFFSET", "34      needle")
	s.run("search", "-E", "^needle$", "--status", "failed", "--job", "hello").want(t, exitOK, ids[2])
	s.run("search", "nothing", "--group", "g1").want(t, exitOK, "searched 1 run, ")
	var all foundList
	if err := json.Unmarshal([]byte(s.run("search", "needle", "-o", "json").want(t, exitOK).out), &all); err != nil ||
		len(all.Items) != 2 || !all.Complete || all.Scanned.Runs != 3 {
		t.Errorf("%+v, %v", all, err)
	}
	s.run("search", "(", "-E").want(t, exitUsage, "query.q", "regular expression")
	s.run("search", "").want(t, exitUsage, "is empty")
	s.run("search").want(t, exitUsage)
}

// All pages of a search are one answer.
func TestSearch_ReadsAllPages(t *testing.T) {
	s := newStage(t)
	texts := make([]string, 250)
	for i := range texts {
		texts[i] = "needle\n"
	}
	s.printed(texts...)
	if got := s.run("search", "needle", "--limit", "0").want(t, exitOK, "searched 250 runs"); strings.Count(got.out,
		"needle") != 250 {
		t.Errorf("%d lines", strings.Count(got.out, "needle"))
	}
}

func TestLogsGrep(t *testing.T) {
	s := newStage(t)
	id := s.printed("one\nTWO\n" + strings.Repeat("two and more\n", 250))[0]
	got := s.run("logs", id, "--grep", "two").want(t, exitOK)
	if !strings.HasPrefix(got.out, "TWO\ntwo and more\n") || strings.Count(got.out, "\n") != 251 {
		t.Errorf("%d lines: %.60s", strings.Count(got.out, "\n"), got.out)
	}
	s.run("logs", id, "--grep", "TWO", "--case", "-o", "wide").want(t, exitOK, "4 stdout ", ": TWO")
	s.run("logs", "--job", "hello", "--grep", "^o.e$", "-E").want(t, exitOK, "one")
	s.run("logs", id, "--grep", "three").want(t, exitOK, "no match")
	s.run("logs", id, "--grep", "").want(t, exitUsage, "is empty")
	s.run("logs", id, "--grep", "x", "-f").want(t, exitUsage, "cannot follow")
	var all list
	if err := json.Unmarshal([]byte(s.run("logs", id, "--grep", "two", "-o", "json").want(t, exitOK).out),
		&all); err != nil || len(all.Items) != 251 {
		t.Errorf("%d, %v", len(all.Items), err)
	}
}
