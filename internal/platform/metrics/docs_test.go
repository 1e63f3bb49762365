package metrics

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/metrics.md anew")

const page = "../../../docs/metrics.md"

// The page of metrics is made from the declarations.
func TestMetricsPage(t *testing.T) {
	want := document()
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: run make generate", page)
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Metrics

<!-- Made from the declarations in internal/platform/metrics by "make generate". Do not edit. -->

Every daemon exposes its metrics at ` + "`/metrics`" + ` in the Prometheus text format: a master and the standalone beside the API
(a token is required), a worker on its own address (` + "`metricsListen`" + `, loopback only), together with the ` + "`go_*`" + ` and
` + "`process_*`" + ` metrics of the Go client. The standalone exposes both tables.

Metrics of single jobs (label ` + "`job_name`" + `; ` + "`job`" + ` is a label that Prometheus sets itself) are exposed by the elected
master only, so that nothing is counted twice; they move to another master with the election, so aggregate over
` + "`instance`" + ` in rules: ` + "`max by (job_name) (…)`" + `. They are computed every 15 s from the jobs and the log store, so that no
restart loses them, for the first ` + "`metricsMaxJobs`" + ` jobs by name (default 1,000). While the log store is down, last
success and last status keep their values (` + "`log_store_away`" + `). Alerts: [deploy.md](deploy.md#alerts); dashboards:
[deploy.md](deploy.md#dashboards).
`)
	table := func(title string, declare func(*Registry)) {
		r := NewRegistry("")
		before := len(r.Metrics())
		if declare != nil {
			declare(r)
		} else {
			before = 0
		}
		fmt.Fprintf(&b, "\n## %s\n\n| Metric | Type | Labels | Meaning |\n|---|---|---|---|\n", title)
		for _, m := range r.Metrics()[before:] {
			labels := ""
			if len(m.Labels) > 0 {
				labels = "`" + strings.Join(m.Labels, "`, `") + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Type, labels, m.Help)
		}
	}
	table("Every daemon", nil)
	table("Worker", func(r *Registry) { NewWorker(r) })
	table("Master", func(r *Registry) { NewMaster(r) })
	return b.String()
}
