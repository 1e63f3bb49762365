package jobmgr_test

import (
	"testing"

	"carillon/internal/common"
	"carillon/internal/jobmgr/catalog"
)

// Before the jobs were listed no job may be taken for deleted; a job that cannot be read is not deleted
// either.
func TestRetention(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	if catalog.New(catalog.NewWatcher(s.client, nil), nil, nil).Whole() {
		t.Error("a catalog without a list is complete")
	}
	s.put(common.Job{Name: "plain", Command: "true"})
	s.put(common.Job{Name: "own", Command: "true", Retention: &common.Retention{Age: "2d", Runs: 7}})
	s.raw(common.JobKey("damaged"), "{")
	s.raw(common.CursorKey("strange"), common.TimeKey(noon))
	s.raw(common.JobKey("strange"), encode(t, common.StoredJob{
		Job: common.Job{Name: "strange", Command: "true", Retention: &common.Retention{Age: "2 moons"}},
		UID: "u",
	}))
	eventually(t, "the catalog has all jobs", func() bool {
		jobs, bad := s.catalog.Len()
		return jobs == 3 && bad == 1
	})
	if !s.catalog.Whole() {
		t.Error("the catalog is incomplete")
	}
	for _, c := range []struct {
		name   string
		want   common.Retention
		exists bool
		bad    bool
	}{
		{"plain", common.Retention{}, true, false},
		{"own", common.Retention{Age: "2d", Runs: 7}, true, false},
		{"damaged", common.Retention{}, true, true},
		{"strange", common.Retention{Age: "2 moons"}, true, true},
		{"deleted", common.Retention{}, false, false},
	} {
		if r, exists, err := s.catalog.Retention(c.name); r != c.want || exists != c.exists || (err != nil) != c.bad {
			t.Errorf("%s: %+v, %t, %v", c.name, r, exists, err)
		}
	}
}
