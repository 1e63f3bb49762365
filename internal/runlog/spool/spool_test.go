package spool

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"carillon/internal/common"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// some are a few chunks of two runs, of every kind.
func some() []common.Chunk {
	return []common.Chunk{
		output("a", 0, 10), output("b", 0, 1), output("a", 10, common.MaxChunk),
		{Run: "a", Offset: 10 + common.MaxChunk, At: base, Missing: 5_000_000_000},
		{Run: "b", Offset: 1, Data: []byte{0}}, // without stream and time
	}
}

func TestNext_ReturnsInOrder(t *testing.T) {
	for _, limit := range []int{1, 100, 1 << 20} {
		s := start(t, config(t.TempDir(), 1<<30, 0))
		want := some()
		appendAll(t, s, want[:2]...)
		appendAll(t, s, want[2:]...)
		same(t, drain(t, s, limit), want)
		appendAll(t, s, want...)
		same(t, drain(t, s, limit), want)
		if left := outFiles(t, s.cfg.Dir, "*"+suffix); len(left) > 0 {
			t.Fatalf("%v are left", left)
		}
	}
}

func TestAppend_MuchOutput_ManyFiles(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<20, 4096))
	var want []common.Chunk
	for i := range 100 {
		want = append(want, output("a", int64(i)*1000, 1000))
	}
	appendAll(t, s, want[:30]...)
	appendAll(t, s, want[30:]...)
	if n := len(outFiles(t, dir, "*"+suffix)); n < 25 {
		t.Fatalf("all is in %d files", n)
	}
	chunks, upTo, err := s.Next(50_000)
	if err != nil || len(chunks) < 35 || len(chunks) > 50 {
		t.Fatalf("%d chunks, %v", len(chunks), err)
	}
	s.Ack(upTo)
	if n := len(outFiles(t, dir, "*"+suffix)); n > 20 {
		t.Fatalf("%d files are left when so much is acknowledged", n)
	}
	same(t, append(chunks, drain(t, s, 9000)...), want)
}

// Single letters are returned in batches that are small in memory as well.
func TestNext_ManySmallChunks_BatchesAreBounded(t *testing.T) {
	s := start(t, config(t.TempDir(), 1<<30, 0))
	want := make([]common.Chunk, 12_000)
	for i := range want {
		want[i] = output("a", int64(i), 1)
	}
	appendAll(t, s, want...)
	for limit, most := range map[int]int{64 << 10: 300, 4 << 20: 5000} {
		if chunks, _, err := s.Next(limit); err != nil || len(chunks) > most || len(chunks) < most/2 {
			t.Fatalf("%d chunks in %d bytes, %v", len(chunks), limit, err)
		}
	}
	same(t, drain(t, s, 4<<20), want)
}

// Output that is not acknowledged is returned again, in the same incarnation and in the next one.
func TestOpen_Again_ReturnsUnacknowledged(t *testing.T) {
	dir, want := t.TempDir(), some()
	s := start(t, config(dir, 1<<30, 0))
	appendAll(t, s, want...)
	for range 2 {
		chunks, _, err := s.Next(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		same(t, chunks, want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = start(t, config(dir, 1<<30, 0))
	appendAll(t, s, output("c", 0, 5))
	chunks, upTo, err := s.Next(10)
	if err != nil {
		t.Fatal(err)
	}
	s.Ack(upTo)
	same(t, append(chunks, drain(t, s, 1<<20)...), append(want, output("c", 0, 5)))
}

func TestOpen_Twice_IsRefused(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	if _, err := Open(config(dir, 1<<30, 0)); !errors.Is(err, ErrInUse) {
		t.Fatalf("opened twice: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	start(t, config(dir, 1<<30, 0))
}

func TestOpen_LinkOutOfDataFolder_IsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "spool")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(config(dir, 1<<30, 0)); err == nil {
		t.Fatal("follows a link out of the data folder")
	}
}

// Wherever a crash cuts the newest file, the complete part before that is returned.
func TestOpen_TornTail_IsCut(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	want := []common.Chunk{output("a", 0, 10), output("a", 10, 20), output("a", 30, 30)}
	var ends []int64
	for _, c := range want {
		appendAll(t, s, c)
		ends = append(ends, s.State().Bytes)
	}
	file := outFiles(t, dir, "*"+suffix)[0]
	whole, err := os.ReadFile(file)
	if err != nil || int64(len(whole)) != ends[2] {
		t.Fatalf("%d bytes, %v", len(whole), err)
	}
	for _, garbage := range []bool{false, true} {
		for cut := range len(whole) + 1 {
			at := t.TempDir()
			if err := os.Mkdir(filepath.Join(at, "spool"), 0o700); err != nil {
				t.Fatal(err)
			}
			torn := bytes.Clone(whole[:cut])
			if garbage {
				// the file was extended, but its content was not written
				torn = append(torn, make([]byte, len(whole)-cut)...)
			}
			if err := os.WriteFile(filepath.Join(at, "spool", filepath.Base(file)), torn, 0o600); err != nil {
				t.Fatal(err)
			}
			s := start(t, config(at, 1<<30, 0))
			appendAll(t, s, output("b", 0, 1))
			n := 0
			for n < len(ends) && ends[n] <= int64(cut) {
				n++
			}
			got := drain(t, s, 1<<20)
			if len(got) != n+1 {
				t.Fatalf("cut at %d: %d chunks, not %d\n%s", cut, len(got), n+1, text(got))
			}
			same(t, got[:n], want[:n])
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A file with an unreadable part is set aside; the output before and after that part is returned.
func TestNext_CorruptFiles_RestIsReturned(t *testing.T) {
	dir := t.TempDir()
	cfg := config(dir, 1<<20, 2048)
	log := &bytes.Buffer{}
	cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	s := start(t, cfg)
	var want []common.Chunk
	for i := range 40 {
		want = append(want, output("a", int64(i)*500, 500))
	}
	const per = 4 // chunks in a file
	for part := range slices.Chunk(want, per) {
		appendAll(t, s, part...)
	}
	files := outFiles(t, dir, "*"+suffix)
	change(t, files[1], func(data []byte) []byte { data[len(data)/2] ^= 1; return data }) // in its second
	change(t, files[3], func(data []byte) []byte { copy(data, "FOREIGN!"); return data }) // not a file of the spool
	change(t, files[4], func(data []byte) []byte { return data[:len(data)-1] })           // cut
	if err := os.Remove(files[5]); err != nil {
		t.Fatal(err)
	}
	var left []common.Chunk
	for i, c := range want {
		switch file := i / per; {
		case file == 1 && i%per == 1, file == 3, file == 4 && i%per == 3, file == 5:
		default:
			left = append(left, c)
		}
	}
	same(t, drain(t, s, 700), left)
	if bad := outFiles(t, dir, "*"+aside); len(bad) != 3 {
		t.Fatalf("set aside: %v", bad)
	}
	if n := strings.Count(log.String(), "spool_file_corrupt"); n != 4 {
		t.Fatalf("told %d times: %s", n, log)
	}
	appendAll(t, s, want[0])
	same(t, drain(t, s, 700), want[:1])
}

// An unreadable part in the newest file loses one chunk: later chunks were promised to survive, and are
// returned in the next incarnation. The file is set aside.
func TestOpen_CorruptPlaceInNewestFile_RestIsReturned(t *testing.T) {
	for name, harm := range map[string]func(frame []byte){
		"in the text":   func(frame []byte) { frame[len(frame)-1] ^= 1 },
		"in the length": func(frame []byte) { frame[1] ^= 0x7f },
		"all":           func(frame []byte) { clear(frame) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, log := t.TempDir(), &bytes.Buffer{}
			cfg := config(dir, 1<<30, 0)
			cfg.Log = slog.New(slog.NewTextHandler(log, nil))
			s := start(t, cfg)
			var want []common.Chunk
			var ends []int64
			for i := range 20 {
				want = append(want, output("a", int64(i)*500, 500))
				appendAll(t, s, want[i])
				ends = append(ends, s.State().Bytes)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			change(t, outFiles(t, dir, "*"+suffix)[0], func(data []byte) []byte {
				harm(data[ends[4]:ends[5]])
				return append(data, 1, 2, 3) // and a torn tail
			})
			s = start(t, cfg)
			appendAll(t, s, want[0])
			same(t, drain(t, s, 700), append(slices.Delete(slices.Clone(want), 5, 6), want[0]))
			if bad := outFiles(t, dir, "*"+aside); len(bad) != 1 {
				t.Fatalf("set aside: %v", bad)
			}
			if n := strings.Count(log.String(), "spool_file_corrupt"); n != 1 {
				t.Fatalf("told %d times: %s", n, log)
			}
		})
	}
}

// A newest file that cannot be read, here a missing one, does not prevent the start.
func TestOpen_NewestFileUnreadable_Starts(t *testing.T) {
	s := start(t, config(t.TempDir(), 1<<30, 0))
	lost := &segment{first: 1, last: 1, size: 100}
	s.segments, s.next = append(s.segments, lost), 2
	if err := s.cutTail(lost); err != nil || !lost.corrupt {
		t.Fatalf("%+v, %v", lost, err)
	}
	want := output("a", 0, 10)
	appendAll(t, s, want)
	same(t, drain(t, s, 1000), []common.Chunk{want})
}

func TestSetAside_KeepsFewFiles(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<20, 512))
	for i := range 40 {
		appendAll(t, s, output("a", int64(i)*300, 300))
	}
	for _, file := range outFiles(t, dir, "*"+suffix) {
		change(t, file, func(data []byte) []byte { data[0]++; return data })
	}
	if got := drain(t, s, 1000); len(got) != 0 {
		t.Fatalf("%d chunks out of bad files", len(got))
	}
	if bad := outFiles(t, dir, "*"+aside); len(bad) != 4 {
		t.Fatalf("%d files are set aside", len(bad))
	}
}

// Beyond the bound the oldest output is dropped, and one chunk for each run records how much.
func TestAppend_OverBound_OldestIsDropped(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 64<<10, 4096))
	const n, size = 500, 1000
	appendAll(t, s, common.StartChunk("a", base), common.StartChunk("silent", base))
	for i := range n {
		appendAll(t, s, output("a", int64(i)*size, size), output("b", int64(i)*10, 10))
		if state := s.State(); state.Bytes > 64<<10 {
			t.Fatalf("%d bytes are taken", state.Bytes)
		}
	}
	dropped := s.State().Dropped
	if files := outFiles(t, dir, "*"+suffix); len(files) > 24 {
		t.Fatalf("%d files", len(files))
	}
	if err := s.Close(); err != nil { // dropped output is recorded in the next incarnation as well
		t.Fatal(err)
	}
	got := drain(t, start(t, config(dir, 64<<10, 4096)), 10_000)
	places, missing, gaps := map[string]int64{}, int64(0), 0
	for _, c := range got {
		if c.Offset != places[c.Run] {
			t.Fatalf("%s goes on at %d after %d", c.Run, c.Offset, places[c.Run])
		}
		places[c.Run] = c.End()
		if missing += c.Missing; c.Missing > 0 {
			gaps++
		}
	}
	if places["a"] != n*size || places["b"] != n*10 || missing != dropped || gaps > 8 {
		t.Fatalf("the runs end at %v; %d bytes are missing in %d pieces, %d were dropped", places, missing,
			gaps, dropped)
	}
	if missing < n*size-(64<<10) || missing > n*size-(40<<10) {
		t.Fatalf("%d bytes of %d are missing", missing, n*(size+10))
	}
}

// Output that the log store may have is not recorded as missing: it is kept until it is acknowledged.
func TestAppend_OverBound_SentOutputStays(t *testing.T) {
	for _, how := range []string{"by the spool", "before it was spooled", "in an earlier life"} {
		t.Run(how, func(t *testing.T) {
			dir := t.TempDir()
			s := start(t, config(dir, 64<<10, 4096))
			first := []common.Chunk{output("a", 0, 1000), output("a", 1000, 1000), output("a", 2000, 1000)}
			sent, err := 0, error(nil)
			if how == "before it was spooled" {
				sent = 2
			}
			if _, err = s.Append(first, sent); err != nil {
				t.Fatal(err)
			}
			if how != "before it was spooled" {
				if chunks, _, err := s.Next(1500); err != nil || len(chunks) != 2 {
					t.Fatal(len(chunks), err)
				}
			}
			if how == "in an earlier life" {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = start(t, config(dir, 64<<10, 4096))
			}
			for i := range 100 {
				appendAll(t, s, output("a", 3000+int64(i)*1000, 1000))
			}
			got := drain(t, s, 10_000)
			same(t, got[:2], first[:2])
			kept := 2
			if how == "in an earlier life" { // it may have sent all of its oldest file, and not synced that it did
				kept = 3
				same(t, got[:3], first)
			}
			if gap := got[kept]; gap.Offset != int64(kept)*1000 || gap.Missing < 1000 {
				t.Fatalf("after what was sent comes\n%s", text(got[kept:]))
			}
		})
	}
}

// The records of dropped output are bounded as well.
func TestAppend_OverBound_RecordsAreBounded(t *testing.T) {
	s := start(t, config(t.TempDir(), 16<<10, 2048))
	for i := range 2000 {
		appendAll(t, s, output("run-of-its-own-"+string(rune('a'+i%26))+strings.Repeat("x", i%50), int64(i)*100, 10))
	}
	if state := s.State(); state.Bytes > 16<<10 {
		t.Fatalf("%d bytes are taken", state.Bytes)
	}
	if got := drain(t, s, 1000); len(got) == 0 {
		t.Fatal("nothing is left")
	}
}

// After a crash between the steps of dropping output each byte is returned or recorded once.
func TestOpen_CrashWhileDropping_EachByteOnce(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<20, 1024))
	for i := range 6 {
		appendAll(t, s, output("a", int64(i)*900, 900))
	}
	files := outFiles(t, dir, "*"+suffix)
	copies := map[string][]byte{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		copies[file] = data
	}
	for i := range 3 {
		if err := s.condense(min(i, 1)); err != nil {
			t.Fatal(err)
		}
		for i, one := range s.segments {
			one.dense = i == 0
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for file, data := range copies { // as if none had been removed
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "spool", draft), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for _, c := range drain(t, start(t, config(dir, 1<<20, 1024)), 1000) {
		if c.Offset != at {
			t.Fatalf("%d follows %d", c.Offset, at)
		}
		at = c.End()
	}
	if at != 5400 {
		t.Fatalf("the run ends at %d", at)
	}
	if left := outFiles(t, dir, draft); len(left) > 0 {
		t.Fatal("the draft is left")
	}
}

// Accepted output survives the process, synced or not.
func TestAppend_Killed_OutputStays(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	want := some()
	appendAll(t, s, want[:2]...)
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	appendAll(t, s, want[2:]...)
	left := t.TempDir() // the folder as a process leaves it that is killed now
	if err := os.CopyFS(left, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	next := start(t, config(left, 1<<30, 0))
	same(t, drain(t, next, 1<<20), want)
}

// The marks that an earlier incarnation left do not acknowledge the output of a later one.
func TestOpen_EmptyQueue_MarksDoNotAcknowledgeNewOutput(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	for i := range 3 {
		appendAll(t, s, output("a", int64(i)*10, 10))
		drain(t, s, 1<<20)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = start(t, config(dir, 1<<30, 0))
	want := output("b", 0, 5)
	appendAll(t, s, want)
	if err := errors.Join(s.Sync(), s.Close()); err != nil { // killed before it has read any output
		t.Fatal(err)
	}
	same(t, drain(t, start(t, config(dir, 1<<30, 0)), 1<<20), []common.Chunk{want})
}

// When the numbers of the files begin again, the marks of the large ones do not acknowledge output.
func TestAppend_NumbersBeginAgain_OutputStays(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	s.next = numbersEnough - 2
	for i := range 2 {
		appendAll(t, s, output("a", int64(i)*10, 10))
		drain(t, s, 1<<20)
	}
	want := some()
	appendAll(t, s, want...)
	names := outFiles(t, dir, "*"+suffix)
	if len(names) != 1 || filepath.Base(names[0]) != "0000000001-0000000001.out" {
		t.Fatalf("the numbers go on with %v", names)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, drain(t, start(t, config(dir, 1<<30, 0)), 1<<20), want)
}

// A file that gets no more output to keep the bound is synced first, also if nothing of it is dropped.
func TestAppend_OverBound_ClosedFileIsSynced(t *testing.T) {
	s := start(t, config(t.TempDir(), 1<<20, 0))
	appendAll(t, s, some()[0])
	if _, _, err := s.Next(1 << 20); err != nil { // the log store may have it
		t.Fatal(err)
	}
	s.cfg.Max = s.bytes()
	r, unsynced, err := os.Pipe() // a file that cannot be synced
	if err == nil {
		err = errors.Join(r.Close(), s.active.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s.active, s.synced = unsynced, 0
	if n, err := s.Append(some()[1:2], 0); n > 0 || err == nil {
		t.Errorf("a file is closed that is not on the disk: %d chunks are accepted, %v", n, err)
	}
}

// After a sync that failed nothing is accepted until the disk writes again.
func TestSync_Fails_OutputIsRefused(t *testing.T) {
	s := start(t, config(t.TempDir(), 1<<30, 0))
	want := some()
	appendAll(t, s, want[:2]...)
	if err := s.active.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Sync(); err == nil || s.State().Refused == nil {
		t.Fatalf("a file that is not written is synced: %v", err)
	}
	if n, err := s.Append(want[2:], 0); n > 0 || err == nil {
		t.Fatalf("%d chunks are accepted: %v", n, err)
	}
	s.Check()
	appendAll(t, s, want[2:]...)
	same(t, drain(t, s, 1<<20), want)
}

// Stored output whose file cannot be removed is not returned again, and nothing more is accepted.
func TestAck_FileCannotBeRemoved_OutputIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := start(t, config(dir, 1<<30, 0))
	appendAll(t, s, some()...)
	_, upTo, err := s.Next(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	file := outFiles(t, dir, "*"+suffix)[0]
	if err := errors.Join(os.Remove(file), os.MkdirAll(filepath.Join(file, "in the way"), 0o700)); err != nil {
		t.Fatal(err)
	}
	s.Ack(upTo)
	if chunks, _, err := s.Next(1 << 20); len(chunks) > 0 || err != nil || s.State().Waiting > 0 {
		t.Errorf("%d chunks are returned again, %v", len(chunks), err)
	}
	if n, err := s.Append(some(), 0); n > 0 || err == nil || s.State().Refused == nil {
		t.Errorf("%d chunks are accepted, %v", n, err)
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	s.Check()
	appendAll(t, s, some()...)
	same(t, drain(t, s, 1<<20), some())
}

// The disk is not filled: a part of it stays free.
func TestAppend_DiskAlmostFull_IsRefused(t *testing.T) {
	for _, disk := range []struct{ total, floor uint64 }{
		{40 << 20, 10 << 20}, {1 << 30, 64 << 20}, {20 << 30, 20 << 30 / 100}, {1 << 40, 1 << 30}} {
		cfg := config(t.TempDir(), 1<<30, 0)
		free := disk.floor + 1<<20
		cfg.Free = func() (uint64, uint64, error) { return free, disk.total, nil }
		s := start(t, cfg)
		appendAll(t, s, output("a", 0, 1000))
		free = disk.floor + 500
		if n, err := s.Append([]common.Chunk{output("a", 1000, 1000)}, 0); !errors.Is(err, syscall.ENOSPC) || n != 0 {
			t.Fatalf("%d taken, %v", n, err)
		}
		if s.State().Refused == nil {
			t.Fatal("does not say that it takes nothing")
		}
		free = disk.floor + 2<<20
		s.Check()
		if s.State().Refused == nil {
			t.Fatal("a little more room counts")
		}
		free = disk.floor + 20<<20
		s.Check()
		if err := s.State().Refused; err != nil {
			t.Fatal(err)
		}
		free = disk.floor - 1
		s.Check()
		if s.State().Refused == nil {
			t.Fatal("does not say that it would take nothing")
		}
		same(t, drain(t, s, 10_000), []common.Chunk{output("a", 0, 1000)})
	}
}

// On a full disk, a failed append leaves no trace, and earlier output is returned.
func TestAppend_DiskFull_LeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	cfg := config(dir, 1<<30, 1<<20)
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	var want []common.Chunk
	for full := false; !full; {
		batch := make([]common.Chunk, 7)
		for i := range batch {
			batch[i] = output("a", int64(len(want)+i)*common.MaxChunk, common.MaxChunk)
		}
		n, err := s.Append(batch, 0)
		want = append(want, batch[:n]...)
		if full = err != nil; full && !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	if len(want) < 40 {
		t.Fatalf("%d chunks fit into 4 MiB", len(want))
	}
	same(t, drain(t, s, 1<<20), want)
	appendAll(t, s, want[0])
	same(t, drain(t, s, 1<<20), want[:1])
}
