package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// validation is the server's check of a job.
type validation struct {
	Job    common.Job     `json:"job"` // as it would be stored
	Faults []common.Fault `json:"faults"`
}

// validate has the server check a job. A text that is not a job at all is returned as a list of faults as well.
func validate(ctx context.Context, api *apiclient.API, data []byte) (validation, error) {
	v, err := apiclient.Decode[validation](api.ValidateJobWithBody(ctx, nil, jsonType, bytes.NewReader(data)))
	if err != nil {
		e, ok := asError(err)
		if !ok || e.Code != common.CodeInvalid || len(e.Faults) == 0 {
			return v, err
		}
		v.Faults = e.Faults
	}
	for i, f := range v.Faults {
		v.Faults[i].Location = strings.TrimPrefix(f.Location, "body.")
	}
	return v, nil
}

// asError returns a copy of an error that has a code.
func asError(err error) (common.Error, bool) {
	e, ok := errors.AsType[*common.Error](err)
	if !ok {
		return common.Error{}, false
	}
	return *e, true
}
