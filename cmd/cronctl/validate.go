package main

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// validation is what the server thinks of a job.
type validation struct {
	Job    common.Job     `json:"job"` // as it would be stored
	Faults []common.Fault `json:"faults"`
}

// validate asks the server about a job. What it refuses to look at, since it is not
// a job at all, is a list of faults as well.
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

// asError gives a copy of an error that has a code.
func asError(err error) (common.Error, bool) {
	e, ok := errors.AsType[*common.Error](err)
	if !ok {
		return common.Error{}, false
	}
	return *e, true
}
