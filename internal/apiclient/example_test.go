package apiclient_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// respond starts a server with one response.
func respond(status int, kind, body string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
}

func ExampleNew() {
	server := respond(http.StatusOK, "application/json", `{"version":"1.4.0","go":"go1.26"}`)
	defer server.Close()
	api, err := apiclient.New(apiclient.Options{Server: server.URL, Token: "the token"})
	if err != nil {
		fmt.Println(err)
		return
	}
	version, err := apiclient.Decode[apiclient.Version](api.Version(context.Background()))
	fmt.Println(version.Version, err)
	// Output: 1.4.0 <nil>
}

// A token is not sent over plain HTTP to another machine.
func ExampleNew_insecure() {
	_, err := apiclient.New(apiclient.Options{Server: "http://carillon.example.com", Token: "the token"})
	fmt.Println(common.CodeOf(err))
	// Output: forbidden
}

// RunJob requests a run, with an idempotency key so that a repeated request does not start another one.
func ExampleDecode() {
	server := respond(http.StatusAccepted, "application/json",
		`{"id":"4x2k.t7q.1","job":"backup","fire":"4x2k.t7q","attempt":1,"cause":"manual","status":"waiting"}`)
	defer server.Close()
	api, err := apiclient.New(apiclient.Options{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	key, note := "deploy-2026-12-24", "before the deployment"
	run, err := apiclient.Decode[apiclient.Run](api.RunJob(context.Background(), "backup",
		&apiclient.RunJobParams{IdempotencyKey: &key}, apiclient.RunRequest{Note: &note}))
	fmt.Println(run.Id, run.Status, err)
	// Output: 4x2k.t7q.1 waiting <nil>
}

// An error response becomes a *common.Error with a stable code and all faults of the request.
func ExampleRead() {
	server := respond(http.StatusUnprocessableEntity, "application/problem+json", `{"status":422,"code":"invalid",
		"title":"Unprocessable Entity","detail":"the job cannot be saved",
		"errors":[{"location":"body.timeout","code":"duration","message":"is not a duration"}]}`)
	defer server.Close()
	api, err := apiclient.New(apiclient.Options{Server: server.URL})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = apiclient.Read(api.GetJob(context.Background(), "backup"))
	var failure *common.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Code, failure.Faults[0].Location, failure.Faults[0].Message)
	}
	// Output: invalid timeout is not a duration
}
