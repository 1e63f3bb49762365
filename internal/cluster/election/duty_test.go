package election_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"carillon/internal/cluster/election"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/platform/virtualtime"
)

// A duty that fails is begun again, ever more seldom, and keeps no other from its work.
func TestDutiesAreBegunAgain(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var said bytes.Buffer
		begun, steady := 0, 0
		loops := health.NewLoops(nil, 0, nil)
		fails, ends := loops.Add(health.Spec{Name: "fails"}), loops.Add(health.Spec{Name: "ends"})
		lasts := loops.Add(health.Spec{Name: "lasts", OnDemand: true})
		var stuck []common.Condition
		election.Perform(ctx, slog.New(slog.NewTextHandler(&said, nil)), []election.Duty{
			{Name: "fails", Loop: fails, Run: func(context.Context) error { begun++; return errors.New("no luck") }},
			{Name: "ends", Loop: ends, Run: func(context.Context) error { return nil }},
			{Name: "lasts", Loop: lasts, Run: func(ctx context.Context) error {
				steady++
				time.Sleep(time.Minute)
				stuck = loops.Conditions()
				<-ctx.Done()
				return ctx.Err()
			}},
		})
		if len(stuck) != 2 || stuck[0].Data["loop"] != "fails" || stuck[0].Data["error"] != "no luck" ||
			stuck[1].Data["loop"] != "ends" {
			t.Errorf("stuck after a minute: %+v", stuck)
		}
		if left := loops.Conditions(); len(left) != 0 {
			t.Errorf("stuck after the term: %+v", left)
		}
		if steady != 1 {
			t.Errorf("the duty that lasts was begun %d times", steady)
		}
		if begun != 15 { // after 1, 2, 4, 8, 16 and 32 s, and each minute then
			t.Errorf("the duty that fails was begun %d times", begun)
		}
		for _, want := range []string{`duty_failed duty=fails error="no luck" again_in=1s`, `again_in=1m0s`,
			`duty=ends error="ended without an error"`} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("nothing was said of %s", want)
			}
		}
	})
}

// A term is over when all duties have ended, however long that takes.
func TestDutiesAreWaitedFor(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var said bytes.Buffer
		begun := time.Now()
		election.Perform(ctx, slog.New(slog.NewTextHandler(&said, nil)), []election.Duty{{
			Name: "dawdles",
			Run: func(ctx context.Context) error {
				<-ctx.Done()
				time.Sleep(time.Minute)
				return nil
			},
		}})
		if took := time.Since(begun); took != 2*time.Minute {
			t.Errorf("it took %v", took)
		}
		if !strings.Contains(said.String(), "duty_stuck duty=dawdles") {
			t.Errorf("it was said: %s", said.String())
		}
	})
}
