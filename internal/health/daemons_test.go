package health

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

func TestDaemons_OnAllSlots_WhileFiresAreMissed(t *testing.T) {
	worker := func(id string, slots, daemons int, replicas map[string]int) common.Member {
		m := common.Member{Registration: common.Registration{Life: common.Life{Worker: id}, Slots: slots, Lease: 1,
			DaemonSlots: daemons, Replicas: replicas}}
		return m
	}
	full := worker("a", 4, 4, map[string]int{"consumer": 3, "agent": 1})
	gone := full
	gone.Worker, gone.Lease = "gone", 0
	resized := worker("r", 9, 2, map[string]int{"x": 2})
	resized.Settings.Slots = new(2)
	missed := func(code string, count int64) common.Run {
		r := common.Run{Status: common.StatusMissed, Reason: &common.Reason{Code: code}}
		if count > 1 {
			r.Gap = &common.Gap{Count: count}
		}
		return r
	}
	late := []common.Run{missed(common.ReasonLate, 9), {Status: common.StatusMissed}}
	lacking := append(late, missed(common.ReasonNoSlot, 1), missed(common.ReasonNoSlot, 4))
	for name, c := range map[string]struct {
		members []common.Member
		missed  []common.Run
		want    string
	}{
		"no fire is missed":         {[]common.Member{full}, nil, ""},
		"missed for another reason": {[]common.Member{full}, late, ""},
		"other runs use a slot":     {[]common.Member{worker("b", 4, 3, map[string]int{"consumer": 3})}, lacking, ""},
		"no slots, and no daemon":   {[]common.Member{worker("c", 0, 0, nil)}, lacking, ""},
		"the full worker is away":   {[]common.Member{gone}, lacking, ""},
		"one of two workers is full": {[]common.Member{full, worker("b", 4, 0, nil)}, lacking,
			"5 fires were missed within the last hour for lack of a slot, while daemons use all slots of 1 worker: " +
				"a (consumer × 3, agent × 1)"},
		"an operator's slots count": {[]common.Member{resized, full}, lacking,
			"of 2 workers: a (consumer × 3, agent × 1), r (x × 2)"},
	} {
		found := Daemons(c.members, c.missed, "the last hour")
		if c.want == "" {
			if len(found) != 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Check != "daemons" || found[0].Status != FindingWarning ||
			!strings.Contains(found[0].Text, c.want) || found[0].Advice == "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
