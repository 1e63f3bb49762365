package main

import (
	"context"
	"testing"
	"time"

	"carillon/internal/common"
)

// Recover answers with what was asked.
func (f *fakes) Recover(_ context.Context, _ common.Actor, r common.RecoverRequest) (common.Recovered, error) {
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	return common.Recovered{At: now, Restored: r.Restored, DryRun: r.DryRun, Jobs: []common.RecoveredJob{
		{Job: "nightly", Effect: common.RecoverBroughtBack, Cursor: now.Add(time.Hour), To: now}}}, nil
}

func TestRecover(t *testing.T) {
	s := newStage(t)
	s.run("recover").want(t, exitOK, "nightly", "brought_back", "nothing was changed", "--yes")
	s.run("recover", "--restored", "--yes").want(t, exitOK, "nightly", "workers accept runs again")
}
