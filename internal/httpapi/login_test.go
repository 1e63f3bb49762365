package httpapi

import (
	"net/http"
	"testing"
	"time"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
)

// TestLoginAgainstEtcd goes the way of a first start: bootstrap, login link, session, logout.
func TestLoginAgainstEtcd(t *testing.T) {
	store := accessetcd.New(etcdtest.Start(t), time.Now, nil)
	token, err := store.Bootstrap(t.Context(), common.Actor{Name: "host"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	code, err := store.CreateLoginCode(t.Context(), common.Actor{Name: "host"}, token)
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, func(c *Config) { c.Auth = store })
	c := login(t, h, `{"code":"`+code+`"}`)
	session := c.Name + "=" + c.Value
	h.problem(http.StatusUnauthorized, "unauthenticated", "",
		as("", http.MethodPost, "/api/v1/auth/login", `{"code":"`+code+`"}`))
	h.want(http.StatusCreated, as("", http.MethodPost, "/api/v1/jobs", aJob, "Cookie", session))
	h.want(http.StatusOK, as("", http.MethodGet, "/api/v1/jobs", "", "Authorization", "Bearer "+token))
	h.want(http.StatusUnauthorized, as("", http.MethodGet, "/api/v1/jobs", "", "Authorization", "Bearer "+c.Value))
	h.want(http.StatusUnauthorized, as("", http.MethodGet, "/api/v1/jobs", "", "Cookie", c.Name+"="+token))
	h.want(http.StatusNoContent, as("", http.MethodPost, "/api/v1/auth/logout", "", "Cookie", session))
	h.want(http.StatusUnauthorized, as("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", session))
}
