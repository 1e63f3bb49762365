package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// moment is one for which a rule was made, and which chance rarely brings about. The
// first worker has all runs when it comes.
type moment struct {
	rule      mutation // which is broken without it
	lostAfter common.Duration
	part      func(ctx context.Context, s *script)
}

var moments = []moment{
	{noMargin, "2m", func(_ context.Context, s *script) {
		s.sever(0, 0, 3*time.Minute)
	}},
	{fromAnswer, "20s", func(_ context.Context, s *script) {
		s.sever(0, mostAwaited-20*time.Millisecond, time.Minute)
	}},
	{trustsLease, "30s", func(_ context.Context, s *script) {
		s.boxes[0].with(func(l *life) {
			l.link.cut(24 * time.Second)
			l.link.sever(true, false, 2*time.Minute, 0)
		})
	}},
	{quietRetake, "20s", func(_ context.Context, s *script) {
		s.boxes[0].with(func(l *life) { s.world.expire(clientv3.LeaseID(l.session.Proof().Lease)) })
		time.Sleep(300 * time.Millisecond) // all processes have seen that, and the second sees no more
		s.boxes[1].with(func(l *life) { l.link.cut(36 * time.Second) })
		time.Sleep(28 * time.Second)
		s.sever(0, 0, time.Minute)
	}},
}

// sever takes a worker's lease away when it was just found to live, and cuts it off.
func (s *script) sever(box int, late, d time.Duration) {
	s.boxes[box].with(func(l *life) { l.link.sever(false, true, d, late) })
}

// The worst moments break nothing, and each breaks G3 where the rule is left out that was made
// for it.
func TestMoments_ProcessesStopAtTheWorstMoment(t *testing.T) {
	const tries = 10
	servers := newPool(t, 2)
	for _, m := range moments {
		t.Run(strings.ReplaceAll(string(m.rule), " ", "-"), func(t *testing.T) {
			t.Parallel()
			servers.use(t, func(s *server) {
				for _, broken := range m.play(t, s, 1, nothing) {
					t.Error(broken)
				}
			})
			for seed := range uint64(tries) {
				var broken []string
				servers.use(t, func(s *server) { broken = m.play(t, s, seed+1, m.rule) })
				if i := slices.IndexFunc(broken, func(b string) bool { return strings.HasPrefix(b, "G3") }); i >= 0 {
					t.Logf("model: %s: seed %d: %s", m.rule, seed+1, broken[i])
					return
				}
			}
			t.Errorf("no promise was broken in %d tries", tries)
		})
	}
}

func (m *moment) play(t *testing.T, s *server, seed uint64, left mutation) []string {
	w := newWorld(s, seed, left)
	w.beCalm()
	w.lostAfter, w.length = m.lostAfter, 3*time.Minute
	jobs := make([]string, 8)
	for i := range jobs {
		jobs[i] = fmt.Sprintf("job%02d", i)
	}
	var until time.Time
	inBubble(t, func(t *testing.T) {
		until = run(t.Context(), w, jobs, make([]time.Duration, workers), func(ctx context.Context, s *script) {
			time.Sleep(30 * time.Second)
			m.part(ctx, s)
			time.Sleep(2 * time.Minute)
			w.last(time.Second)
		})
	})
	return check(w, until)
}
