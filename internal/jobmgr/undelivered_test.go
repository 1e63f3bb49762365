package jobmgr_test

import (
	"fmt"
	"testing"

	"carillon/internal/common"
)

// The changes of a job are found among many others, each with the version that it made.
func TestLiveChanges(t *testing.T) {
	s := newStory(t)
	for n := range 150 {
		s.put(minutely(fmt.Sprintf("other-%03d", n)))
	}
	made := s.put(minutely("wanted"))
	s.raw(common.ChangeKey("zz-not-a-change"), "{")
	s.clock.forward(1)
	s.remove("wanted")
	s.clock.forward(1)
	again := s.put(minutely("wanted"))
	found, err := s.store.LiveChanges(t.Context(), "job", "wanted")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 3 || found[0].Verb != "create" || found[0].Revision != made.Version || found[1].Verb != "delete" ||
		found[2].Revision != again.Version || found[2].Actor.Name == "" {
		t.Errorf("found %+v", found)
	}
	if all, err := s.store.LiveChanges(t.Context(), "", ""); err != nil || len(all) != 153 {
		t.Errorf("%d of 153 changes in all, %v", len(all), err)
	}
	if none, err := s.store.LiveChanges(t.Context(), "worker", "wanted"); err != nil || len(none) != 0 {
		t.Errorf("changes of another kind: %+v, %v", none, err)
	}
}
