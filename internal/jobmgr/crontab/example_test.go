package crontab_test

import (
	"fmt"

	"carillon/internal/jobmgr/crontab"
)

func ExampleParse() {
	result := crontab.Parse(`MAILTO=""
CRON_TZ=Europe/Berlin
30 2 * * * /usr/local/bin/backup --full
@reboot /usr/local/bin/warm-up
`, crontab.Options{Prefix: "web1"})
	for _, e := range result.Entries {
		fmt.Println(e.Line, e.Job.CronExpr, e.Job.Timezone, e.Job.Command)
	}
	for _, n := range result.Notices {
		fmt.Println(n.Line, n.Level, n.Code)
	}
	// Output:
	// 3 30 2 * * * Europe/Berlin /usr/local/bin/backup --full
	// 4 skipped reboot
}
