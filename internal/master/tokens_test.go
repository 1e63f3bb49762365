package master

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/health/looptest"
	"carillon/internal/platform/config"
)

// The doctor names tokens that were written to etcd past the API, and only these.
func TestDoctor_TokenWrittenToEtcd_IsNamed(t *testing.T) {
	t.Parallel()
	client, store := shared.Start(t), looptest.Store(t)
	token, err := NewAccess(client, &config.OIDC{}).Bootstrap(t.Context(), common.Actor{Name: "test"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := newScraped(t, client, store, token)
	m.call(t, http.MethodPost, "/api/v1/tokens", `{"name":"ci","role":"viewer"}`)
	// examine waits until the check has the status: the audit may not have been delivered yet.
	examine := func(status string) string {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			var all struct {
				Findings []struct{ Check, Status, Text string }
			}
			if err := json.Unmarshal([]byte(m.call(t, http.MethodGet, "/api/v1/system/doctor", "")), &all); err != nil {
				t.Fatal(err)
			}
			for _, f := range all.Findings {
				if f.Check == "tokens" && f.Status == status {
					return f.Text
				}
			}
			if time.Now().After(deadline) {
				t.Fatalf("not %s: %+v", status, all.Findings)
			}
		}
	}
	examine("ok")
	planted := access.NewToken()
	record := planted.Record(access.TokenRequest{Name: "planted", Role: access.Admin}, nil, "root", time.Now())
	data, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Put(t.Context(), common.TokenKey(planted.ID), string(data)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("1 token was made by no request that the audit contains: planted (%s)", planted.ID)
	if got := examine("failing"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.call(t, http.MethodDelete, "/api/v1/tokens/"+planted.ID, "")
	if got := examine("ok"); strings.Contains(got, "planted") {
		t.Errorf("got %q", got)
	}
}
