package accounts_test

import (
	"net/http"
	"testing"
	"time"

	accessetcd "carillon/internal/access/etcd"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
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
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Auth = store })
	c := apitest.Login(t, h, `{"code":"`+code+`"}`)
	session := c.Name + "=" + c.Value
	h.Problem(http.StatusUnauthorized, "unauthenticated", "",
		apitest.As("", http.MethodPost, "/api/v1/auth/login", `{"code":"`+code+`"}`))
	h.Want(http.StatusCreated, apitest.As("", http.MethodPost, "/api/v1/jobs", apitest.AJob, "Cookie", session))
	h.Want(http.StatusOK, apitest.As("", http.MethodGet, "/api/v1/jobs", "", "Authorization", "Bearer "+token))
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/jobs", "", "Authorization",
		"Bearer "+c.Value))
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/jobs", "", "Cookie", c.Name+"="+token))
	h.Want(http.StatusNoContent, apitest.As("", http.MethodPost, "/api/v1/auth/logout", "", "Cookie", session))
	h.Want(http.StatusUnauthorized, apitest.As("", http.MethodGet, "/api/v1/auth/me", "", "Cookie", session))
}
