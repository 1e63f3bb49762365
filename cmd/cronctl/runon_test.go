package main

import (
	"testing"

	"carillon/internal/common"
)

func TestRunsOn(t *testing.T) {
	for _, c := range []struct {
		on   *common.RunOn
		want string
	}{
		{nil, ""},
		{&common.RunOn{Workers: common.AllWorkers}, "all eligible workers"},
		{&common.RunOn{Workers: 1}, "1 worker, by rank"},
		{&common.RunOn{Workers: 3, Concurrency: 1, MaxFailures: 1, Stop: true},
			"3 workers, by rank, 1 at a time; 1 may fail; stops when it has failed"},
	} {
		if got := runsOn(c.on); got != c.want {
			t.Errorf("%+v: %q, want %q", c.on, got, c.want)
		}
	}
}

func TestEffectOf(t *testing.T) {
	two := &common.RunOn{Workers: 2}
	for rank, want := range []string{"would run it", "would run it", "replaces one that does not start it",
		"replaces one that does not start it", "takes no part"} {
		if got := effectOf(two, rank); got != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
	if got := effectOf(&common.RunOn{Workers: common.AllWorkers}, 7); got != "would run it" {
		t.Errorf("under all: %q", got)
	}
}
