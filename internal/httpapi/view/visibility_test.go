package view_test

import (
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/view"
)

// The question of an approval is shown to callers with a role in the group of its flow only.
func TestHideRun_HidesTheQuestionOfAnApproval(t *testing.T) {
	wait := common.FlowWait{Flow: common.FlowNode{Job: "etl", Node: "publish"}, Text: "canary", Since: time.Unix(0, 0)}
	run := wait.AsRun()
	view.HideRun(&run)
	if r := run.Reason; r.Code != common.ReasonApproval || r.Text != "approval" || r.Data["text"] != "" {
		t.Errorf("shown %+v", r)
	}
	if wait := wait.AsRun(); wait.Reason.Data["text"] != "canary" {
		t.Error("the run itself was changed")
	}
}

// The last line of the output of a failed run is output.
func TestHideRun_HidesTheLastLine(t *testing.T) {
	run := common.Run{Status: common.StatusFailed, Reason: &common.Reason{
		Code: "exit_code", Text: "exit code 3", Data: common.Words{"exitCode": "3", common.LastLine: "canary"},
	}}
	if strings.Contains(view.ShownText(&run, true), "canary") {
		t.Error("runs are found by it")
	}
	view.HideRun(&run)
	if run.Reason.Code != "exit_code" || run.Reason.Data[common.LastLine] != "" {
		t.Errorf("shown %+v", run.Reason)
	}
}

func TestHiddenReason_OfAPendingRun_HidesNotesOnly(t *testing.T) {
	plain := &common.Reason{Code: "no_worker", Data: map[string]string{"job": "a"}, Text: "no worker"}
	if got := view.HiddenReason(common.StatusWaiting, plain); got != plain {
		t.Errorf("shown %+v", got)
	}
	noted := &common.Reason{Code: "paused", Data: map[string]string{"note": "canary", "by": "ann"}, Text: "canary"}
	got := view.HiddenReason(common.StatusSkipped, noted)
	if got.Data["by"] != "ann" || got.Data["note"] != "" || got.Text != "paused" {
		t.Errorf("shown %+v", got)
	}
}
