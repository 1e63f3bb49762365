package clock_test

import (
	"testing"
	"time"

	"carillon/internal/cluster/clock"
)

// A clock that is a day ahead does not count as the cluster's while no votes arrive, until it is certain that there are
// no other processes.
func TestMemory_KeepsTheClusterClockWhileDisconnected(t *testing.T) {
	const day = 24 * time.Hour
	for _, others := range []int{1, 2, 4} {
		var memory clock.Memory
		mono := noon
		judge := func(heard bool, inTouch bool, after time.Duration) clock.Verdict {
			mono = mono.Add(after)
			var votes []clock.Vote
			for range others {
				if heard {
					votes = append(votes, clock.Vote{Who: "x", Ahead: -day})
				}
			}
			return memory.Judge(votes, mono.Add(day), mono, inTouch)
		}
		wrong := func(what string, v clock.Verdict) {
			t.Helper()
			if v.Skew != day || v.Stop != (others > 1) {
				t.Errorf("%d others, %s: %+v", others, what, v)
			}
		}
		if v := judge(false, true, 0); v.Skew != 0 || v.Stop {
			t.Errorf("before any vote: %+v", v)
		}
		wrong("with votes", judge(true, true, time.Second))
		wrong("disconnected", judge(false, false, time.Hour))
		wrong("reconnected, no votes yet", judge(false, true, time.Second))
		wrong("disconnected again", judge(false, false, clock.MaxAge))
		wrong("reconnected again", judge(false, true, time.Second))
		wrong("still without votes", judge(false, true, clock.MaxAge))
		if v := judge(false, true, time.Second); v.Skew != 0 || v.Stop {
			t.Errorf("alone for certain: %+v", v)
		}
		wrong("the others are back", judge(true, true, time.Second))
	}
}

// A clock that is corrected while disconnected counts as correct.
func TestMemory_ClockCorrectedWhileDisconnected(t *testing.T) {
	var memory clock.Memory
	votes := []clock.Vote{{Who: "x", Ahead: -time.Hour}, {Who: "y", Ahead: -time.Hour}}
	if v := memory.Judge(votes, noon.Add(time.Hour), noon, true); !v.Stop {
		t.Fatalf("%+v", v)
	}
	later := noon.Add(10 * time.Minute)
	if v := memory.Judge(nil, later, later, false); v.Stop || v.Skew != 0 {
		t.Fatalf("corrected: %+v", v)
	}
}
