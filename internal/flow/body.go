package flow

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"carillon/internal/common"
)

// partSize is the number of bytes of JSON in each part but the last. It is below 256 KiB even if nothing can be
// compressed. Parts are cut before they are compressed, so that a part is the same whichever version wrote it.
const partSize = 255 << 10

// maxParts is the number of parts of the largest body.
const maxParts = (common.MaxFlowBytes + partSize - 1) / partSize

// Definition is what a body contains.
type Definition struct {
	Job common.Job `json:"job"` // the fields of the flow that its runs need

	size int // bytes of JSON
}

// Size returns the size of the body as JSON, in bytes.
func (d *Definition) Size() int { return d.size }

// Stored names a body that etcd holds, or a part of one.
type Stored struct{ UID, Digest string }

// ErrDefinition means that the body of a flow is missing or damaged where it is stored: to read it again does not help.
var ErrDefinition = errors.New("the definition of the flow is missing or damaged")

var errTooLarge = errors.New("the definition of the flow is larger than 8 MiB")

// Encode returns the parts of the body of a definition, and its digest. Fields that concern the schedule, the texts
// and the retention of the flow are not included: changing them does not change the body. The time zone is, if steps
// read dates.
func Encode(job *common.Job) (parts [][]byte, digest string, err error) {
	parts, ref, err := Refer(job)
	if err != nil {
		return nil, "", err
	}
	return parts, ref.Digest, nil
}

// Refer is Encode, and returns the reference to the body that is stored with the job.
func Refer(job *common.Job) (parts [][]byte, ref *common.FlowRef, err error) {
	read := readsOf(job)
	data, err := canonical(&Definition{Job: bodyJob(job, read)})
	if err != nil {
		return nil, nil, fmt.Errorf("encode flow %q: %w", job.Name, err)
	}
	if len(data) > common.MaxFlowBytes {
		return nil, nil, errTooLarge
	}
	steps, err := canonical(job.Steps)
	if err != nil {
		return nil, nil, fmt.Errorf("encode the steps of flow %q: %w", job.Name, err)
	}
	sum, stepsSum := sha256.Sum256(data), sha256.Sum256(steps)
	ref = &common.FlowRef{Digest: hex.EncodeToString(sum[:]), Bytes: len(data), Steps: len(job.Steps),
		StepsSum: hex.EncodeToString(stepsSum[:16]), Secrets: Secrets(job), Types: common.StepTypes(job.Steps),
		Needs: read.needs(), Runs: named(Jobs(job)), WaitsFor: named(waitsFor(job))}
	for i := range job.Steps {
		if job.Steps[i].Kind() == common.JobStep {
			ref.Jobs++
		}
		if f := job.Steps[i].ForEach; f != nil {
			ref.Items += len(f.Items)
		}
	}
	for len(data) > 0 {
		n := min(partSize, len(data))
		var part bytes.Buffer
		out := gzip.NewWriter(&part)
		if _, err := out.Write(data[:n]); err != nil {
			return nil, nil, fmt.Errorf("compress flow %q: %w", job.Name, err)
		}
		if err := out.Close(); err != nil {
			return nil, nil, fmt.Errorf("compress flow %q: %w", job.Name, err)
		}
		parts, data = append(parts, part.Bytes()), data[n:]
	}
	ref.Parts = len(parts)
	return parts, ref, nil
}

// named returns the first of the names of jobs that a reference holds.
func named(jobs []string) []string { return jobs[:min(len(jobs), common.MaxFlowNames)] }

// Decode returns the definition that parts contain. It fails if a part is missing or damaged: the digest covers all of
// them. It never decompresses more than the bound of a body.
func Decode(parts [][]byte, digest string) (*Definition, error) {
	if len(parts) == 0 || len(parts) > maxParts {
		return nil, fmt.Errorf("the definition of the flow has %d parts, not 1 to %d", len(parts), maxParts)
	}
	var data []byte
	for i, part := range parts {
		in, err := gzip.NewReader(bytes.NewReader(part))
		if err != nil {
			return nil, fmt.Errorf("part %d of the definition: %w", i, err)
		}
		piece, err := io.ReadAll(io.LimitReader(in, partSize+1))
		if err != nil {
			return nil, fmt.Errorf("part %d of the definition: %w", i, err)
		}
		if len(piece) > partSize || len(data)+len(piece) > common.MaxFlowBytes {
			return nil, fmt.Errorf("part %d of the definition: %w", i, errTooLarge)
		}
		data = append(data, piece...)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("the definition of the flow does not match its digest %.64q", digest)
	}
	def, err := common.Decode[Definition](data)
	if err != nil {
		return nil, fmt.Errorf("decode the definition of the flow: %w", err)
	}
	def.size = len(data)
	return &def, nil
}

// bodyJob returns the fields of a flow that its runs need.
func bodyJob(job *common.Job, r reads) common.Job {
	zone := ""
	if r.dates {
		zone = job.Zone()
	}
	return common.Job{
		Timezone:    zone,
		Name:        job.Name,
		Group:       job.Group,
		Shell:       job.Shell,
		Env:         job.Env,
		WorkDir:     job.WorkDir,
		User:        job.User,
		KillGrace:   job.KillGrace,
		Retry:       job.Retry,
		MemoryMax:   job.MemoryMax,
		TasksMax:    job.TasksMax,
		Output:      job.Output,
		Params:      job.Params,
		OnLost:      job.OnLost,
		LostAfter:   job.LostAfter,
		Placement:   job.Placement,
		Priority:    job.Priority,
		Steps:       job.Steps,
		Concurrency: job.Concurrency,
		FailFast:    job.FailFast,
		Outputs:     job.Outputs,
	}
}

// canonical returns the JSON of a value: the same bytes for the same value, without escapes for HTML.
func canonical(value any) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
