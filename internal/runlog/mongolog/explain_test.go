package mongolog

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// TestQueries_UseIndexes prints the query plan of a MongoDB for each list. Each is read from an index, in order.
func TestQueries_UseIndexes(t *testing.T) {
	uri := os.Getenv("CARILLON_TEST_MONGODB_URI")
	if uri == "" {
		t.Skip("SKIPPED: set CARILLON_TEST_MONGODB_URI to see the plans of a MongoDB; a database carillon_plans… is " +
			"made and dropped")
	}
	s, err := Open(t.Context(), Config{URI: uri, Database: fmt.Sprintf("carillon_plans_%d", os.Getpid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.schema.db.Drop(t.Context()); err != nil {
			t.Log(err)
		}
		_ = s.Close()
	})
	begin := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
	for i := range 20 {
		var b runlog.Batch
		for j := range 1000 {
			n := i*1000 + j
			b.Runs = append(b.Runs, common.Run{
				ID:        fmt.Sprintf("u%d.%d.1", n%200, n),
				Fire:      fmt.Sprintf("u%d.%d", n%200, n),
				Job:       fmt.Sprintf("job-%d", n%200),
				JobUID:    fmt.Sprintf("u%d", n%200),
				Group:     fmt.Sprint(n % 7),
				Worker:    fmt.Sprint(n % 5),
				Status:    common.Statuses[2+n%8],
				Cause:     common.CauseCron,
				ExitCode:  new(n % 11),
				PlannedAt: begin.Add(time.Duration(n) * 10 * time.Second),
			})
		}
		if err := s.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for more := true; more; {
		done, err := s.Tidy(t.Context(), runlog.Tidy{Now: begin.AddDate(0, 0, 9)})
		if err != nil {
			t.Fatal(err)
		}
		more = done.More
	}

	at := runlog.Position{PlannedAt: begin.Add(30 * time.Hour), ID: "u7"}
	failed := []common.Status{common.StatusFailed, common.StatusLost}
	for name, q := range map[string]runlog.Query{
		"newest": {}, "nodes too": {Nodes: true}, "nodes of a flow run": {FlowRun: "u7"},
		"a page": {Before: &at}, "job": {Job: "job-7"}, "job, a page": {Job: "job-7", Before: &at},
		"worker":   {Worker: "3", Before: &at},
		"statuses": {Statuses: failed, Before: &at}, "group": {Group: "3", Before: &at},
		"exit code": {ExitCode: new(3), Before: &at},
		"fire":      {Fire: "u7.7"}, "time": {From: begin, To: begin.Add(20 * time.Hour), Before: &at},
		"job and status": {Job: "job-7", Statuses: failed}, "worker, group and cause": {
			Worker: "3",
			Group:  "3",
			Cause:  common.CauseManual,
		},
		"text": {Text: "needle"}, "exit code and text": {ExitCode: new(3), Text: "needle", From: begin},
		"oldest": {Oldest: true}, "oldest, a page": {Before: &at, Oldest: true},
		"the next one of a job":         {Job: "job-7", From: begin, Oldest: true},
		"oldest of a status and worker": {Statuses: failed, Worker: "3", Before: &at, Oldest: true},
	} {
		l, possible := listOf(&q)
		if !possible {
			t.Fatalf("%s: nothing is asked", name)
		}
		if l.partial() {
			plan(t, s, name+": where the scan ends", "runs", l.filter(&q, false, nil), orderOf(&q))
		}
		plan(t, s, name, "runs", l.filter(&q, true, nil), orderOf(&q))
	}
	hours := bson.D{{Key: "$gte", Value: begin.Unix()}, {Key: "$lt", Value: begin.Unix() + dayLong}}
	order := bson.D{{Key: "job", Value: 1}, {Key: "at", Value: 1}, {Key: "version", Value: 1}}
	plan(t, s, "roll-ups of a job", "rollups", bson.D{{Key: "kind", Value: hourOfJob}, {
		Key:   "job",
		Value: bson.D{{Key: "$in", Value: bson.A{"job-7"}}},
	},
		{Key: "at", Value: hours}}, order)
	plan(t, s, "roll-ups of an hour", "rollups", bson.D{{Key: "kind", Value: hourOfJob}, {Key: "at", Value: hours}},
		nil)
	q := runlog.ChangeQuery{Kind: "job", Name: "job-7", Before: "1"}
	plan(t, s, "changes of a job", "changes", filterChanges(&q), bson.D{{Key: "_id", Value: -1}})
	plan(t, s, "changes by place", "changes", bson.D{{
		Key:   "seq",
		Value: bson.D{{Key: "$gt", Value: int64(7)}},
	}}, bson.D{{Key: "seq", Value: 1}})
}

func plan(t *testing.T, s *Store, name, collection string, filter, order bson.D) {
	t.Helper()
	find := bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: filter}, {Key: "limit", Value: 50}}
	if order != nil {
		find = append(find, bson.E{Key: "sort", Value: order})
	}
	var answer struct {
		Planner struct {
			Plan bson.D `bson:"winningPlan"`
		} `bson:"queryPlanner"`
		Stats struct {
			Keys int64 `bson:"totalKeysExamined"`
			Docs int64 `bson:"totalDocsExamined"`
			Took int64 `bson:"executionTimeMillis"`
		} `bson:"executionStats"`
	}
	if err := s.schema.db.RunCommand(t.Context(),
		bson.D{{Key: "explain", Value: find}, {Key: "verbosity", Value: "executionStats"}}).Decode(
		&answer); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text, err := bson.MarshalExtJSON(answer.Planner.Plan, false, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d keys, %d documents, %d ms\n\t%s", name, answer.Stats.Keys, answer.Stats.Docs,
		answer.Stats.Took, text)
	if strings.Contains(string(text), "COLLSCAN") {
		t.Errorf("%s: reads the whole collection", name)
	}
}
