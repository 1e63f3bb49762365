package core

import (
	"context"
	"testing"

	"carillon/internal/platform/virtualtime"
)

// The line has an end for all together as well, and who gives up leaves it.
func TestQueueIsBounded(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		all := NewQueue()
		ctx, giveUp := context.WithCancel(t.Context())
		ends := make(chan func(), 100)
		for i := range maxInLine {
			go func() {
				end, ok := all.Wait(ctx, string(rune('a'+i%8)))
				if !ok {
					end = nil
				}
				ends <- end
			}()
		}
		virtualtime.Wait()
		if len(ends) != queueAtOnce {
			t.Errorf("%d go on", len(ends))
		}
		if _, ok := all.Wait(t.Context(), "z"); ok {
			t.Error("the line has no end")
		}
		(<-ends)() // one ends, and the next goes on
		virtualtime.Wait()
		if len(ends) != queueAtOnce {
			t.Errorf("%d go on", len(ends))
		}
		giveUp()
		virtualtime.Wait()
		for len(ends) > 0 {
			if end := <-ends; end != nil {
				end()
			}
		}
		if all.inLine != 0 || len(all.lines) != 0 || len(all.going) != 0 {
			t.Errorf("%d are in line still, %d lines, %d turns", all.inLine, len(all.lines), len(all.going))
		}
		end, ok := all.Wait(t.Context(), "z")
		if !ok {
			t.Fatal("no turn although no other request waits")
		}
		end()
	})
}
