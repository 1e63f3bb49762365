package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/platform/metrics"
)

// TestMetricsInRulesBoardsAndDocsExist checks every name of a metric against the declarations.
func TestMetricsInRulesBoardsAndDocsExist(t *testing.T) {
	declared := map[string]string{}
	r := metrics.NewRegistry("test")
	metrics.NewWorker(r)
	metrics.NewMaster(r)
	for _, m := range r.Metrics() {
		declared[m.Name] = m.Type
	}
	name := regexp.MustCompile(`\bcarillon_[a-z_]+[a-z]\b`)
	for pattern, atLeast := range map[string]int{
		"prometheus/*.yml":        20,
		"grafana/boards/*.json":   30,
		"../docs/metrics.md":      len(declared),
		"../docs/deploy.md":       3,
		"../docs/reliability.md":  0,
		"../docs/history.md":      0,
		"../docs/architecture.md": 0,
		"../docs/flows.md":        0,
		"../docs/daemons.md":      0,
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Errorf("no %s", pattern)
		}
		seen := map[string]bool{}
		for _, file := range files {
			for _, n := range name.FindAllString(content(t, file), -1) {
				base := n
				for _, suffix := range []string{"_bucket", "_sum", "_count"} {
					if b, cut := strings.CutSuffix(n, suffix); cut && declared[b] == "histogram" {
						base = b
					}
				}
				if declared[base] == "" {
					t.Errorf("%s names %s, which no daemon exposes", file, n)
				}
				seen[base] = true
			}
		}
		if len(seen) < atLeast {
			t.Errorf("%s names %d metrics, want at least %d", pattern, len(seen), atLeast)
		}
	}
}

// TestEveryConditionHasAnAlert checks that no active problem stays without an alert.
func TestEveryConditionHasAnAlert(t *testing.T) {
	var matchers []*regexp.Regexp
	for _, m := range regexp.MustCompile(`code=~?"([a-z_|]+)"`).FindAllStringSubmatch(
		content(t, "prometheus/carillon.rules.yml"), -1) {
		matchers = append(matchers, regexp.MustCompile("^(?:"+m[1]+")$"))
		for code := range strings.SplitSeq(m[1], "|") {
			if !slices.Contains(common.ConditionCodes(), code) {
				t.Errorf("the rules name the condition %s, which does not exist", code)
			}
		}
	}
	// The same figures as the condition, without a delay of its own.
	covered := []string{common.ConditionNoElectedMaster, common.ConditionOverdue}
	for _, code := range common.ConditionCodes() {
		alerts := 0
		for _, m := range matchers {
			if m.MatchString(code) {
				alerts++
			}
		}
		if want := 1; alerts != want && !slices.Contains(covered, code) {
			t.Errorf("%d alerts for the condition %s, want %d", alerts, code, want)
		}
	}
}

func content(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
