package system

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Each worker in turn gets SIGKILL while it runs dates of three backfills, and is started again. Each date has one
// outcome: the attempt after those that were lost. No run begins twice, and the backfills end with the numbers of the
// ledger.
func TestBackfills_WorkersAreKilled_EachDateHasOneOutcome(t *testing.T) {
	t.Parallel() // it mostly waits
	s := newSurvival(t)
	s.save("plain", map[string]any{"command": s.does("plain")})
	s.save("given", map[string]any{"command": s.does("given"), "onLost": "abandon"})
	s.save("etl", map[string]any{"steps": []map[string]any{
		{"name": "extract", "command": s.does("etl:extract")},
		{"name": "load", "command": s.does("etl:load"), "after": []string{"extract"}},
	}})
	ids := map[string]string{}
	for _, job := range []string{"plain", "given", "etl"} {
		ids[job] = s.backfill(job, "none", backfilledDates)
	}
	for i, victim := range []string{"east", "north", "west"} {
		life := registered(t, s.client)[victim].Life.Life
		lost := s.runsOn(victim)
		if s.workers[victim].Kill(); i == 1 { // the others resolve its runs
			s.areLost(lost)
		}
		s.join(victim)
		s.areLost(lost)
		s.areRepeated(life)
	}
	s.open()

	for _, job := range []string{"plain", "etl"} {
		s.ends(job, ids[job], "succeeded", backfillCounts{Total: backfilledDates, Succeeded: backfilledDates})
	}
	// Lost dates of a job that abandons them have failed. They alone are run by the next backfill.
	lost := s.abandoned()
	if lost < 3 {
		t.Errorf("of the dates that are abandoned, %d were lost; one on each worker was killed", lost)
	}
	s.ends("given", ids["given"], "failed", backfillCounts{Total: backfilledDates, Succeeded: backfilledDates - lost,
		Failed: lost})
	s.ends("given", s.backfill("given", "failed", lost), "succeeded", backfillCounts{Total: lost, Succeeded: lost})
	for _, job := range []string{"plain", "given", "etl", "etl:extract", "etl:load"} {
		s.checkDates(job)
	}
}

// backfilledDates is the number of dates of each backfill.
const backfilledDates = 60

// survival is a cluster of three workers that run backfills. A command notes its job and its run, and waits until its
// run is released, or all are.
type survival struct {
	*fleet
	to       time.Time // end of the dates, of which none is fired during the test
	schedule string
	released map[string]bool // by run; also those that were killed
}

func newSurvival(t *testing.T) *survival {
	t.Helper()
	now := time.Now().UTC()
	return &survival{fleet: newFleet(t), to: now.Truncate(24 * time.Hour), released: map[string]bool{},
		schedule: fmt.Sprintf("0 %d * * *", now.Add(12*time.Hour).Hour())}
}

// does returns a command.
func (s *survival) does(what string) string {
	return fmt.Sprintf("echo %s $CARILLON_RUN_ID $CARILLON_WORKER_NAME >>%s\n"+
		"until [ -e %s ] || [ -e %s-$CARILLON_RUN_ID ]; do sleep 0.1; done", what, s.ledger, s.gate(), s.gate())
}

func (s *survival) gate() string { return filepath.Join(s.dir, "gate") }

func (s *survival) save(name string, fields map[string]any) {
	s.t.Helper()
	maps.Copy(fields, map[string]any{"name": name, "cronExpr": s.schedule, "timezone": "UTC",
		"overlap": "allow", "lostAfter": "20s", "killGrace": "1s", "placement": map[string]any{"strategy": "least"}})
	s.a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", fields, nil)
}

// backfill begins to run the dates, of which so many are chosen.
func (s *survival) backfill(job, reprocess string, dates int) string {
	s.t.Helper()
	var made struct {
		ID     string
		Counts backfillCounts
	}
	s.a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/backfills", map[string]any{
		"from": s.to.AddDate(0, 0, -backfilledDates), "to": s.to, "reprocess": reprocess, "includeUnknown": true,
		"concurrency": 3}, &made)
	if made.Counts.Total != dates {
		s.t.Fatalf("the backfill of %s has %+v, want %d dates", job, made.Counts, dates)
	}
	return made.ID
}

// begun is a run whose command has begun.
type begun struct{ what, run, worker string }

// job returns the job whose backfill it belongs to.
func (b *begun) job() string {
	job, _, _ := strings.Cut(b.what, ":")
	return job
}

// repeats reports whether an attempt before it was lost.
func (b *begun) repeats() bool { return !strings.HasSuffix(b.run, ".1") }

// all returns the runs whose commands have begun, in that order.
func (s *survival) all() (all []begun) {
	s.t.Helper()
	data, err := os.ReadFile(s.ledger)
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) == 3 {
			all = append(all, begun{words[0], words[1], words[2]})
		}
	}
	return all
}

// runsOn waits until a worker runs a date of each job for the first time, and returns its runs. Meanwhile it releases
// runs of the others, and all further attempts.
func (s *survival) runsOn(worker string) (runs []begun) {
	s.t.Helper()
	eventually(s.t, worker+" runs a date of each job", func() bool {
		runs = nil
		has := map[string]bool{}
		all := s.all()
		for _, b := range all {
			if b.worker == worker && !s.released[b.run] && !b.repeats() {
				runs, has[b.job()] = append(runs, b), true
			}
		}
		for _, b := range all {
			if b.repeats() || b.worker != worker && !has[b.job()] {
				s.release(b.run)
			}
		}
		return len(has) == 3
	})
	for _, b := range runs {
		s.released[b.run] = true
	}
	return runs
}

func (s *survival) release(run string) {
	s.t.Helper()
	if s.released[run] {
		return
	}
	s.released[run] = true
	if err := os.WriteFile(s.gate()+"-"+run, nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// open lets all commands end.
func (s *survival) open() {
	s.t.Helper()
	if err := os.WriteFile(s.gate(), nil, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// areLost waits until the history has runs as lost.
func (s *survival) areLost(runs []begun) {
	s.t.Helper()
	for _, b := range runs {
		if end := endedRun(s.a, b.run); end.Status != common.StatusLost {
			s.t.Errorf("run %s of %s, whose worker was killed, is %s", b.run, b.what, end.Status)
		}
	}
}

// areRepeated waits until all runs of a worker that was killed are resolved, and the next attempts of those that were
// lost have ended: the next death must not be their third one, which is the last attempt. It reads etcd: the history
// lacks runs that were claimed shortly before the death.
func (s *survival) areRepeated(life string) {
	s.t.Helper()
	eventually(s.t, "the runs of a dead worker are repeated", func() bool {
		for _, b := range s.all() {
			if b.repeats() {
				s.release(b.run)
			}
		}
		resp, err := s.client.Txn(s.t.Context()).Then( // the second attempts are in one of them all the time
			clientv3.OpGet(common.RunsPrefix, clientv3.WithPrefix()),
			clientv3.OpGet(common.TriggersPrefix, clientv3.WithPrefix())).Commit()
		if err != nil {
			s.t.Fatal(err)
		}
		records := decoded[common.Record](s.t, resp.Responses[0].GetResponseRange().Kvs)
		triggers := decoded[common.Trigger](s.t, resp.Responses[1].GetResponseRange().Kvs)
		return !slices.ContainsFunc(records, func(r common.Record) bool {
			return r.Attempt > 1 || r.Owner.Life == life
		}) && !slices.ContainsFunc(triggers, func(t common.Trigger) bool { return t.Attempt > 1 })
	})
}

func decoded[T any](t testing.TB, kvs []*mvccpb.KeyValue) (all []T) {
	t.Helper()
	for _, kv := range kvs {
		value, err := common.Decode[T](kv.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	return all
}

// abandoned waits until the history has the outcomes of all dates of the job whose lost runs are not repeated, and
// returns how many were lost.
func (s *survival) abandoned() (lost int) {
	s.t.Helper()
	eventually(s.t, "each date of given has an outcome", func() bool {
		all := s.attempts("given")
		lost = 0
		for _, attempts := range all {
			switch attempts[1].Status {
			case "lost":
				lost++
			case "succeeded":
			default:
				return false
			}
		}
		return len(all) == backfilledDates
	})
	return lost
}

// backfillCounts are the numbers of dates of a backfill.
type backfillCounts struct{ Total, Waiting, Running, Succeeded, Failed, Skipped int }

// ends waits for the end of a backfill.
func (s *survival) ends(job, id, status string, want backfillCounts) {
	s.t.Helper()
	var end struct {
		Status  string
		EndedAt time.Time
		Counts  backfillCounts
	}
	eventually(s.t, "the backfill of "+job+" ends", func() bool {
		code, err := s.a.try(http.MethodGet, "/api/v1/backfills/"+id, nil, &end)
		return err == nil && code == http.StatusOK && !end.EndedAt.IsZero()
	})
	if end.Status != status || end.Counts != want {
		s.t.Errorf("the backfill of %s: %s, %+v; want %s, %+v", job, end.Status, end.Counts, status, want)
	}
}

// attempts returns the runs of the dates of a job or a step, by planned time and number.
func (s *survival) attempts(job string) map[time.Time]map[int]run {
	s.t.Helper()
	all := map[time.Time]map[int]run{}
	for _, r := range s.a.runs("job=" + job) {
		if !r.PlannedAt.Before(s.to) {
			continue // the next fire of the schedule
		}
		if all[r.PlannedAt] == nil {
			all[r.PlannedAt] = map[int]run{}
		}
		if _, twice := all[r.PlannedAt][r.Attempt]; twice {
			s.t.Errorf("%s: attempt %d of %s has two entries", job, r.Attempt, r.PlannedAt)
		}
		all[r.PlannedAt][r.Attempt] = r
	}
	return all
}

// checkDates checks the runs of a job or a step: of each date, the last attempt has succeeded, and those before it were
// lost. The history has each run that began, and each began once.
func (s *survival) checkDates(job string) {
	s.t.Helper()
	var all map[time.Time]map[int]run
	eventually(s.t, "the history has a success of each date of "+job+", and all attempts before it", func() bool {
		all = s.attempts(job)
		for _, of := range all {
			for n := 1; n <= len(of); n++ {
				if r, found := of[n]; !found || !common.Status(r.Status).Terminal() ||
					n == len(of) && r.Status != "succeeded" {
					return false
				}
			}
		}
		return len(all) == backfilledDates
	})
	known := map[string]bool{}
	for at, of := range all {
		for n := 1; n <= len(of); n++ {
			r := of[n]
			if known[r.ID] = true; n < len(of) && r.Status != "lost" {
				s.t.Errorf("%s: attempt %d of %d of %s is %q, want lost", job, n, len(of), at, r.Status)
			}
		}
	}
	began := map[string]int{}
	for _, b := range s.all() {
		if b.what == job {
			began[b.run]++
		}
	}
	for run, times := range began {
		if times > 1 || !known[run] {
			s.t.Errorf("%s: run %s began %d times; in the history: %t", job, run, times, known[run])
		}
	}
	if strings.Contains(job, ":") {
		return
	}
	var ledger struct {
		Items []struct {
			PlannedAt time.Time
			Status    string
		}
	}
	s.a.do(http.StatusOK, http.MethodGet, "/api/v1/jobs/"+job+"/fires?limit=100", nil, &ledger)
	entries := 0
	for _, fire := range ledger.Items {
		if !fire.PlannedAt.Before(s.to) {
			continue
		}
		if entries++; fire.Status != "succeeded" {
			s.t.Errorf("%s: the fire of %s is %s", job, fire.PlannedAt, fire.Status)
		}
	}
	if entries != backfilledDates {
		s.t.Errorf("%s: the ledger has %d entries, want %d", job, entries, backfilledDates)
	}
}
