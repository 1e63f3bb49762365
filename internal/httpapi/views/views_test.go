package views_test

import (
	"net/http"
	"strings"
	"testing"

	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/views"
)

func TestViews(t *testing.T) {
	h := apitest.NewHarness(t)
	const own, shared = `{"name":"Mine","query":"q=a&group=shop"}`, `{"name":"All","query":"","shared":true}`
	put := func(who, id, body string, headers ...string) *http.Request {
		return apitest.As(who, http.MethodPut, "/api/v1/views/"+id, body, headers...)
	}
	list := func(who string) string {
		t.Helper()
		var page struct{ Items []views.View }
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As(who, http.MethodGet, "/api/v1/views", "")), &page)
		var names []string
		for _, v := range page.Items {
			names = append(names, v.Name)
		}
		return strings.Join(names, ",")
	}
	made := h.Want(http.StatusCreated, put("viewer", "a", own, "If-None-Match", "*"))
	h.Want(http.StatusOK, put("viewer", "a", own, "If-Match", made.Header().Get("ETag")))
	h.Problem(http.StatusPreconditionFailed, "stale", "", put("viewer", "a", own, "If-None-Match", "*"))
	h.Problem(http.StatusForbidden, "forbidden", "", put("operator", "b", shared))
	h.Want(http.StatusCreated, put("editor", "b", shared))
	for who, want := range map[string]string{"viewer": "All,Mine", "editor": "All"} {
		if got := list(who); got != want && got != "Mine,All" {
			t.Errorf("%s sees %q, want %q", who, got, want)
		}
	}
	for body, fault := range map[string]string{
		`{"name":" ","query":""}`:                                    "body.name",
		`{"name":"a\nb","query":""}`:                                 "body.name",
		`{"name":"a","query":"?q=1"}`:                                "body.query",
		`{"name":"a","query":"q=%zz"}`:                               "body.query",
		`{"name":"a","query":"` + strings.Repeat("x", 2001) + `"}`:   "body.query",
		`{"name":"` + strings.Repeat("x", 61) + `","query":"state"}`: "body.name",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", fault, put("viewer", "c", body))
	}
	remove := func(who, target string) *http.Request {
		return apitest.As(who, http.MethodDelete, "/api/v1/views/"+target, "")
	}
	h.Problem(http.StatusNotFound, "not_found", "", remove("editor", "a"))
	h.Problem(http.StatusForbidden, "forbidden", "", remove("viewer", "b?shared=true"))
	h.Want(http.StatusNoContent, remove("editor", "b?shared=true"))
	h.Want(http.StatusNoContent, remove("viewer", "a"))
	h.Problem(http.StatusUnauthorized, "unauthenticated", "", apitest.As("", http.MethodGet, "/api/v1/views", ""))
}
