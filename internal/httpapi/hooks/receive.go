package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/hooks"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/strict"
)

// Limits of wrong keys and signatures, per network: those of failed logins.
const (
	failBurst  = 5
	failWindow = time.Minute
)

var sizeOfBody = strconv.Itoa(hooks.MaxBody>>20) + " MiB"

// receiver receives deliveries.
type receiver struct {
	*Resource
	failed *access.Limiter // by network
	taken  *access.Limiter // by hook
}

func newReceiver(s *Resource) *receiver {
	return &receiver{
		Resource: s,
		failed:   access.NewLimiter(failBurst, failWindow),
		taken:    access.NewLimiter(hooks.DefaultRate, time.Minute),
	}
}

// HookStarted identifies the run that a delivery has started.
type HookStarted struct {
	Fire string `json:"fire"`
	Run  string `json:"run"`
	Link string `json:"link" doc:"The run in the console. Without the setting publicURL, a path of this server."`
}

func (s *receiver) register(r *core.Router) {
	schema := r.API.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[HookStarted](), true, "")
	text := &huma.Schema{Type: huma.TypeString}
	op := &huma.Operation{
		OperationID: "call-hook",
		Method:      http.MethodPost,
		Path:        core.HookPath + "{key}",
		Summary:     "Start the job of a hook",
		Tags:        []string{"jobs"},
		Parameters: []*huma.Param{{Name: "key", In: "path", Required: true, Schema: text,
			Description: "Key of the hook."}},
		RequestBody: &huma.RequestBody{
			Description: "What the sender tells, at most " + sizeOfBody + ".",
			Content: map[string]*huma.MediaType{
				"application/json":                  {Schema: &huma.Schema{}},
				"application/x-www-form-urlencoded": {Schema: &huma.Schema{Type: huma.TypeObject}},
			},
		},
		Responses: map[string]*huma.Response{
			"202": {
				Description: "The run is requested.",
				Headers: map[string]*huma.Param{"Location": {Description: "The run.", Schema: &huma.Schema{
					Type: huma.TypeString, Format: "uri-reference"}}},
				Content: map[string]*huma.MediaType{"application/json": {Schema: schema}, "text/html": {Schema: text}},
			},
			"204": {Description: "A ping of GitHub: nothing was started."},
		},
	}
	r.Plain(core.Public, op, s)
	for _, code := range []common.Code{common.CodeInvalid, common.CodeNotFound, common.CodeForbidden,
		common.CodeConflict, common.CodeTooLarge, common.CodeUnsupportedType, common.CodeTooMany,
		common.CodeUnavailable, common.CodeInternal} {
		op.Responses[strconv.Itoa(core.StatusOf(code))] = &huma.Response{
			Description: "Nothing was started.",
			Content: map[string]*huma.MediaType{
				core.ProblemType: {Schema: core.ProblemSchema(r.API)},
				"text/html":      {Schema: text},
			},
		}
	}
	for _, code := range []common.Code{common.CodeTooMany, common.CodeUnavailable} {
		op.Responses[strconv.Itoa(core.StatusOf(code))].Headers = map[string]*huma.Param{"Retry-After": {
			Description: "Seconds to wait before the next try.", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	}
}

// ServeHTTP answers a delivery: with a page to a browser that sends a form, else with JSON.
func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	trigger, err := s.receive(w, r)
	w.Header().Set("Cache-Control", "no-store")
	_, form := mediaTypeOf(r)
	asPage := form && strings.Contains(r.Header.Get("Accept"), "text/html")
	switch problem := s.problem(r.Context(), err); {
	case problem != nil && asPage:
		maps.Copy(w.Header(), problem.GetHeaders())
		page(w, r, problem.Status, false, problem.Detail)
	case problem != nil:
		s.Problems.Write(w, r, problem)
	case trigger == nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		out := HookStarted{Fire: trigger.Fire, Run: trigger.RunID()}
		out.Link = strings.TrimSuffix(s.PublicURL, "/") + "/runs/" + url.PathEscape(out.Run)
		w.Header().Set("Location", "/api/v1/runs/"+out.Run)
		if asPage {
			page(w, r, http.StatusAccepted, true, out.Run)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(out) // the client may be gone
	}
}

func (s *receiver) problem(ctx context.Context, err error) *core.Problem {
	if err == nil {
		return nil
	}
	return s.Problems.Of(ctx, err)
}

// receive starts the job of a delivery; nil for a ping.
func (s *receiver) receive(w http.ResponseWriter, r *http.Request) (*common.Trigger, error) {
	ctx := r.Context()
	h, err := s.hook(ctx, strings.TrimPrefix(r.URL.Path, core.HookPath))
	if err != nil {
		return nil, err
	}
	d := &hooks.Delivery{Header: r.Header, At: s.Now()}
	if d.Body, err = readBody(w, r); err != nil {
		return nil, err
	}
	once, err := s.verify(ctx, &h, d)
	if err != nil {
		return nil, err
	}
	if h.Disabled {
		return nil, common.Errorf(common.CodeConflict, "the hook is disabled").WithReason("hook_disabled")
	}
	if d.IsPing() {
		return nil, nil
	}
	if wait, ok := s.taken.TakeUpTo(d.At, h.ID, h.PerMinute()); !ok {
		core.VisitOf(ctx).Quiet = true
		return nil, &common.Error{
			Code:       common.CodeTooMany,
			Reason:     "hook_rate",
			Message:    fmt.Sprintf("the hook accepts %d deliveries a minute", h.PerMinute()),
			Data:       common.WordsOf("most", h.PerMinute()),
			RetryAfter: wait,
		}
	}
	request, err := s.request(r, &h, d, once)
	if err != nil {
		return nil, err
	}
	trigger, err := s.Jobs.Trigger(ctx, h.Actor(core.VisitOf(ctx).Remote), request)
	if e, is := errors.AsType[*common.Error](err); is && (e.Code == common.CodeNotFound || e.Reason == "job_replaced") {
		return nil, errUnknown() // the job was deleted, as the hook will be
	}
	return &trigger, err
}

func errUnknown() error { return common.Errorf(common.CodeNotFound, "not found") }

// hook returns the hook of a key.
func (s *receiver) hook(ctx context.Context, text string) (hooks.Hook, error) {
	err := errUnknown()
	if key, ok := hooks.ParseKey(text); ok {
		var h hooks.Hook
		if h, err = s.Hooks.Find(ctx, key); err == nil {
			return h, nil
		}
	}
	if common.CodeOf(err) == common.CodeNotFound {
		core.VisitOf(ctx).Quiet = true // everyone can send these
		err = s.refuse(ctx, err)
	}
	return hooks.Hook{}, err
}

// refuse counts a wrong key or signature, and returns the error, or that of too many.
func (s *receiver) refuse(ctx context.Context, err error) error {
	visit := core.VisitOf(ctx)
	wait, ok := s.failed.Take(s.Now(), access.Network(visit.Remote))
	if ok {
		return err
	}
	visit.Quiet = true
	return &common.Error{
		Code:       common.CodeTooMany,
		Reason:     "hook_attempts",
		Message:    "too many deliveries with a wrong key or signature",
		Hint:       "wait a minute, then retry",
		RetryAfter: wait,
	}
}

// verify checks the signature of a delivery; once is the signature, if it includes a time.
func (s *receiver) verify(ctx context.Context, h *hooks.Hook, d *hooks.Delivery) (once string, err error) {
	secret, err := s.Hooks.Secret(h)
	if err != nil {
		return "", err
	}
	once, ok := h.Verify(secret, d)
	if !ok {
		err = s.refuse(ctx, common.Errorf(common.CodeForbidden, "the signature is missing or wrong, or too old").
			WithReason("hook_signature").With("header", h.SignatureHeader()).
			WithHint("send it in the header "+h.SignatureHeader()))
		if visit := core.VisitOf(ctx); !visit.Quiet {
			s.Problems.Log.WarnContext(ctx, "hook_signature_refused", "request_id", visit.RequestID,
				"job", h.Job, "hook", h.Name, "remote", visit.Remote)
		}
	}
	return once, err
}

// request returns what a delivery requests.
func (s *receiver) request(r *http.Request, h *hooks.Hook, d *hooks.Delivery, once string) (common.TriggerRequest,
	error) {
	request := common.TriggerRequest{Job: h.Job, JobUID: h.JobUID, Hook: h.ID}
	if parent, valid := common.ParseTraceparent(r.Header.Get("traceparent")); valid {
		request.Traceparent = parent.Traceparent()
	}
	// A signature with a time identifies its delivery: a header, which it does not cover, could be replaced.
	if once != "" {
		request.Key = "hook " + h.ID + " " + once
	} else if header, id := h.DeliveryID(d); id != "" {
		if err := core.CheckKey(id); err != nil {
			return request, err
		}
		request.Key, request.Note = "hook "+h.ID+" "+header+" "+id, header+" "+id
	}
	content, err := contentOf(r, h, d.Body)
	if err != nil {
		return request, err
	}
	values, faults := h.Values(content)
	if len(faults) > 0 {
		return request, common.Invalid("the run cannot be requested", faults...)
	}
	if len(values) > 0 {
		request.Params = values
	}
	return request, nil
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, hooks.MaxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		fault := common.NewFault("body", "too_large", nil, "must be at most %s", sizeOfBody)
		return nil, &common.Error{Code: common.CodeTooLarge, Message: "the body is too large",
			Faults: common.Faults{*fault.With("size", sizeOfBody)}}
	}
	if err != nil {
		return nil, core.BadRequest(common.NewFault("body", "incomplete", nil, "is incomplete"))
	}
	return data, nil
}

// mediaTypeOf reports whether the body of a request is JSON, or a form.
func mediaTypeOf(r *http.Request) (isJSON, isForm bool) {
	mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return false, false
	}
	return mediaType == "application/json" || strings.HasSuffix(mediaType, "+json"),
		mediaType == "application/x-www-form-urlencoded"
}

// contentOf decodes a delivery, unless the hook takes no values from it.
func contentOf(r *http.Request, h *hooks.Hook, body []byte) (c hooks.Content, err error) {
	if !h.Reads() {
		return c, nil
	}
	if c.Form, err = url.ParseQuery(r.URL.RawQuery); err != nil {
		return c, core.BadRequest(common.NewFault("query", "query", nil, "is not a valid query string"))
	}
	isJSON, isForm := mediaTypeOf(r)
	switch {
	case len(body) == 0:
	case isJSON:
		value, fault := strict.Parse(body)
		if fault != nil {
			return c, core.BadRequest(*fault)
		}
		c.JSON = value
	case isForm && h.ReadsForms():
		fields, err := url.ParseQuery(string(body))
		if err != nil {
			return c, core.BadRequest(common.NewFault("body", "form", nil, "is not a valid form"))
		}
		for name, values := range fields {
			c.Form[name] = append(c.Form[name], values...)
		}
	default:
		must := "must be application/json"
		if h.ReadsForms() {
			must += " or application/x-www-form-urlencoded"
		}
		return c, &common.Error{
			Code: common.CodeUnsupportedType, Message: "the body has a type that the hook cannot read",
			Faults: common.Faults{common.NewFault("header.Content-Type", "media_type", r.Header.Get("Content-Type"),
				"%s", must)},
		}
	}
	return c, nil
}
