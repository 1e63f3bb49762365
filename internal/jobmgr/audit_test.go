package jobmgr_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Of few jobs and of many, the existing cursors are returned.
func TestCursors(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	want := map[string]time.Time{}
	var names []string
	const n = 2500
	for first := 0; first < n; first += 100 {
		var ops []clientv3.Op
		for i := first; i < first+100; i++ {
			name := fmt.Sprintf("j%04d", i)
			names = append(names, name)
			want[name] = noon.Add(time.Duration(i) * time.Second)
			ops = append(ops, clientv3.OpPut(common.CursorKey(name), common.TimeKey(want[name])))
		}
		if _, err := s.client.Txn(t.Context()).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	s.raw(common.CursorKey("damaged"), "yesterday")
	for _, c := range []struct {
		what  string
		asked []string
	}{
		{"none", nil}, {"one", names[:1]}, {"some", names[50:300]}, {"all", names},
		{"with others", []string{"j0007", "damaged", "unknown"}},
	} {
		got, err := s.store.Cursors(t.Context(), c.asked)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range c.asked {
			at, there := got[name]
			if expected, exists := want[name]; there != exists || !at.Equal(expected) {
				t.Errorf("%s: cursor of %s is %v, %t", c.what, name, at, there)
			}
		}
	}
}

func TestBusyAndPlans_OfEachJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(minutely("busy"))
	s.put(minutely("busybody")) // its name begins with the other's
	s.put(common.Job{Name: "manual", Command: "true"})
	s.raw(common.RecordKey("busy", "r1"), encode(t, common.Record{Run: "r1", Job: "busy"}))
	busy, err := s.store.Busy(t.Context(), []string{"busy", "busybody", "manual", "unknown"})
	if err != nil || !maps.Equal(busy, map[string]bool{"busy": true}) {
		t.Errorf("busy are %v, %v", busy, err)
	}
	eventually(t, "the catalog has the jobs", func() bool { jobs, _ := s.catalog.Len(); return jobs == 3 })
	var planned []string
	for job, timetable := range s.catalog.Plans() {
		planned = append(planned, job.Name)
		if at, ok, err := timetable.Next(noon); !ok || err != nil || !at.Equal(noon.Add(time.Minute)) {
			t.Errorf("%s fires at %v, %t, %v", job.Name, at, ok, err)
		}
	}
	if slices.Sort(planned); !slices.Equal(planned, []string{"busy", "busybody"}) {
		t.Errorf("planned are %v", planned)
	}
	for range s.catalog.Plans() {
		break // a caller may stop early
	}
}
