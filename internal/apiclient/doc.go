// Package apiclient is a client of Carillon's REST API. The types and operations are generated from the OpenAPI
// document (client.gen.go; a test fails if it is outdated, and go generate renews it); the rest of the package adds
// credentials, converts error responses to *common.Error, and follows no redirect.
//
// It promises that a token is never sent over plain HTTP to another machine unless InsecureHTTP is set, that responses
// are read within bounds, and that every error has a code: CodeUnavailable if the server cannot be reached. It starts
// no goroutine, and repeats a request only after 429 with Retry-After, within Options.Patience.
package apiclient

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 --config oapi-codegen.yaml ../../api/openapi-3.0.json
//go:generate sh -c "sha256sum < ../../api/openapi-3.0.json | cut -d' ' -f1 > openapi.sha256"
