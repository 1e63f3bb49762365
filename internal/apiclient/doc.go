// Package apiclient speaks to Carillon's REST API. What an operation takes and
// gives is generated from the OpenAPI document (client.gen.go; the guard test
// tells when it is stale, and go generate makes it anew); the rest of the package
// adds who asks, turns refusals into *common.Error, and follows no redirect.
//
// It promises that a token never leaves over plain HTTP for another machine unless
// InsecureHTTP says so, that an answer is read within bounds, and that every error
// has a code: CodeUnavailable where the server cannot be reached. It starts no
// goroutine, and repeats only what the server refused with 429 and Retry-After, where Options.Patience says so.
package apiclient

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 --config oapi-codegen.yaml ../../api/openapi-3.0.json
//go:generate sh -c "sha256sum < ../../api/openapi-3.0.json | cut -d' ' -f1 > openapi.sha256"
