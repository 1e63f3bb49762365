package scheduler

import (
	"testing"
	"time"

	"carillon/internal/platform/virtualtime"
)

func TestClockJump_IsNoticedWithinASecond(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour, 2 * time.Second, -2 * time.Second} {
		t.Run(by.String(), func(t *testing.T) {
			bubble(t, func(r *rig) {
				start := r.wall()
				r.put(r.job("a", "0 */10 * * * * *", start))
				r.quiet(5*time.Minute + 300*time.Millisecond)
				r.offset.Store(int64(by))
				time.Sleep(time.Second)
				virtualtime.Wait()
				jumps := r.meter.clockJumps()
				if len(jumps) != 1 || (jumps[0]-by).Abs() > time.Millisecond {
					r.Fatalf("noticed %v a second after a jump by %v", jumps, by)
				}
				// The first fire after the cursor is sent when the clock reaches it.
				f := r.within(2 * time.Hour)
				r.expect(f, "a", start.Add(10*time.Minute))
				if late := r.wall().Sub(f.At); by < time.Hour && late != 0 {
					r.Fatalf("sent %v late", late)
				}
				if n := len(r.meter.clockJumps()); n != 1 {
					r.Fatalf("%d jumps seen", n)
				}
			})
		})
	}
}

// Fires that were postponed or ready by the old clock are planned anew by the new one.
func TestClockBackwards_PlansAnew(t *testing.T) {
	bubble(t, func(r *rig) {
		start := r.wall()
		r.put(r.job("off", "0 * * * * * *", start), r.job("ready", "30 1 * * * * *", start))
		f := r.within(time.Minute)
		r.expect(f, "off", start.Add(time.Minute))
		r.trigger(Trigger{Trigger: trigger("off", "t", time.Time{})})
		shot := r.now()
		r.settle(Settled{Fire: f, RetryAt: start.Add(2 * time.Hour)})
		r.settle(Settled{Fire: shot, RetryAt: start.Add(2 * time.Hour)})
		time.Sleep(40 * time.Second) // "ready" is due, and is not received
		r.offset.Store(int64(-time.Hour))
		time.Sleep(time.Second)
		if f := r.now(); f.Trigger == nil { // a trigger without a time is due at any clock
			r.Fatalf("%s is sent for %v at %v", f.Job, f.At, r.wall())
		}
		r.quiet(58 * time.Minute)
		r.expect(r.within(3*time.Minute), "off", start.Add(time.Minute))
		r.expect(r.within(time.Minute), "ready", start.Add(90*time.Second))
		if !r.wall().Equal(start.Add(90 * time.Second)) {
			r.Fatalf("sent at %v", r.wall())
		}
	})
}

// Small steps of the clock, as of NTP, are not a jump.
func TestClockSlew_IsNotAJump(t *testing.T) {
	bubble(t, func(r *rig) {
		for range 100 {
			r.offset.Add(int64(100 * time.Millisecond))
			time.Sleep(time.Second)
		}
		if jumps := r.meter.clockJumps(); len(jumps) != 0 {
			r.Fatalf("jumps %v", jumps)
		}
	})
}
