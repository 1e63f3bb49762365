package sqlitelog

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/entry"
)

func TestNewerSchemaIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.writer.ExecContext(t.Context(), "PRAGMA user_version = 999"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), path)
	if common.CodeOf(err) != common.CodeConflict || !strings.Contains(err.Error(), "999") {
		t.Errorf("got %v", err)
	}
}

func TestOpen_SetsPragmas(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for pragma, want := range map[string]string{
		"journal_mode": "wal",
		"synchronous":  "2",
		"auto_vacuum":  "2",
		"user_version": "8",
	} {
		var got string
		if err := s.writer.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", pragma, got, err, want)
		}
	}
	if _, err := s.reader.ExecContext(t.Context(), "DELETE FROM runs"); err == nil {
		t.Error("a connection that reads could write")
	}
}

// Every list is read in order from an index: no scan of a table, no sorting.
func TestQueries_UseIndexes(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	failed := []common.Status{common.StatusFailed}
	several := []common.Status{common.StatusFailed, common.StatusLost, common.StatusTimedOut}
	before := &runlog.Position{PlannedAt: time.Unix(1, 0), ID: "x"}
	from, to := time.Unix(0, 0), time.Unix(2, 0)
	for _, c := range []struct {
		q       runlog.Query
		indexes []string // the candidates; empty: the table
	}{
		{runlog.Query{}, []string{"runs_top"}},
		{runlog.Query{Before: before}, []string{"runs_top"}},
		{runlog.Query{From: from, To: to, Before: before}, []string{"runs_top"}},
		{runlog.Query{Cause: "cron", JobUID: "u", Text: "x"}, []string{"runs_top"}},
		{runlog.Query{Statuses: common.Statuses[:], ExitCode: new(0)}, []string{"runs_top"}},
		{runlog.Query{Nodes: true}, []string{""}},
		{runlog.Query{Cause: "cron", Nodes: true, Before: before}, []string{""}},
		{runlog.Query{FlowRun: "f", Step: "s"}, []string{"runs_by_flow"}},
		{runlog.Query{Job: "j"}, []string{"runs_by_job"}},
		{runlog.Query{Job: "j", Before: before, From: from}, []string{"runs_by_job"}},
		{runlog.Query{Group: "g", From: from}, []string{"runs_by_group"}},
		{runlog.Query{Worker: "w"}, []string{"runs_by_worker"}},
		{runlog.Query{Statuses: failed}, []string{"runs_by_status"}},
		{runlog.Query{Statuses: several, Before: before, To: to}, []string{"runs_by_status"}},
		{runlog.Query{Cause: "manual"}, []string{"runs_by_cause"}},
		{runlog.Query{Before: before, Oldest: true}, []string{"runs_top"}},
		{runlog.Query{Job: "j", From: from, Oldest: true}, []string{"runs_by_job"}},
		{runlog.Query{Statuses: several, Before: before, Oldest: true}, []string{"runs_by_status"}},
		{runlog.Query{ExitCode: new(3)}, []string{"runs_by_exit"}},
		{runlog.Query{
			Job:      "j",
			Group:    "g",
			Worker:   "w",
			Statuses: several,
			Cause:    "rerun",
			ExitCode: new(3),
			JobUID:   "u",
			Text:     "x",
			Before:   before,
			From:     from,
			To:       to,
		},
			[]string{"runs_by_job", "runs_by_group", "runs_by_worker", "runs_by_status", "runs_by_cause",
				"runs_by_exit"}},
	} {
		ways, possible := leads(&c.q)
		if !possible || len(ways) != len(c.indexes) {
			t.Fatalf("%+v: %d ways", c.q, len(ways))
		}
		for i, way := range ways {
			if way.index != c.indexes[i] {
				t.Errorf("%+v: is read by %q", c.q, way.index)
			}
			index := way.index
			if index == "" {
				index = "PRIMARY KEY"
			}
			text, args := way.sql("planned, id, (SELECT doc FROM docs WHERE docs.n = runs.n)", spanOf(&c.q),
				c.q.Oldest, true)
			check(t, s, text+" LIMIT 50", args, index)
			text, args = way.sql("planned, id", spanOf(&c.q), c.q.Oldest, false)
			steps := check(t, s, text+" LIMIT 1 OFFSET 300", args, index)
			if way.index != "" && !strings.Contains(strings.Join(steps, "\n"), "COVERING INDEX "+way.index) {
				t.Errorf("%s does not hold all that is looked at", way.index)
			}
		}
	}
	check(t, s, selectNode, []any{"u.x"}, "runs_by_flow (flow=?)")
	check(t, s, selectByTime, []any{1, "u.x"}, "PRIMARY KEY (planned=? AND id=?)")
	check(t, s, selectByName, []any{"u.x"}, "runs_named (id=?)")
	check(t, s, selectOfFire, []any{1, "a", "b", "a", "b"}, "PRIMARY KEY (planned=? AND id>? AND id<?)",
		"runs_named (id>? AND id<?)")
	check(t, s, selectLate+marks(3), []any{"a", "b", "c"}, "sqlite_autoindex_late_1")
	check(t, s, listOutput, []any{"r", 1, 2}, "chunks_missing", "sqlite_autoindex_chunks_1")
	check(t, s, selectKept, []any{"a", 10}, "sqlite_autoindex_names_1 (name>?)", "runs_by_job (job=?)")
	check(t, s, selectSize, []any{1}, "runs_by_job (job=?)")
	check(t, s, selectNewest, []any{1, "b", "b", 10}, "runs_by_job (job=?)")
	check(t, s, selectOldest, []any{1, 2, "x", "2026-03-01T12:00:00Z", "b", "b", 10},
		"runs_by_job (job=? AND (planned,id)<(?,?))")
	check(t, s, selectUncounted, []any{1, 10}, "INTEGER PRIMARY KEY (rowid>?)")
	check(t, s, selectJobs, []any{1, 2, 3, 4, 5}, "runs_by_job (job=? AND planned>? AND planned<?)",
		"PRIMARY KEY (at=? AND job=?)")
	check(t, s, selectInHour, []any{1, 2, 3}, "runs_by_job (job=? AND planned>? AND planned<?)")
	check(t, s, selectSealed, []any{1, 10}, "changes_by_seq (seq>?)")
	check(t, s, deleteSealed, []any{1, 10}, "changes_by_seq (seq=?)", "changes_by_seq (seq<?)")
	for _, c := range []struct {
		q     runlog.ChangeQuery
		index string
	}{
		{runlog.ChangeQuery{}, "sqlite_autoindex_changes_1"},
		{runlog.ChangeQuery{From: from, To: to}, "sqlite_autoindex_changes_1 (id>? AND id<?)"},
		{runlog.ChangeQuery{Kind: "job", From: from, To: to}, "changes_by_kind"},
		{runlog.ChangeQuery{Kind: "job", Name: "j", Before: "x", Actor: "a", Verb: "run"}, "changes_by_name"},
		{runlog.ChangeQuery{Kind: "job", Actor: "a", Verb: "run"}, "changes_by_actor"},
		{runlog.ChangeQuery{Name: "job", Verb: "run", From: from}, "changes_by_verb"},
	} {
		text, args := listChanges(&c.q)
		check(t, s, text, args, c.index)
	}
}

func check(t *testing.T, s *Store, text string, args []any, indexes ...string) (steps []string) {
	t.Helper()
	steps = plan(t, s, text, args)
	for _, index := range indexes {
		if !strings.Contains(strings.Join(steps, "\n"), index) {
			t.Errorf("index %s is not used", index)
		}
	}
	for _, step := range steps {
		if strings.Contains(step, "TEMP B-TREE") || strings.HasPrefix(step, "SCAN") &&
			!strings.Contains(step, "USING INDEX") {
			t.Errorf("%s", step)
		}
	}
	return steps
}

func plan(t *testing.T, s *Store, text string, args []any) (steps []string) {
	t.Helper()
	rows, err := s.reader.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s\n\t%s", strings.Join(strings.Fields(text), " "), strings.Join(steps, "\n\t"))
	return steps
}

// A file of any earlier schema opens, and accepts runs.
func TestEverySchemaIsBroughtUpToDate(t *testing.T) {
	for version := 1; version < len(steps()); version++ {
		path := filepath.Join(t.TempDir(), "runs.db")
		if err := restrict(path); err != nil {
			t.Fatal(err)
		}
		old, err := connect(path, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps()[:version] {
			if _, err := old.ExecContext(t.Context(), step.text); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := old.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", version)); err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Errorf("schema %d: %v", version, err)
			continue
		}
		run := common.Run{
			ID:        "u.00000000001770000000.1",
			Job:       "j",
			Status:    common.StatusFailed,
			PlannedAt: time.Unix(1770000000, 0).UTC(),
		}
		if err := s.Write(t.Context(), runlog.Batch{Runs: []common.Run{run}}); err != nil {
			t.Errorf("schema %d: %v", version, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

const insertRun1 = "INSERT INTO runs (id, planned, job, job_uid, grp, status, worker, cause, doc) VALUES (?, ?, ?, " +
	"?, ?, ?, ?, ?, ?)"

// A file of the first schema keeps its runs, and stores none of them twice.
func TestMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	if err := restrict(path); err != nil {
		t.Fatal(err)
	}
	old, err := connect(path, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.ExecContext(t.Context(), schema1+"PRAGMA user_version = 1;"); err != nil {
		t.Fatal(err)
	}
	var runs []common.Run
	for _, id := range []string{"u.00000000001770000000.1", "u.00000000001770000000.2", "v.00000000001770000000.1",
		"u.t17.1", "plain", ".x", "a.b.c.d"} {
		run := common.Run{ID: id, Job: "j", Status: common.StatusFailed, PlannedAt: time.Unix(1770000000, 0).UTC()}
		doc, err := entry.EncodeRun(&run)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.ExecContext(t.Context(), insertRun1, id, entry.Nanos(run.PlannedAt), "j", "", "", "failed", "",
			"", doc); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for i := range runs {
		runs[i].Status = common.StatusSucceeded
	}
	if err := s.Write(t.Context(), runlog.Batch{Runs: runs}); err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		if got, err := s.Run(t.Context(), run.ID); err != nil || got.Status != common.StatusFailed {
			t.Errorf("%s: %v, %v", run.ID, got.Status, err)
		}
	}
	if all, err := s.Runs(t.Context(), runlog.Query{}); err != nil || len(all.Runs) != len(runs) {
		t.Errorf("%d runs, %v", len(all.Runs), err)
	}
	if of, err := s.Runs(t.Context(), runlog.Query{Fire: "u.00000000001770000000"}); err != nil || len(of.Runs) != 2 {
		t.Errorf("%d runs of a fire, %v", len(of.Runs), err)
	}
}
