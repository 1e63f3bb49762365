package main

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

func TestHooks(t *testing.T) {
	hooks := &apitest.FakeHooks{}
	s := newStageWith(t, func(cfg *httpapi.Config) { cfg.Hooks = hooks })
	s.jobs["deploy"] = common.JobState{Version: 1, StoredJob: common.StoredJob{UID: "aaaaaaaaaaaaaaaa",
		Job: common.Job{Name: "deploy", Command: "true", Params: common.Params{"REF": {}, "WHO": {}, "ENV": {}}}}}
	hooks.SetUID("deploy", "aaaaaaaaaaaaaaaa")
	made := s.run("create", "hook", "deploy", "push", "--param", "REF=$.ref", "--param",
		"WHO=optional:field:who", "--param", "ENV=value:a=b:c", "--signature", "github", "--rate", "7")
	made.want(t, exitOK, "saved hook push of deploy", "secret of the signature, which is not shown again: ")
	url := func(out string) string {
		t.Helper()
		at := regexp.MustCompile(`http://\S+/api/v1/hooks/crnh_\S+`).FindString(out)
		if !strings.HasPrefix(at, s.server.URL+"/api/") {
			t.Fatalf("no URL: %s", out)
		}
		return at
	}
	status := func(at string) int {
		t.Helper()
		resp, err := http.Post(at, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	first := url(made.out)
	if got := status(first); got != http.StatusForbidden {
		t.Errorf("without a signature: %d", got)
	}
	list := s.run("get", "hooks", "deploy")
	list.want(t, exitOK, "push", "on", "ENV=value:a=b:c REF=$.ref WHO=optional:field:who", "github", "7/min")
	if strings.Contains(list.out, "crnh_") {
		t.Errorf("the list shows the key: %s", list.out)
	}
	s.run("set", "hook", "deploy", "push", "--disabled").want(t, exitOK, "saved hook push")
	if hooks.Meant == 0 {
		t.Error("the change is for any version")
	}
	s.run("get", "hooks", "deploy").want(t, exitOK, "disabled", "REF=$.ref", "github", "7/min")
	s.run("set", "hook", "deploy", "push", "--disabled=false", "--signature", "none", "--param", "REF=field:ref").
		want(t, exitOK)
	s.run("get", "hooks", "deploy").want(t, exitOK, "on ", "REF=field:ref")
	second := url(s.run("rotate", "hook", "deploy", "push").out)
	if got := status(first); got != http.StatusNotFound {
		t.Errorf("the previous URL: %d", got)
	}
	if got := status(second); got != http.StatusUnprocessableEntity {
		t.Errorf("without a value: %d", got)
	}
	s.run("set", "hook", "deploy", "push", "--param", "REF=optional:$.ref").want(t, exitOK)
	if got := status(second); got != http.StatusAccepted {
		t.Errorf("the new URL: %d", got)
	}
	s.run("create", "hook", "deploy", "a", "--param", "REF=optional:value:x").want(t, exitUsage, "is no source")
	s.run("create", "hook", "deploy", "push").want(t, exitConflict)
	s.run("create", "hook", "deploy", "a", "--param", "REF=ref").want(t, exitUsage, "is no source", "field:FIELD")
	s.run("create", "hook", "deploy").want(t, exitUsage)
	s.run("create", "hook", "deploy", "A B").want(t, exitUsage)
	s.run("set", "hook", "deploy", "none", "--disabled").want(t, exitNotFound, "has no hook none")
	s.stdin = "a-shared-secret\n"
	signed := s.run("create", "hook", "deploy", "gl", "--signature", "gitlab", "--secret-file", "-")
	signed.want(t, exitOK, "URL, which is not shown again")
	if strings.Contains(signed.out, "secret") {
		t.Errorf("a given secret is printed: %s", signed.out)
	}
	s.run("delete", "hook", "deploy", "push").want(t, exitOK, "deleted hook push of deploy")
	s.run("delete", "hook", "deploy", "push").want(t, exitNotFound)
}
