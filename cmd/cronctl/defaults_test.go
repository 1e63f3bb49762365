package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

// withDefaults is a stage whose server has defaults.
func withDefaults(t *testing.T) (*stage, func(group string) common.Defaults) {
	t.Helper()
	kept := &apitest.FakeDefaults{}
	s := newStageWith(t, func(cfg *httpapi.Config) { cfg.Defaults = kept })
	return s, func(group string) common.Defaults {
		t.Helper()
		all, err := kept.List(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if d.Group == group {
				return d.Defaults
			}
		}
		return common.Defaults{}
	}
}

func TestSetDefaults_FieldsOfAllKinds(t *testing.T) {
	s, of := withDefaults(t)
	r := s.run("set", "defaults", "shop/eu", "retry.max=3", "timeout=1h", "notify.on=failed,missed", "notify.to=ops",
		"notify.after.1h=pager,boss", "env.A.B=x=y", "retry.elsewhere=false", "placement.workers=w1,w2").
		want(t, exitOK, "0 of 0 jobs changed")
	if !strings.Contains(r.err, "warning: shop/eu: notify.to[0] channel not found") {
		t.Errorf("a channel that does not exist: %s", r.err)
	}
	got, want := of("shop/eu"), common.Defaults{
		Retry:     &common.Retry{Max: 3, Elsewhere: new(bool)},
		Timeout:   "1h",
		Placement: &common.Placement{Workers: []string{"w1", "w2"}},
		Notify: &common.Notify{On: []common.Event{common.EventFailed, common.EventMissed}, To: []string{"ops"},
			After: map[common.Duration][]string{"1h": {"pager", "boss"}}},
		Env: map[string]string{"A.B": "x=y"},
	}
	if !common.Same(&got, &want) {
		t.Errorf("stored %+v", got)
	}
	s.run("set", "defaults", "shop/eu", "notify={}", "env=", "placement=", "retry.elsewhere=").want(t, exitOK)
	got, want = of("shop/eu"), common.Defaults{Retry: &common.Retry{Max: 3}, Timeout: "1h", Notify: &common.Notify{}}
	if !common.Same(&got, &want) {
		t.Errorf("stored %+v", got)
	}
	s.run("set", "defaults", "*", "retention.age=90d", "--dry-run").want(t, exitOK, "not written")
	if d := of("*"); !d.IsZero() {
		t.Errorf("a dry run has stored %+v", d)
	}
	for _, c := range []struct{ field, want string }{
		{"retries=3", "the fields are env, lostAfter"}, {"retry=3", "retry.backoff=VALUE"}, {"timeout", "FIELD=VALUE"},
		{"timeout.x=3", "has no fields"}, {"retry.max=many", "is no value"},
	} {
		s.run("set", "defaults", "shop", c.field).want(t, exitUsage, c.want)
	}
	s.run("set", "defaults", "Shop", "timeout=1h").want(t, exitUsage, "not a valid name of a group")
	s.run("get", "defaults").want(t, exitOK, "shop/eu", "notify, retry, timeout")
	s.run("describe", "defaults", "shop/eu").want(t, exitOK, "defaults: shop/eu", "max: 3", "Versions:")
	s.run("delete", "defaults", "shop/eu").want(t, exitOK)
	s.run("get", "defaults", "shop/eu").want(t, exitNotFound)
}

func TestExport_DefaultsAreAppliedAgain(t *testing.T) {
	s, of := withDefaults(t)
	s.run("create", "job", "hello", "--group", "shop", "--", "true").want(t, exitOK)
	s.run("set", "defaults", "shop", "timeout=1h").want(t, exitOK)
	s.run("set", "defaults", "*", "retry.max=2").want(t, exitOK)
	dir := filepath.Join(t.TempDir(), "jobs")
	s.run("export", "-o", dir+"/").want(t, exitOK, "exported 1 job and defaults of 2 groups")
	whole := s.run("export").out
	if !strings.HasPrefix(whole, "defaults: \"*\"\n") || !strings.Contains(whole, "---\ndefaults: shop\n") {
		t.Errorf("exported:\n%s", whole)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "_defaults_shop.yaml")); err != nil ||
		string(data) != "defaults: shop\ntimeout: \"1h\"\n" {
		t.Errorf("file: %q, %v", data, err)
	}
	s.run("delete", "defaults", "shop", "*").want(t, exitOK)
	s.run("apply", "-f", dir, "--dry-run").want(t, exitOK)
	if d := of("shop"); !d.IsZero() {
		t.Errorf("a dry run has stored %+v", d)
	}
	s.run("apply", "-f", dir).want(t, exitOK, "1 unchanged")
	if shop, all := of("shop"), of("*"); shop.Timeout != "1h" || all.Retry.Max != 2 {
		t.Errorf("applied: %+v, %+v", shop, all)
	}
	if again := s.run("export").out; again != whole {
		t.Errorf("exported again:\n%s", again)
	}
	if one := s.run("export", "--group", "shop").out; strings.Contains(one, `"*"`) ||
		!strings.Contains(one, "defaults: shop") {
		t.Errorf("of one group:\n%s", one)
	}
	if job := s.run("export", "hello").out; strings.Contains(job, "defaults") {
		t.Errorf("a job by name:\n%s", job)
	}
	s.run("validate", "-f", dir).want(t, exitOK, "valid defaults of shop", "valid hello")
}

func TestDescribeJob_ShowsWhereValuesComeFrom(t *testing.T) {
	var j job
	data := `{"name":"hello","group":"shop","cronExpr":"@daily","command":"true","env":{"A":"own"},"meta":{"inherited":[
		{"from":"shop","retry":{"max":3},"timezone":"Asia/Tokyo","env":{"B":"shop"}},
		{"from":"*","timeout":"1h","notify":{"on":["failed"],"to":["ops"]}}]}}`
	if err := json.Unmarshal([]byte(data), &j); err != nil {
		t.Fatal(err)
	}
	var facts table
	j.policies(&facts)
	var out strings.Builder
	if err := facts.print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1h (all jobs)", "up to 3 times (group shop)", "ops of failed (all jobs)", "A=own\n",
		"B=shop (group shop)"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if j.Zone() != "Asia/Tokyo" {
		t.Errorf("time zone %q", j.Zone())
	}
}
