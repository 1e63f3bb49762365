package diff_test

import (
	"fmt"

	"carillon/internal/common"
	"carillon/internal/jobmgr/diff"
)

func ExampleUnified() {
	before := common.Job{Name: "backup", CronExpr: "30 2 * * *", Command: "backup", Timeout: "1h"}
	after := before
	after.CronExpr, after.Timeout = "0 3 * * *", ""
	text, err := diff.Unified("version 12", "version 15", &before, &after)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(text)
	// Output:
	// --- version 12
	// +++ version 15
	// @@ -1,4 +1,3 @@
	//  name: backup
	// -cronExpr: "30 2 * * *"
	// +cronExpr: "0 3 * * *"
	//  command: backup
	// -timeout: "1h"
}

func ExampleFields() {
	before := common.Job{Name: "backup", CronExpr: "30 2 * * *", Command: "backup"}
	after := before
	after.Paused, after.PauseNote = true, "disk is being replaced"
	fmt.Println(diff.Fields(&before, &after))
	// Output:
	// [pauseNote paused] <nil>
}
