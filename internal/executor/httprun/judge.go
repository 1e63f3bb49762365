package httprun

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"carillon/internal/common"
)

const (
	firstRead = 2 << 10 // a response that hangs holds no more
	nextReads = common.MaxChunk
)

// judge reads the body of a response, and compares the response with the expected one.
func (x *exchange) judge(ctx context.Context, resp *http.Response) Result {
	defer func() { _ = resp.Body.Close() }()
	stored := x.request.Contains != "" || len(x.task.Outputs) > 0
	body, err := x.read(resp.Body, stored)
	status := strconv.Itoa(resp.StatusCode)
	var result Result
	switch {
	case errors.Is(err, errTooLarge):
		result = failed(ExitTooLarge, "http_too_large", "the body of the response is larger than %d bytes",
			x.request.MaxBody).with("max", strconv.FormatInt(x.request.MaxBody, 10))
	case err != nil:
		result = x.failure(ctx, err)
	case !x.request.Expects(resp.StatusCode):
		result = failed(ExitStatus, "http_status", "the response has the status %s",
			strings.TrimSpace(status+" "+http.StatusText(resp.StatusCode))).with("status", status)
	case x.request.Contains != "" && !bytes.Contains(body, []byte(x.request.Contains)):
		result = failed(ExitBody, "http_body", "the body of the response does not contain the expected text")
	default:
		result = Result{Outputs: map[string]string{}}
	}
	result.Outputs[common.OutputStatus] = status
	if err == nil {
		result.find(x.task.Outputs, body)
	}
	return result
}

var errTooLarge = errors.New("the body is too large")

// read passes on a body, and returns it if it is to be stored.
func (x *exchange) read(in io.Reader, stored bool) (body []byte, err error) {
	buf := make([]byte, firstRead)
	for total := int64(0); ; {
		n, err := in.Read(buf)
		if n > 0 {
			if total += int64(n); total > x.request.MaxBody {
				return nil, errTooLarge
			}
			x.out(common.Stdout, buf[:n])
			if stored {
				body = append(body, buf[:n]...)
			}
			if n == firstRead && len(buf) == firstRead {
				buf = make([]byte, nextReads)
			}
		}
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// find reads the declared outputs from a JSON body.
func (r *Result) find(declared map[string]common.Output, body []byte) {
	if len(declared) == 0 {
		return
	}
	in := json.NewDecoder(bytes.NewReader(body))
	in.UseNumber()
	var document any
	if in.Decode(&document) != nil {
		return // all of them are missing
	}
	for name, output := range declared {
		value, found := at(document, output.Pointer)
		if !found || value == nil {
			continue
		}
		if list, isList := value.([]any); output.List && isList {
			r.Outputs[name] = items(list)
		} else {
			r.Outputs[name] = text(value)
		}
	}
}

// at returns the value of a JSON pointer.
func at(value any, pointer string) (any, bool) {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := value.(type) {
		case map[string]any:
			below, found := v[token]
			if !found {
				return nil, false
			}
			value = below
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = v[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// items returns a list with one item per line: a line break within an item is shown as in JSON.
func items(list []any) string {
	lines := make([]string, len(list))
	for i, item := range list {
		if lines[i] = text(item); strings.ContainsAny(lines[i], "\r\n") {
			data, _ := json.Marshal(item)
			lines[i] = string(data)
		}
	}
	return strings.Join(lines, "\n")
}

// text returns a text as it is, and any other value as JSON.
func text(value any) string {
	if s, isText := value.(string); isText {
		return s
	}
	data, _ := json.Marshal(value) // it was decoded from JSON
	return string(data)
}
