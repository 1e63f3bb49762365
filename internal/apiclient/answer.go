package apiclient

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"carillon/internal/common"
)

// maxAnswer bounds the response that is read into memory; a page of jobs can be large.
const maxAnswer = 64 << 20

// Read takes the result of a call and returns the body of a successful response.
func Read(resp *http.Response, err error) ([]byte, error) {
	body, err := Open(resp, err)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unavailable(err)
	case len(data) > maxAnswer:
		return nil, common.Errorf(common.CodeTooLarge, "the server's answer is larger than %d MiB", maxAnswer>>20)
	}
	return data, nil
}

// Decode takes the result of a call and decodes a successful response as T.
func Decode[T any](resp *http.Response, err error) (T, error) {
	var v T
	data, err := Read(resp, err)
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, &common.Error{Code: common.CodeUnavailable, Message: "the server's answer cannot be read",
			Hint: "is this Carillon, and no older than this program?", Err: err}
	}
	return v, nil
}

// Open takes the result of a call and returns the body of a successful response, which the caller closes.
func Open(resp *http.Response, err error) (io.ReadCloser, error) {
	if err != nil {
		return nil, unavailable(err)
	}
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	return nil, refusal(resp)
}

// unavailable returns the error of a server that did not respond.
func unavailable(err error) error {
	cause := err
	if e, ok := errors.AsType[*url.Error](err); ok {
		cause = e.Err // without the URL, which the message need not repeat
	}
	return &common.Error{Code: common.CodeUnavailable, Message: "the server does not answer",
		Hint: "is it running, and is its address right? name it with --server or CARILLON_SERVER", Err: cause}
}

// refusal decodes a problem document. Any other body was not sent by Carillon.
func refusal(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	var p Problem
	data, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || kind != "application/problem+json" || json.Unmarshal(data, &p) != nil {
		return unexpectedAnswer(resp)
	}
	e := &common.Error{Code: common.Code(p.Code), Message: common.Excerpt(p.Title)}
	if p.Detail != "" {
		e.Message = p.Detail
	}
	if p.Hint != nil {
		e.Hint = *p.Hint
	}
	e.RetryAfter = retryAfter(resp.Header)
	if e.Code == common.CodeInternal && p.RequestId != "" {
		e.Message += " (request " + p.RequestId + ")"
	}
	if p.Errors != nil {
		for _, f := range *p.Errors {
			fault := common.Fault{Location: strings.TrimPrefix(f.Location, "body."), Code: f.Code, Message: f.Message}
			if f.Hint != nil {
				fault.Hint = *f.Hint
			}
			e.Faults = append(e.Faults, fault)
		}
	}
	return e
}

func unexpectedAnswer(resp *http.Response) error {
	e := common.Errorf(common.CodeUnavailable, "the server answered %q, and not as Carillon does", resp.Status)
	switch {
	case resp.StatusCode >= 300 && resp.StatusCode < 400:
		e.Hint = "it points to " + common.Excerpt(resp.Header.Get("Location")) + "; redirects are not followed"
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		e.Code = common.CodeForbidden
	}
	return e
}
