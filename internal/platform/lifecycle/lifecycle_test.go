package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"carillon/internal/platform/virtualtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// journal notes what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (d *journal) note(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, fmt.Sprintf(format, args...))
}

func (d *journal) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.lines)
}

func (d *journal) part(name string) Part {
	return Part{
		Name:  name,
		Start: func(context.Context) error { d.note("start %s", name); return nil },
		Serve: func(ctx context.Context) error { <-ctx.Done(); d.note("end %s", name); return nil },
		Stop:  func(context.Context) error { d.note("stop %s", name); return nil },
	}
}

func expect(t *testing.T, d *journal, want ...string) {
	t.Helper()
	if got := d.read(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// run starts a daemon and gives the channel of its result.
func run(ctx, hurry context.Context, parts ...Part) <-chan error {
	result := make(chan error, 1)
	go func() { result <- New(quiet(), parts...).Run(ctx, hurry) }()
	return result
}

func TestStartsInOrderAndStopsInReverse(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		d := &journal{}
		ctx, cancel := context.WithCancel(t.Context())
		result := run(ctx, t.Context(), d.part("a"), d.part("b"), Part{Name: "empty"}, d.part("c"))
		virtualtime.Wait()
		expect(t, d, "start a", "start b", "start c")
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
		expect(t, d, "start a", "start b", "start c", "stop c", "end c", "stop b", "end b", "stop a", "end a")
	})
}

func TestAPartThatCannotStartStopsThoseBefore(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		d := &journal{}
		broken := d.part("b")
		broken.Start = func(context.Context) error { return errors.New("no disk") }
		err := <-run(t.Context(), t.Context(), d.part("a"), broken, d.part("c"))
		if err == nil || err.Error() != "start b: no disk" {
			t.Errorf("error %v", err)
		}
		expect(t, d, "start a", "stop a", "end a")
	})
}

func TestAPartThatFailsStopsAll(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{errors.New("broken pipe"), "b failed: broken pipe"}, {nil, "b ended by itself"}} {
		virtualtime.Test(t, func(t *testing.T) {
			d := &journal{}
			failing := d.part("b")
			failing.Serve = func(context.Context) error { time.Sleep(time.Minute); return c.err }
			err := <-run(t.Context(), t.Context(), d.part("a"), failing, d.part("c"))
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
			expect(t, d, "start a", "start b", "start c", "stop c", "end c", "stop b", "stop a", "end a")
		})
	}
}

// Without the part that has failed, no other may take its time to stop.
func TestAPartThatFailsHopelessly_EndsAllStopsSoon(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		slow := Part{
			Name:        "slow",
			Stop:        func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
			StopTimeout: time.Hour,
		}
		deaf := Part{
			Name:        "deaf",
			Stop:        func(context.Context) error { time.Sleep(time.Minute); return nil },
			StopTimeout: time.Hour,
		}
		failing := Part{Name: "etcd", Serve: func(context.Context) error {
			time.Sleep(time.Minute)
			return fmt.Errorf("%w: no disk", ErrHopeless)
		}}
		began := time.Now()
		err := <-run(t.Context(), t.Context(), slow, deaf, failing)
		if !errors.Is(err, ErrHopeless) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(began); took > time.Minute+hopelessTimeout+grace {
			t.Errorf("it took %v", took)
		}
		time.Sleep(time.Minute) // for the deaf part
	})
}

// The context of a part that waits for something unavailable ends when the daemon stops,
// and that is no failure.
func TestStoppingWhileAPartStarts(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		d := &journal{}
		waiting := Part{
			Name:  "waits",
			Start: func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		}
		ctx, cancel := context.WithCancel(t.Context())
		result := run(ctx, t.Context(), d.part("a"), waiting, d.part("c"))
		time.Sleep(time.Hour)
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
		expect(t, d, "start a", "stop a", "end a")
	})
}

// A loop may return the cause of the end of its context: that is no failure.
func TestServe_ErrorAfterItsEnd_IsIgnored(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		loop := Part{Name: "loop", Serve: func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }}
		ctx, cancel := context.WithCancel(t.Context())
		result := run(ctx, t.Context(), loop)
		virtualtime.Wait()
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

// Each part has its own deadline; a part that ignores it
// is left behind, and the parts below are stopped all the same.
func TestDeadlines(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		d := &journal{}
		release := make(chan struct{})
		slow := d.part("slow")
		slow.StopTimeout = 5 * time.Second
		slow.Stop = func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		stuck := d.part("stuck")
		stuck.StopTimeout = 20 * time.Second
		stuck.Serve = func(context.Context) error { <-release; return nil }
		ctx, cancel := context.WithCancel(t.Context())
		result := run(ctx, t.Context(), d.part("a"), slow, stuck)
		virtualtime.Wait()
		cancel()
		begin := time.Now()
		err := <-result
		if err == nil || !strings.Contains(err.Error(), "stop stuck: not done after 20s") ||
			!strings.Contains(err.Error(), "stop slow: context deadline exceeded") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(begin); took != 26*time.Second {
			t.Errorf("took %v, want 20s + 1s + 5s", took)
		}
		expect(t, d, "start a", "start slow", "start stuck", "stop stuck", "end slow", "stop a", "end a")
		close(release)
	})
}

// The second stage cuts every deadline short, also those of parts that stop later.
func TestHurry(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		draining := func(name string) Part {
			return Part{Name: name, StopTimeout: time.Hour, Stop: func(ctx context.Context) error {
				<-ctx.Done()
				return fmt.Errorf("cut short: %w", context.Cause(ctx))
			}}
		}
		ctx, cancel := context.WithCancel(t.Context())
		hurry, now := context.WithCancelCause(t.Context())
		result := run(ctx, hurry, draining("a"), draining("b"))
		virtualtime.Wait()
		begin := time.Now()
		cancel()
		time.Sleep(time.Minute)
		now(ErrHurry)
		err := <-result
		if !errors.Is(err, ErrHurry) || !strings.Contains(err.Error(), "stop a") ||
			!strings.Contains(err.Error(), "stop b") {
			t.Errorf("error %v", err)
		}
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("took %v, want 1m", took)
		}
	})
}

// Stop still sees a part whose loop works: a drain needs it.
func TestTheLoopOutlivesStop(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		work := make(chan string)
		loop := Part{
			Name: "loop",
			Serve: func(ctx context.Context) error {
				for {
					select {
					case work <- "done":
					case <-ctx.Done():
						return nil
					}
				}
			},
			Stop: func(context.Context) error {
				if got := <-work; got != "done" {
					return errors.New(got)
				}
				return nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		result := run(ctx, t.Context(), loop)
		virtualtime.Wait()
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
	})
}

func TestSignals(t *testing.T) {
	stop, hurry, release := Signals(t.Context(), syscall.SIGUSR1)
	defer release()
	if err := syscall.Kill(syscall.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	<-stop.Done()
	if got := context.Cause(stop).Error(); !strings.Contains(got, "user defined signal 1") {
		t.Errorf("cause %q", got)
	}
	if hurry.Err() != nil {
		t.Error("the first signal began the second stage")
	}
}

// Signals within a second of the first are one request; a later one hurries.
func TestSecondSignal(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		caught := make(chan os.Signal)
		stop, hurry, end := stages(t.Context(), caught)
		defer end()
		caught <- syscall.SIGTERM
		<-stop.Done()
		for range 2 {
			time.Sleep(499 * time.Millisecond)
			caught <- syscall.SIGINT
			virtualtime.Wait()
		}
		if hurry.Err() != nil {
			t.Error("the echo of the first signal began the second stage")
		}
		time.Sleep(2 * time.Millisecond)
		caught <- syscall.SIGTERM
		<-hurry.Done()
		if !errors.Is(context.Cause(hurry), ErrHurry) {
			t.Errorf("cause %v", context.Cause(hurry))
		}
	})
}
