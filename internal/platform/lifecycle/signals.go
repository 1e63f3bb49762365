package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// ErrHurry is the cause of the second stage.
var ErrHurry = errors.New("a second signal requested a fast stop")

// repeatWait is how long after the first signal another one is ignored: a signal to all processes of a name reaches a
// worker twice, once through its guardian.
const repeatWait = time.Second

// Signals returns the two contexts of a daemon: stop ends at the first of the signals, which is its cause, or with
// parent; hurry ends at the next signal a second or more after that. release restores the default handling of the
// signals and waits for the goroutine.
func Signals(parent context.Context, signals ...os.Signal) (stop, hurry context.Context, release func()) {
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, signals...)
	stop, hurry, end := stages(parent, caught)
	return stop, hurry, func() {
		signal.Stop(caught)
		end()
	}
}

func stages(parent context.Context, caught <-chan os.Signal) (stop, hurry context.Context, end func()) {
	stop, cancelStop := context.WithCancelCause(parent)
	hurry, cancelHurry := context.WithCancelCause(context.WithoutCancel(parent))
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var first time.Time
		for {
			select {
			case s := <-caught:
				if first.IsZero() {
					first = time.Now()
					cancelStop(fmt.Errorf("signal: %v", s))
				} else if time.Since(first) >= repeatWait {
					cancelHurry(ErrHurry)
				}
			case <-quit:
				return
			}
		}
	}()
	return stop, hurry, func() {
		close(quit)
		<-done
		cancelStop(nil)
		cancelHurry(nil)
	}
}
