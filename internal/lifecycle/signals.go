package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

// ErrHurry is the cause of the second stage.
var ErrHurry = errors.New("a second signal asked to hurry")

// Signals gives the two contexts of a daemon: stop ends at the first of the
// signals (its cause names it) or with parent, hurry at the second. release gives
// the signals back to the system and waits for the goroutine behind them.
func Signals(parent context.Context, signals ...os.Signal) (stop, hurry context.Context, release func()) {
	stop, cancelStop := context.WithCancelCause(parent)
	hurry, cancelHurry := context.WithCancelCause(context.WithoutCancel(parent))
	caught := make(chan os.Signal, 2)
	signal.Notify(caught, signals...)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for count := 0; ; count++ {
			select {
			case s := <-caught:
				if count == 0 {
					cancelStop(fmt.Errorf("signal: %v", s))
				} else {
					cancelHurry(ErrHurry)
				}
			case <-quit:
				return
			}
		}
	}()
	return stop, hurry, func() {
		signal.Stop(caught)
		close(quit)
		<-done
		cancelStop(nil)
		cancelHurry(nil)
	}
}
