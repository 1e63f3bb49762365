package members_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
)

func TestVotes(t *testing.T) {
	began := time.Now()
	member := func(id string, clock, heard time.Time) common.Member {
		return common.Member{Registration: registration(id, "1", clock), Heard: heard}
	}
	s := &members.Snapshot{
		Listed: began,
		Members: []common.Member{
			member("self", noon.Add(-time.Hour), began),
			member("ahead", noon.Add(time.Second), began.Add(3*time.Second)),
			member("behind", noon.Add(-time.Second), began),
			member("clockless", time.Time{}, began),
			member("listed", noon.Add(-5*time.Minute), time.Time{}),
			member("listed-far", noon.Add(-5*time.Minute-time.Second), time.Time{}),
		},
		Masters: []members.Master{
			{MasterPresence: common.MasterPresence{ID: "m", Host: "box\n", Clock: noon.Add(time.Hour)}, Heard: began},
			{MasterPresence: common.MasterPresence{ID: "n", Host: "nox", Clock: noon.Add(time.Hour)}},
		},
	}
	votes := func(wall, monotonic time.Time) string {
		var all []string
		for _, v := range s.Votes("self", wall, monotonic) {
			all = append(all, fmt.Sprintf("%s %v %v", v.Who, v.Ahead, v.Age))
		}
		return strings.Join(all, ", ")
	}
	for _, c := range []struct {
		name            string
		wall, monotonic time.Time
		want            string
	}{
		{"five seconds later", noon.Add(5 * time.Second), began.Add(5 * time.Second),
			`worker name-ahead -2s 2s, worker name-behind -1s 5s, worker name-listed -5m5s 5s, worker name-listed-far -5m6s 5s, master box\n 1h0m0s 5s, master nox 59m55s 5s`},
		{"listed long ago", noon.Add(11 * time.Second), began.Add(11 * time.Second),
			`worker name-ahead -2s 8s, worker name-behind -1s 11s, master box\n 1h0m0s 11s`},
		{"our clock has jumped", noon.Add(time.Hour + 11*time.Second), began.Add(11 * time.Second),
			`worker name-ahead -1h0m2s 8s, worker name-behind -1h0m1s 11s, master box\n 0s 11s`},
	} {
		if got := votes(c.wall, c.monotonic); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// A process whose clock goes wrong is notified at once, and gets no time; a single process is not checked.
func TestGuard(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	m, _ := follow(t, client)
	var ahead atomic.Int64
	var logStore []clock.Vote
	guard := members.NewGuard(m, "self", func() time.Time {
		return time.Now().Round(0).Add(time.Duration(ahead.Load()))
	},
		func() []clock.Vote { return logStore }, nil)
	now := func(skew time.Duration) error {
		ahead.Store(int64(skew))
		_, err := guard.Now()
		return err
	}
	if err := now(time.Hour); err != nil || guard.Judge().Votes != 1 {
		t.Fatalf("alone: %v, %+v", err, guard.Judge())
	}
	put(t, client, common.WorkerKey("a"), registration("a", "1", time.Now().UTC()))
	until(t, m, "a is there", func(s *members.Snapshot) bool { return ids(s) == "a" })
	if err := now(0); err != nil {
		t.Fatal(err)
	}
	for _, skew := range []time.Duration{time.Hour, 20 * time.Second} {
		if err := now(skew); common.CodeOf(err) != common.CodeUnavailable ||
			!strings.Contains(err.Error(), "ahead of the cluster's") {
			t.Fatalf("%v ahead of one other: %v", skew, err)
		}
	}
	if v := guard.Judge(); !v.Disagree || v.Stop || v.Votes != 2 {
		t.Fatalf("%+v", v)
	}
	if err := now(-time.Hour); err != nil {
		t.Fatalf("behind: %v", err)
	}
	put(t, client, common.MasterKey("m"), common.MasterPresence{ID: "m", Clock: time.Now().UTC()})
	put(t, client, common.MasterKey("self"), common.MasterPresence{ID: "self", Clock: time.Now().UTC()})
	until(t, m, "the masters are there", func(s *members.Snapshot) bool { return len(s.Masters) == 2 })
	if err := now(time.Hour); err == nil || !guard.Judge().Stop {
		t.Fatalf("an hour off: %v, %+v", err, guard.Judge())
	}
	ahead.Store(0)
	if v := guard.Recent(); v.Stop {
		t.Fatalf("recent verdict after the clock was set right: %+v", v)
	}
	ahead.Store(int64(time.Hour))
	if v := guard.Recent(); !v.Stop {
		t.Fatalf("recent verdict after a jump: %+v", v)
	}
	ahead.Store(0)
	logStore = []clock.Vote{{Who: "log store", Ahead: 0}}
	if v := guard.Judge(); v.Votes != 4 || v.Stop || v.Disagree {
		t.Fatalf("%+v", v)
	}
}
