package executor_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/common"
	"carillon/internal/executor"
)

const (
	worker     = "workerworkerwork"
	workerName = "bell-1"
	life       = "lifelifelifelife"
	// asSweeper makes the test binary a program that sweeps and says that it lives.
	asSweeper = "EXECUTOR_TEST_SWEEP"
	// patience is how long a test waits for what must happen; it is no measure.
	patience = time.Minute
)

func TestMain(m *testing.M) {
	if os.Getenv(asSweeper) != "" {
		swept, err := executor.Sweep(context.Background(), os.Getenv("CARILLON_WORKER"), "a newer life")
		fmt.Print("alive ", swept.Left, " ", err)
		os.Exit(0)
	}
	if part := os.Getenv(asMarked); part != "" {
		actMarked(part)
	}
	if os.Getenv(asOrdinary) != "" {
		runOrdinary()
		os.Exit(0)
	}
	if os.Getenv(asCapable) != "" {
		runCapable()
		os.Exit(0)
	}
	if os.Getenv(asCovetous) != "" {
		runCovetous()
		os.Exit(0)
	}
	if os.Getenv(asStubborn) != "" {
		if err := runStubborn(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(asTerminalOwner) != "" {
		ownTerminal()
	}
	if os.Getenv(asWorker) != "" {
		workForEver()
	}
	if os.Getenv(asMember) != "" {
		workInGroup()
	}
	if os.Getenv(executor.AsHolder) != "" {
		if err := executor.HoldName(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if err := executor.Prepare(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func newExecutor(t testing.TB, change ...func(*executor.Config)) *executor.Executor {
	t.Helper()
	cfg := executor.Config{BaseDir: t.TempDir(), Worker: worker, Life: life, Name: workerName}
	for _, c := range change {
		c(&cfg)
	}
	x, err := executor.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func newTask(job common.Job) executor.Task {
	if job.Name == "" {
		job.Name = "backup"
	}
	uid := common.NewID()
	planned := time.Date(2031, 3, 4, 5, 6, 7, 89, time.UTC)
	fire := common.PlannedFire(uid, planned)
	return executor.Task{
		Job: common.StoredJob{Job: job, UID: uid},
		Record: common.Record{
			Run: common.RunID(fire, 2), Fire: fire, Job: job.Name, JobUID: uid, JobVersion: 7, Attempt: 2,
			Cause:     common.CauseRetry,
			PlannedAt: planned, Policy: job.Terms().Policy, TTL: 15 * time.Second,
			Owner: common.Life{Worker: worker, Name: "one", Life: life},
		},
		Fence:          4711,
		PreviousStatus: common.StatusFailed,
	}
}

func shell(command string) executor.Task { return newTask(common.Job{Command: command}) }

// recorder is an Output that checks the order of what it gets.
type recorder struct {
	t     testing.TB
	run   string
	first chan struct{} // closed at the first chunk

	mu     sync.Mutex
	chunks []common.Chunk
	next   int64
	starts []time.Time
}

func record(t testing.TB, task executor.Task) *recorder {
	return &recorder{t: t, run: task.Record.Run, first: make(chan struct{})}
}

func (r *recorder) Chunk(c common.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.RecordsStart() {
		r.starts = append(r.starts, c.At)
		return
	}
	if c.Offset != r.next || c.Run != r.run || len(c.Data) > common.MaxChunk ||
		(len(c.Data) == 0) == (c.Missing == 0) || c.At.IsZero() {
		r.t.Errorf("chunk at %d of %d bytes, missing %d, does not follow %d", c.Offset, len(c.Data), c.Missing, r.next)
	}
	r.next = c.End()
	if len(r.chunks) == 0 {
		close(r.first)
	}
	r.chunks = append(r.chunks, c)
}

// text is what one stream said, or all of them.
func (r *recorder) text(streams ...common.Stream) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for _, c := range r.chunks {
		if len(streams) == 0 || c.Stream == streams[0] {
			b.Write(c.Data)
		}
	}
	return b.String()
}

// started returns the recorded starts.
func (r *recorder) started() []time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.starts)
}

// await waits until the command has printed something.
func (r *recorder) await() {
	r.t.Helper()
	select {
	case <-r.first:
	case <-time.After(patience):
		r.t.Fatal("the command printed nothing")
	}
}

// run runs a task to its end.
func run(t testing.TB, task executor.Task) (common.Run, *recorder) {
	t.Helper()
	rec := record(t, task)
	return newExecutor(t).Run(t.Context(), task, rec), rec
}

// background starts a task and gives a function that waits for its end.
func background(t testing.TB, ctx context.Context, x *executor.Executor, task executor.Task) (*recorder,
	func() common.Run) {
	t.Helper()
	rec := record(t, task)
	ended := make(chan common.Run, 1)
	go func() { ended <- x.Run(ctx, task, rec) }()
	return rec, func() common.Run {
		t.Helper()
		select {
		case got := <-ended:
			return got
		case <-time.After(patience):
			t.Fatal("the run does not end")
			return common.Run{}
		}
	}
}

func reasonOf(r common.Run) string {
	if r.Reason == nil {
		return ""
	}
	return r.Reason.Code
}

func expect(t testing.TB, got common.Run, status common.Status, reason string) {
	t.Helper()
	if got.Status != status || reasonOf(got) != reason {
		t.Fatalf("run ended as %s, %+v; want %s, %s", got.Status, got.Reason, status, reason)
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// pids reads process ids that a command printed, and sees to it that none outlives the test.
func pids(t testing.TB, text string) []int {
	t.Helper()
	var list []int
	for field := range strings.FieldsSeq(text) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("%q is no process id", field)
		}
		list = append(list, pid)
		t.Cleanup(func() {
			if p, err := os.FindProcess(pid); err == nil && alive(pid) {
				_ = p.Kill()
			}
		})
	}
	return list
}

func wantGone(t testing.TB, list []int) {
	t.Helper()
	for _, pid := range list {
		if alive(pid) {
			t.Errorf("process %d lives", pid)
		}
	}
}

func sessionOfItsOwn() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// waitFor waits for something that another process does.
func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not happen")
		}
	}
}
