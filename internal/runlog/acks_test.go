package runlog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// ackLog holds delivered and undelivered changes, and a ledger of failed fires.
type ackLog struct {
	runlog.Reader
	live, stored []common.Change
	away         error
}

func (l *ackLog) LiveChanges(_ context.Context, q runlog.ChangeQuery,
	keep func(*common.Change) bool) (found []common.Change, partial bool, err error) {
	return matching(l.live, &q), false, nil
}

func (l *ackLog) Changes(_ context.Context, q runlog.ChangeQuery) ([]common.Change, error) {
	return matching(l.stored, &q), l.away
}

func matching(all []common.Change, q *runlog.ChangeQuery) (found []common.Change) {
	for i := range all {
		if q.Matches(&all[i]) {
			found = append(found, all[i])
		}
	}
	return found
}

func acked(t *testing.T, n int, verb, fire, run string) common.Change {
	t.Helper()
	after, err := json.Marshal(runlog.AckState{Job: "a", Run: run, Note: fmt.Sprint(n)})
	if err != nil {
		t.Fatal(err)
	}
	return common.Change{ID: fmt.Sprintf("%03d", n), At: time.Unix(int64(n), 0).UTC(), Kind: runlog.AckKind, Name: fire,
		Verb: verb, Actor: common.Actor{Name: "ada"}, After: after}
}

func failedFire(id string, s common.Status, attempts ...string) common.Fire {
	return common.Fire{ID: id, Status: s, Attempts: attempts}
}

func TestAcks_TheNewestEntryOfAFireCounts(t *testing.T) {
	log := &ackLog{
		stored: []common.Change{
			acked(t, 1, runlog.AckVerb, "u.1", "u.1.1"), acked(t, 2, runlog.AckVerb, "u.2", "u.2.1"),
			acked(t, 3, runlog.AckVerb, "u.3", "u.3.1"), acked(t, 4, runlog.AckVerb, "u.4", ""),
			acked(t, 5, runlog.AckVerb, "u.5", "u.5.1"),
		},
		live: []common.Change{acked(t, 6, runlog.AckUndo, "u.2", ""), acked(t, 7, runlog.AckVerb, "u.1", "u.1.1")},
	}
	fires := []common.Fire{
		failedFire("u.1", common.StatusFailed, "u.1.1"),
		failedFire("u.2", common.StatusFailed, "u.2.1"),            // undone
		failedFire("u.3", common.StatusTimedOut, "u.3.1", "u.3.2"), // failed again since
		failedFire("u.4", common.StatusMissed),
		failedFire("u.5", common.StatusSucceeded, "u.5.1"),
	}
	if partial, err := runlog.NewAcks(log, log).Mark(t.Context(), fires); err != nil || partial {
		t.Fatal(partial, err)
	}
	var got []string
	for i := range fires {
		if a := fires[i].Acknowledged; a != nil {
			got = append(got, fires[i].ID+" by "+a.By+" "+a.Note)
		}
	}
	if strings.Join(got, "; ") != "u.1 by ada 7; u.4 by ada 4" {
		t.Error(got)
	}
}

func TestAcks_Latest_ReturnsAttemptsThatAreStillAcknowledged(t *testing.T) {
	log := &ackLog{
		stored: []common.Change{
			acked(t, 1, runlog.AckVerb, "u.1", "u.1.1"),
			acked(t, 2, runlog.AckVerb, "u.2", "u.2.1"),
			acked(t, 3, runlog.AckVerb, "u.3", ""),
		},
		live: []common.Change{
			acked(t, 4, runlog.AckUndo, "u.2", ""), acked(t, 5, runlog.AckVerb, "u.1", "u.1.2"),
		},
	}
	got, _, err := runlog.NewAcks(log, log).Latest(t.Context())
	if want := map[string]string{"u.1": "u.1.2", "u.3": ""}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	log.away, log.stored = common.Errorf(common.CodeUnavailable, "away"), nil
	got, partial, err := runlog.NewAcks(log, log).Latest(t.Context())
	if want := map[string]string{"u.1": "u.1.2"}; err != nil || !partial || !maps.Equal(got, want) {
		t.Errorf("without the log store: %v, %v", got, err)
	}
}

func TestAcks_LogStoreAway_IsPartial(t *testing.T) {
	log := &ackLog{
		live: []common.Change{acked(t, 1, runlog.AckVerb, "u.1", "u.1.1")},
		away: common.Errorf(common.CodeUnavailable, "away"),
	}
	fires := []common.Fire{failedFire("u.1", common.StatusFailed, "u.1.1")}
	partial, err := runlog.NewAcks(log, log).Mark(t.Context(), fires)
	if err != nil || !partial || fires[0].Acknowledged == nil {
		t.Errorf("partial %t, error %v, %+v", partial, err, fires[0].Acknowledged)
	}
}

// slowChanges never finds the end of the undelivered changes.
type slowChanges struct{}

func (slowChanges) LiveChanges(ctx context.Context, _ runlog.ChangeQuery,
	_ func(*common.Change) bool) ([]common.Change, bool, error) {
	<-ctx.Done()
	return nil, false, ctx.Err()
}

func TestAcks_ManyUndeliveredChanges_DoNotDelayTheList(t *testing.T) {
	log := &ackLog{stored: []common.Change{acked(t, 1, runlog.AckVerb, "u.1", "u.1.1")}}
	fires := []common.Fire{failedFire("u.1", common.StatusFailed, "u.1.1")}
	partial, err := runlog.NewAcks(slowChanges{}, log).Mark(t.Context(), fires)
	if err != nil || !partial || fires[0].Acknowledged == nil {
		t.Errorf("partial %t, error %v, %+v", partial, err, fires[0].Acknowledged)
	}
}

// What was acknowledged lately, by job; withdrawn and earlier ones do not count.
func TestAcks_Since_LatestOfEachJob(t *testing.T) {
	log := &ackLog{stored: []common.Change{acked(t, 1, runlog.AckVerb, "u.1", "u.1.1"),
		acked(t, 3, runlog.AckVerb, "u.3", "u.3.1"), acked(t, 4, runlog.AckVerb, "u.4", "u.4.1")}}
	since := func(n int64) (at int64, partial bool) {
		t.Helper()
		by, partial, err := runlog.NewAcks(log, log).Since(t.Context(), time.Unix(n, 0))
		if err != nil {
			t.Fatal(err)
		}
		if ack, found := by["a"]; found {
			return ack.At.Unix(), partial
		}
		return 0, partial
	}
	if at, _ := since(2); at != 4 {
		t.Errorf("the latest is of %d, want 4", at)
	}
	log.live = []common.Change{acked(t, 5, runlog.AckUndo, "u.4", "u.4.1")}
	if at, _ := since(2); at != 3 {
		t.Errorf("after one was withdrawn, the latest is of %d, want 3", at)
	}
	if at, _ := since(4); at != 0 {
		t.Errorf("found one of %d since 4", at)
	}
	log.away = common.Errorf(common.CodeUnavailable, "the log store is away")
	if _, partial := since(4); !partial {
		t.Error("not marked as partial while the store is away")
	}
}
