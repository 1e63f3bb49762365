package sqlitelog

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/conformance"
	"carillon/internal/runlog/entry"
	"carillon/internal/runlog/rollup"
)

func opened(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // some were closed before
	return s
}

func write(t *testing.T, s *Store, b runlog.Batch) {
	t.Helper()
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// somewhen returns the n-th of runs that are ten minutes apart, of three jobs on two workers.
func somewhen(n int) common.Run {
	planned := noon.Add(time.Duration(n) * 10 * time.Minute)
	uid := fmt.Sprintf("uid%d", n%3)
	fire := common.PlannedFire(uid, planned)
	r := common.Run{
		ID:        common.RunID(fire, 1),
		Fire:      fire,
		Job:       fmt.Sprintf("job-%d", n%3),
		JobUID:    uid,
		Worker:    fmt.Sprintf("w%d", n%2),
		PlannedAt: planned,
		Cause:     common.CauseCron,
		Attempt:   1,
		Status:    common.StatusSucceeded,
		StartedAt: new(planned.Add(time.Second)),
		EndedAt:   new(planned.Add(5 * time.Second)),
		ExitCode:  new(0),
	}
	if n%5 == 0 {
		r.Status, r.ExitCode = common.StatusFailed, new(n%7)
	}
	return r
}

func somewhens(from, to int) (runs []common.Run) {
	for n := from; n < to; n++ {
		runs = append(runs, somewhen(n))
	}
	return runs
}

// checkCounts compares all roll-ups with the counts of the runs.
func checkCounts(t *testing.T, s *Store, runs []common.Run) {
	t.Helper()
	for _, job := range []string{"", "job-0", "job-1", "job-2"} {
		for _, q := range []runlog.RollupQuery{{}, {Workers: true}, {Days: true}, {Days: true, Workers: true}} {
			q.Job = job
			want := map[string]*rollup.Cell{}
			for i := range runs {
				r := &runs[i]
				at, worker := rollup.HourOf(r.PlannedAt), ""
				if q.Days {
					at = rollup.DayOf(at)
				}
				if q.Workers {
					worker = r.Worker
				}
				key := at.String() + worker
				if job != "" && job != r.Job {
					continue
				}
				if want[key] == nil {
					want[key] = &rollup.Cell{}
				}
				want[key].Add(r)
			}
			rows, err := s.Rollups(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				key := rows[i].At.String() + rows[i].Worker
				if w := want[key]; w == nil || !bytes.Equal(w.Encode(), rows[i].Cell.Encode()) {
					t.Errorf("%+v: %s is %v", q, key, rows[i].Cell.Runs)
				}
				delete(want, key)
			}
			for key := range want {
				t.Errorf("%+v: %s is missing", q, key)
			}
		}
	}
}

// Runs are counted once, whether their roll-ups were written to the file or not, however often the file is
// opened, and by however many processes.
func TestRollups_Interrupted_CountOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	first := opened(t, path)
	all := somewhens(0, 400)
	write(t, first, runlog.Batch{Runs: all[:100]})
	checkCounts(t, first, all[:100])
	if _, err := first.Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
		t.Fatal(err)
	}
	write(t, first, runlog.Batch{Runs: all[:150]})
	checkCounts(t, first, all[:150])

	second := opened(t, path)
	checkCounts(t, second, all[:150])
	write(t, second, runlog.Batch{Runs: all[150:200]})
	write(t, first, runlog.Batch{Runs: all[180:250]})
	if _, err := second.Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
		t.Fatal(err)
	}
	write(t, first, runlog.Batch{Runs: all[200:300]})
	checkCounts(t, first, all[:300])
	write(t, second, runlog.Batch{Runs: all[100:350]})
	checkCounts(t, second, all[:350])
	for _, s := range []*Store{first, second} {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	third := opened(t, path)
	checkCounts(t, third, all[:350])
	// A batch that fails in the middle leaves nothing in memory.
	if _, err := third.writer.ExecContext(t.Context(),
		"CREATE TRIGGER no BEFORE INSERT ON changes BEGIN SELECT RAISE(ABORT, 'no'); END"); err != nil {
		t.Fatal(err)
	}
	if err := third.Write(t.Context(), runlog.Batch{Runs: all[300:], Changes: []common.Change{{ID: "c"}}}); err == nil {
		t.Fatal("the batch was stored")
	}
	checkCounts(t, third, all[:350])
	// A time that is thousands of years off, as of a job without a time, does not make roll-ups endless.
	odd := somewhen(1)
	odd.ID, odd.PlannedAt, odd.StartedAt, odd.EndedAt = "odd", time.Unix(0, math.MinInt64).UTC(), nil, nil
	all = append(all, odd)
	write(t, third, runlog.Batch{Runs: all})
	if _, err := third.Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, third, all)
}

// Counts that are written to the file while roll-ups are read are counted once, even if they are the first in
// the file.
func TestRollups_ReadWhileWritten_CountOnce(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	for _, part := range [][]common.Run{somewhens(0, 30), somewhens(30, 60)} {
		write(t, s, runlog.Batch{Runs: part})
		asks := []ask{{book: hours, first: math.MinInt64, end: math.MaxInt64}}
		all := func(*ask, place) place { return place{} }
		sum, upto := s.inMemory(asks, all)
		if sum[place{}] == nil || sum[place{}].Total() != int64(len(part)) {
			t.Fatalf("in memory: %+v", sum[place{}])
		}
		if _, err := s.Tidy(t.Context(), runlog.Tidy{Now: noon}); err != nil {
			t.Fatal(err)
		}
		if same, err := s.inFile(t.Context(), asks, &upto, sum, all); err != nil || same {
			t.Errorf("a file that took over what was in memory up to %v is as it was: %v, %v", upto, same, err)
		}
	}
}

// Books that are full are written together with a batch.
func TestRollups_ManyCells_AreWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := opened(t, path)
	s.bounds.cells = 60
	all := somewhens(0, 400)
	for part := range slices.Chunk(all, 50) {
		write(t, s, runlog.Batch{Runs: part})
	}
	if upto := s.pending.books[hours].upto; upto == 0 || len(s.pending.books[hours].cells) > 300 {
		t.Errorf("nothing was written: %d cells in memory", len(s.pending.books[hours].cells))
	}
	checkCounts(t, s, all)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, opened(t, path), all)
}

// Tidy finds wrong roll-ups, as long as their runs exist.
func TestRepair(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	all := somewhens(0, 600) // a little more than four days
	write(t, s, runlog.Batch{Runs: all})
	late := runlog.Tidy{Now: noon.AddDate(0, 1, 0)}
	done, err := s.Tidy(t.Context(), late)
	if err != nil || done.Counted == 0 || done.Repaired != 0 {
		t.Fatalf("%+v, %v", done, err)
	}
	hour := noon.Add(30*time.Hour).Unix() / 3600
	for _, wrong := range []string{
		"DELETE FROM hours WHERE at = ? AND job <> 0",
		"UPDATE hours SET cell = (SELECT cell FROM days LIMIT 1) WHERE at = ? AND job = (SELECT id FROM names WHERE " +
			"name = 'job-1')",
		"UPDATE hours SET cell = (SELECT cell FROM days LIMIT 1) WHERE at = ? AND job = 0",
		"INSERT INTO hours SELECT ?, id, id, (SELECT cell FROM days LIMIT 1) FROM names WHERE name = 'w1'",
	} {
		if _, err := s.writer.ExecContext(t.Context(), wrong, hour); err != nil {
			t.Fatal(err)
		}
		s.stale = true
		repaired := 0
		for range 3 { // in rotation
			done, err := s.Tidy(t.Context(), late)
			if err != nil {
				t.Fatal(err)
			}
			repaired += done.Repaired
		}
		if repaired == 0 {
			t.Errorf("nothing was repaired after %s", wrong)
		}
		checkCounts(t, s, all)
	}
	// Roll-ups whose runs were deleted are left as they are.
	gone, err := s.Expire(t.Context(), runlog.Expiry{Job: "job-1", Before: noon.Add(31 * time.Hour), Limit: 1000})
	if err != nil || gone.Runs == 0 {
		t.Fatalf("%+v, %v", gone, err)
	}
	for range 3 {
		if done, err := s.Tidy(t.Context(), late); err != nil || done.Repaired != 0 {
			t.Errorf("%+v, %v", done, err)
		}
	}
	checkCounts(t, s, all)
}

// A list with few matches ends early, returns where, and continues there.
func TestBoundedLists(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	all := somewhens(0, 1400)
	all[70].Worker, all[70].Note, all[71].Cause = "lonely", "Straße of the lonely", common.CauseManual
	for part := range slices.Chunk(all, 500) {
		write(t, s, runlog.Batch{Runs: part})
	}
	s.bounds = bounds{rows: 600, docs: 100}
	for _, q := range []runlog.Query{
		{Job: "job-1", Worker: "w0", ExitCode: new(0)},
		{Cause: common.CauseCron, ExitCode: new(5)},
		{Statuses: common.Statuses[:3], Cause: common.CauseCron, JobUID: "uid2"},
		{Text: "LONELY"}, {Text: "straSSE"}, {Text: "straße"}, {Text: "job-2", Job: "job-2"}, {Text: "<no>"},
		{Worker: "lonely", Text: "of the"},
	} {
		q.Limit = 30
		early := 0
		var found []string
		for page := q; ; {
			part, err := s.Runs(t.Context(), page)
			if err != nil {
				t.Fatal(err)
			}
			for i := range part.Runs {
				found = append(found, part.Runs[i].ID)
			}
			next := part.Until
			if next != nil {
				early++
				if len(part.Runs) >= q.Limit {
					t.Errorf("%+v: a whole page ended early", q)
				}
			} else if len(part.Runs) == q.Limit {
				next = new(runlog.PositionOf(&part.Runs[len(part.Runs)-1]))
			}
			if next == nil {
				break
			}
			page.Before = next
		}
		var want []string
		for i := range slices.Backward(all) {
			if q.Matches(&all[i]) {
				want = append(want, all[i].ID)
			}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%+v: found %d, want %d", q, len(found), len(want))
		}
		if rare := len(want) < 5 && q.Worker == ""; rare && early == 0 {
			t.Errorf("%+v: never ended early", q)
		}
		whole := q
		whole.Limit = 0
		if part, err := s.Runs(t.Context(), whole); err != nil || part.Until != nil || len(part.Runs) != len(want) {
			t.Errorf("%+v without a limit: %d runs until %v, %v", q, len(part.Runs), part.Until, err)
		}
	}
}

// The most selective of several indexes is read.
func TestList_SeveralFilters_UsesSparsestIndex(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	all := somewhens(0, 1400)
	for i := range all {
		if all[i].Group = "big"; i%500 == 1 {
			all[i].Worker = "rare"
		}
	}
	for part := range slices.Chunk(all, 500) {
		write(t, s, runlog.Batch{Runs: part})
	}
	for _, c := range []struct {
		q    runlog.Query
		want string
	}{
		{runlog.Query{Job: "job-1", Group: "big"}, "runs_by_job"},
		{runlog.Query{Job: "job-1", Worker: "rare", Group: "big"}, "runs_by_worker"},
		{runlog.Query{Group: "big", Statuses: []common.Status{common.StatusFailed}}, "runs_by_status"},
		{runlog.Query{Group: "none", Job: "job-1"}, "runs_by_group"},
	} {
		ways, _ := leads(&c.q)
		for _, oldest := range []bool{false, true} {
			best, err := s.best(t.Context(), ways, spanOf(&c.q), oldest)
			if err != nil || best.index != c.want {
				t.Errorf("%+v is read by %v, %v, want %s", c.q, best, err, c.want)
			}
		}
	}
}

// The first outcome stays even if the times in ids differ from those of the runs.
func TestRun_UnusualID_IsFound(t *testing.T) {
	at, other := noon, noon.Add(time.Hour)
	id := common.RunID(common.PlannedFire("u", at), 1)
	run := func(planned time.Time, status common.Status) common.Run {
		return common.Run{ID: id, Job: "j", PlannedAt: planned, Status: status}
	}
	for _, times := range [][2]time.Time{{at, other}, {other, at}, {other, other.Add(1)}} {
		path := filepath.Join(t.TempDir(), "runs.db")
		s := opened(t, path)
		write(t, s, runlog.Batch{Runs: []common.Run{run(times[0], common.StatusFailed)}})
		write(t, s, runlog.Batch{Runs: []common.Run{run(times[1], common.StatusLost)}})
		again := opened(t, path)
		write(t, again, runlog.Batch{Runs: []common.Run{run(times[1], common.StatusLost)}})
		got, err := s.Run(t.Context(), id)
		all, err2 := s.Runs(t.Context(), runlog.Query{})
		if err != nil || err2 != nil || got.Status != common.StatusFailed || len(all.Runs) != 1 {
			t.Errorf("%v: %v of %d, %v, %v", times, got.Status, len(all.Runs), err, err2)
		}
	}
}

// Space of deleted runs is returned to the disk, and the WAL does not keep it.
func TestTidy_FreePages_AreReturned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := opened(t, path)
	all := somewhens(0, 90)
	for i := range all {
		write(t, s, runlog.Batch{
			Runs:   all[i : i+1],
			Chunks: []common.Chunk{{Run: all[i].ID, At: noon, Data: make([]byte, 60_000)}},
		})
	}
	size := func() int64 {
		s.wal.copy(t.Context())
		if length, copied, err := walPages(t.Context(), s.writer, "NOOP"); err != nil || length != copied {
			t.Fatalf("of %d pages %d were copied, %v", length, copied, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	for _, job := range []string{"job-0", "job-1", "job-2"} {
		gone, err := s.Expire(t.Context(), runlog.Expiry{
			Job:    job,
			Before: noon.AddDate(1, 0, 0),
			Newest: true,
			Limit:  1000,
		})
		if err != nil || gone.Runs != 29 || gone.Bytes != 29*60_000 || gone.More {
			t.Fatalf("%+v, %v", gone, err)
		}
	}
	done, err := s.Tidy(t.Context(), runlog.Tidy{Now: noon})
	if err != nil {
		t.Fatal(err)
	}
	if after := size(); done.Freed < before/2 || after > before/2 {
		t.Errorf("%d bytes went back; the file has %d of %d", done.Freed, after, before)
	}
}

// Output that was written after its run was deleted is deleted as well, that of a possibly active run stays.
func TestTidy_OrphanedOutput_IsDeleted(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	kept := somewhen(1)
	named := somewhen(2)
	named.ID = "uid2.tx.1"
	var chunks []common.Chunk
	for i := range 1200 {
		chunks = append(chunks, common.Chunk{
			Run:    fmt.Sprintf("gone.%d", i/100),
			Offset: int64(i),
			At:     noon.Add(-time.Hour),
			Data:   []byte("x"),
		})
	}
	for _, id := range []string{kept.ID, named.ID} {
		chunks = append(chunks, common.Chunk{Run: id, At: noon.Add(-time.Hour), Data: []byte("x")})
	}
	chunks = append(chunks, common.Chunk{Run: "alive", At: noon.Add(time.Hour), Data: []byte("x")})
	write(t, s, runlog.Batch{Chunks: chunks, Runs: []common.Run{kept, named}})
	expired := 0
	for range 4 {
		done, err := s.Tidy(t.Context(), runlog.Tidy{Now: noon.AddDate(0, 0, 90), Hours: noon})
		if err != nil {
			t.Fatal(err)
		}
		expired += done.Expired
	}
	left, err := collect(t.Context(), s.reader, "SELECT run FROM chunks ORDER BY run", nil, text)
	if err != nil || expired != 1200 || !slices.Equal(left, []string{"alive", kept.ID, named.ID}) {
		t.Errorf("%d went, left %v, %v", expired, left, err)
	}
}

func TestBackup(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "runs.db"), filepath.Join(dir, "copy?x=1.db")
	s := opened(t, path)
	all := somewhens(0, 300)
	write(t, s, runlog.Batch{Runs: all[:200], Chunks: []common.Chunk{{Run: all[0].ID, At: noon, Data: []byte("out")}}})
	if err := s.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	write(t, s, runlog.Batch{Runs: all[200:]})
	if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	restored := opened(t, to)
	checkCounts(t, restored, all[:200])
	if chunks, err := restored.Output(t.Context(), all[0].ID, 0, 100); err != nil || len(chunks) != 1 {
		t.Errorf("%v, %v", chunks, err)
	}
	write(t, restored, runlog.Batch{Runs: all})
	checkCounts(t, restored, all)

	before, err := os.ReadFile(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), to); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("over a file: %v", err)
	}
	if after, err := os.ReadFile(to); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file that was there has changed, %v", err)
	}
	none := filepath.Join(dir, "none.db")
	if _, err := BackupFile(t.Context(), none, filepath.Join(dir, "b.db")); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("of no file: %v", err)
	}
	for _, name := range []string{none, filepath.Join(dir, "b.db")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, bytes.Repeat([]byte("no database "), 500), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := BackupFile(t.Context(), text, filepath.Join(dir, "b.db")); err == nil {
		t.Error("of a text file: no error")
	}
	if _, err := os.Stat(filepath.Join(dir, "b.db")); err == nil {
		t.Error("a backup that failed left a file")
	}
	// A file of another version is copied as it is.
	if _, err := s.writer.ExecContext(t.Context(), "PRAGMA user_version = 77"); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	if c, err := BackupFile(t.Context(), path, newer); err != nil || c.Schema != 77 {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := Open(t.Context(), newer); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("the copy of a newer one: %v", err)
	}
}

// The rest of a killed backup blocks no other, and a file that was created while one was written stays.
func TestBackupBesideOthers(t *testing.T) {
	dir := t.TempDir()
	path, to := filepath.Join(dir, "runs.db"), filepath.Join(dir, "copy.db")
	s := opened(t, path)
	write(t, s, runlog.Batch{Runs: somewhens(0, 20)})
	others := []string{to + ".partial", to + ".1.partial"}
	for _, name := range others {
		if err := os.WriteFile(name, []byte("left behind"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := BackupFile(t.Context(), path, to); err != nil || c.Runs != 20 {
		t.Fatalf("%+v, %v", c, err)
	}
	_, err := BackupFile(t.Context(), path, to)
	if common.CodeOf(err) != common.CodeConflict || strings.Count(err.Error(), "copy.db") != 1 {
		t.Errorf("over a file: %v", err)
	}
	_, err = BackupFile(t.Context(), path, filepath.Join(dir, "none", "copy.db"))
	if common.CodeOf(err) != common.CodeUnavailable || strings.Count(err.Error(), "no such file") != 1 {
		t.Errorf("into no folder: %v", err)
	}
	if err := name(others[0], to); common.CodeOf(err) != common.CodeConflict {
		t.Errorf("a name that was taken meanwhile: %v", err)
	}
	if c, err := Examine(t.Context(), to); err != nil || c.Runs != 20 {
		t.Errorf("the backup is now %+v, %v", c, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*.partial"))
	if err != nil || !slices.Equal(left, []string{to + ".1.partial", to + ".partial"}) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A file of the schema before roll-ups is migrated with all its contents.
func TestMigrationCounts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	all := somewhens(0, countParts+200)
	for i := range 7 {
		all[i].ID = fmt.Sprintf("uid%d.t%d.1", i%3, i)
	}
	all[7].ID = common.RunID(common.PlannedFire("uid1", noon.AddDate(1, 0, 0)), 1) // different from its planned time
	old := schema3File(t, path, all)
	change := common.Change{
		ID:    common.TimeKey(noon) + "-c1",
		At:    noon,
		Actor: common.Actor{Name: "ada"},
		Verb:  "create",
		Kind:  "job",
		Name:  "job-1",
	}
	doc, err := entry.EncodeChange(&change)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := old.ExecContext(t.Context(), "INSERT INTO changes (id, kind, name, doc) VALUES (?, 'job', 'job-1', ?)",
		change.ID, doc); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	s := opened(t, path)
	checkCounts(t, s, all)
	write(t, s, runlog.Batch{Runs: all})
	checkCounts(t, s, all)
	for i := range 10 {
		if got, err := s.Run(t.Context(), all[i].ID); err != nil || !got.PlannedAt.Equal(all[i].PlannedAt) {
			t.Errorf("%s: %v", all[i].ID, err)
		}
	}
	failed, err := s.Runs(t.Context(), runlog.Query{ExitCode: new(5), Worker: "w1"})
	want := 0
	for i := range all {
		if *all[i].ExitCode == 5 && all[i].Worker == "w1" {
			want++
		}
	}
	if err != nil || len(failed.Runs) != want {
		t.Errorf("%d runs left with 5, %v, want %d", len(failed.Runs), err, want)
	}
	if !s.strays {
		t.Error("an id with another time was not noticed")
	}
	for _, q := range []runlog.ChangeQuery{{Actor: "ada"}, {Verb: "create"}, {From: noon, To: noon.Add(1)}} {
		if got, err := s.Changes(t.Context(), q); err != nil || len(got) != 1 {
			t.Errorf("%+v: %v, %v", q, got, err)
		}
	}
}

// schema3File creates a file of the schema before roll-ups.
func schema3File(t *testing.T, path string, runs []common.Run) *sql.DB {
	t.Helper()
	if err := restrict(path); err != nil {
		t.Fatal(err)
	}
	old, err := connect(path, 1, url.Values{"_pragma": {"auto_vacuum(incremental)"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = old.Close() }) // most were closed before
	if _, err := old.ExecContext(t.Context(), schema1+schema2+schema3+"PRAGMA user_version = 3;"); err != nil {
		t.Fatal(err)
	}
	tx, err := old.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		doc, err := entry.EncodeRun(&runs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), insertRun1, runs[i].ID, entry.Nanos(runs[i].PlannedAt), runs[i].Job,
			runs[i].JobUID, runs[i].Group, string(runs[i].Status),
			runs[i].Worker, string(runs[i].Cause), doc); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return old
}

// A migration logs its needs before and its result after, uses no more space than it logged, and does not
// begin with less.
func TestMigrationTellsWhatItTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	all := somewhens(0, 5000)
	for i := range all {
		all[i].Note = strings.Repeat("n", i%400)
	}
	old := schema3File(t, path, all)
	was, err := roomOf(path)
	if err != nil || was.free <= 0 {
		t.Fatalf("%+v, %v", was, err)
	}
	var said bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&said, nil))
	tight := func() (room, error) { return room{size: was.size, free: 1 << 20}, nil }
	version, err := migrate(t.Context(), old, tight, log)
	if common.CodeOf(err) != common.CodeUnavailable || !strings.Contains(err.Error(), "1 MiB are free") {
		t.Errorf("on a disk that is full: %v", err)
	}
	if err := old.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version); err != nil || version != 3 ||
		said.Len() > 0 {
		t.Errorf("is version %d, %v; said %s", version, err, said.String())
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}

	s, err := OpenLogged(t.Context(), path, log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	checkCounts(t, s, all)
	lines := bytes.Split(bytes.TrimSpace(said.Bytes()), []byte("\n"))
	if len(lines) != 2 || !bytes.Contains(lines[1], []byte(`"run_log_migrated"`)) {
		t.Fatalf("said %s", said.String())
	}
	var begins struct {
		Msg        string
		Runs       int
		SizeBytes  int64 `json:"size_bytes"`
		NeedsBytes int64 `json:"needs_bytes"`
	}
	if err := json.Unmarshal(lines[0], &begins); err != nil || begins.Msg != "run_log_migration_begins" ||
		begins.Runs != len(all) || begins.SizeBytes != was.size {
		t.Errorf("said %s, %v", lines[0], err)
	}
	wal, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	pages := int64(0)
	if err := s.reader.QueryRowContext(t.Context(), "PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	took := wal.Size() + pages*pageSize - was.size
	t.Logf("took %d of %d, %d per run", took, begins.NeedsBytes, took/int64(len(all)))
	if took > begins.NeedsBytes || took < begins.NeedsBytes/3 {
		t.Errorf("took %d bytes, was said to take up to %d", took, begins.NeedsBytes)
	}
	// A file with the present schema logs nothing.
	said.Reset()
	again, err := OpenLogged(t.Context(), path, log)
	if err != nil || said.Len() > 0 {
		t.Fatalf("said %s, %v", said.String(), err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// Roll-ups of an older version do not contain retries: they are counted again as long as their runs exist.
func TestRepair_RollupsWithoutRetries_GetThem(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "runs.db"))
	h := conformance.NewHistory(noon)
	write(t, s, runlog.Batch{Runs: h.Ended})
	late := runlog.Tidy{Now: noon.Add(6 * time.Hour)}
	if _, err := s.Tidy(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	retries := func() (n int64) {
		rows, err := s.Rollups(t.Context(), runlog.RollupQuery{From: noon.AddDate(0, 0, -9), To: noon, Days: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			n += rows[i].Cell.Retries()
		}
		return n
	}
	want := retries()
	for _, table := range tables {
		type cell struct {
			at, job, worker int64
			data            []byte
		}
		cells, err := collect(t.Context(), s.writer, "SELECT at, job, worker, cell FROM "+table, nil,
			func(rows *sql.Rows) (c cell, err error) { return c, rows.Scan(&c.at, &c.job, &c.worker, &c.data) })
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cells {
			var is rollup.Cell
			if err := is.AddEncoded(c.data); err != nil {
				t.Fatal(err)
			}
			is.Retried = rollup.Cell{}.Retried
			if _, err := s.writer.ExecContext(t.Context(),
				"UPDATE "+table+" SET cell = ? WHERE at = ? AND job = ? AND worker = ?",
				is.Encode(), c.at, c.job, c.worker); err != nil {
				t.Fatal(err)
			}
		}
	}
	if is := retries(); is != 0 || want == 0 {
		t.Fatalf("%d retries, want 0; %d were counted", is, want)
	}
	for range 6 {
		if _, err := s.Tidy(t.Context(), late); err != nil {
			t.Fatal(err)
		}
	}
	if is := retries(); is != want {
		t.Errorf("%d retries after the repair, want %d", is, want)
	}
}
