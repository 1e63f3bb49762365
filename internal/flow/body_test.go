package flow

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// largeFlow returns a definition that cannot be compressed well.
func largeFlow(steps, bytesEach int) *common.Job {
	random := rand.New(rand.NewPCG(1, 1))
	job := &common.Job{Name: "f"}
	for i := range steps {
		text := make([]byte, bytesEach)
		for n := range text {
			text[n] = byte('a' + random.IntN(26))
		}
		job.Steps = append(job.Steps, common.Step{Name: fmt.Sprintf("s%d", i), Command: string(text)})
	}
	return job
}

func TestBody_RoundTrip(t *testing.T) {
	job := largeFlow(60, 20<<10)
	job.Group, job.Env, job.CronExpr = "g", map[string]string{"A": "<b> & 'c'"}, "* * * * *"
	job.Outputs = map[string]common.Output{"n": {Value: "${{ steps.z.status }}"}}
	job.Steps = append(job.Steps, with(inline("z", "s0"), func(s *common.Step) {
		s.After = append(s.After, common.Edge{Step: "s1", On: common.OnDone})
		s.Outputs = map[string]common.Output{"l": {List: true}}
	}))
	parts, digest, err := Encode(job)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 5 {
		t.Errorf("%d parts, want 5 for 1.2 MB", len(parts))
	}
	for i, part := range parts {
		if len(part) > 256<<10 {
			t.Errorf("part %d has %d bytes", i, len(part))
		}
	}
	def, err := Decode(parts, digest)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := json.Marshal(job.Steps)
	after, _ := json.Marshal(def.Job.Steps)
	if !bytes.Equal(before, after) || def.Job.Env["A"] != "<b> & 'c'" || def.Job.Group != "g" ||
		def.Job.Outputs["n"].Value != "${{ steps.z.status }}" {
		t.Error("the definition has changed")
	}
	if def.Job.CronExpr != "" {
		t.Error("the schedule is part of the body")
	}
}

func TestBody_Digest_DependsOnWhatRuns(t *testing.T) {
	digest := func(change func(*common.Job)) string {
		job := steps(inline("a"), inline("b", "a"))
		change(&job)
		_, digest, err := Encode(&job)
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	same := digest(func(*common.Job) {})
	for name, change := range map[string]func(*common.Job){
		"pause":       func(j *common.Job) { j.Paused = true },
		"schedule":    func(j *common.Job) { j.CronExpr = "@daily" },
		"description": func(j *common.Job) { j.Description = "x" },
		"long edge":   func(j *common.Job) { j.Steps[1].After = []common.Edge{{Step: "a"}} },
	} {
		if digest(change) != same {
			t.Errorf("%s changes the digest", name)
		}
	}
	for name, change := range map[string]func(*common.Job){
		"env":     func(j *common.Job) { j.Env = map[string]string{"A": "b"} },
		"command": func(j *common.Job) { j.Steps[0].Command = "false" },
		"edge":    func(j *common.Job) { j.Steps[1].After[0].On = common.OnDone },
	} {
		if digest(change) == same {
			t.Errorf("%s does not change the digest", name)
		}
	}
}

func TestBody_HostileParts_AreRejected(t *testing.T) {
	parts, digest, err := Encode(largeFlow(30, 20<<10))
	if err != nil || len(parts) < 3 {
		t.Fatal(len(parts), err)
	}
	swapped := slices.Clone(parts)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	bomb := zipped(t, make([]byte, 64<<20)) // 64 KiB, a thousand times as much when it is decompressed
	other := []byte(`{"job":{"name":"f","steps":[{"name":"a","command":"true","after":[{"step":1}]}]}}`)
	padded := append([]byte(`{"job":{"name":"f"}}`), bytes.Repeat([]byte(" "), partSize)...)
	for name, c := range map[string]struct {
		parts  [][]byte
		digest string
	}{
		"large part":     {[][]byte{zipped(t, padded)}, digestOf(padded[:partSize+1])},
		"none":           {nil, digest},
		"missing":        {parts[:len(parts)-1], digest},
		"swapped":        {swapped, digest},
		"other digest":   {parts, strings.Repeat("0", 64)},
		"not gzip":       {[][]byte{[]byte("{}")}, digestOf([]byte("{}"))},
		"cut":            {[][]byte{parts[0][:100]}, digest},
		"bomb":           {[][]byte{bomb}, digest},
		"many bombs":     {slices.Repeat([][]byte{bomb}, 33), digest},
		"too many parts": {slices.Repeat([][]byte{zipped(t, nil)}, 34), digestOf(nil)},
		"9 MiB in parts": {slices.Repeat([][]byte{zipped(t, make([]byte, partSize))}, 33), digest},
		"no JSON":        {[][]byte{zipped(t, []byte("["))}, digestOf([]byte("["))},
		"other types":    {[][]byte{zipped(t, other)}, digestOf(other)},
	} {
		if def, err := Decode(c.parts, c.digest); err == nil {
			t.Errorf("%s: decoded to %.100v", name, def)
		}
	}
	if _, _, err := Encode(largeFlow(140, 60<<10)); err == nil {
		t.Error("a body of more than 8 MiB is encoded")
	}
}

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"job":{"name":"f","steps":[{"name":"a","command":"true"}]}}`))
	f.Add([]byte(`{"job":{"steps":[{"name":"b","after":["a"],"when":"steps.a.exitCode==1","forEach":{"list":"params.P"}}]}}`))
	f.Add([]byte(`{"job":{"steps":[{"name":"a","after":["a"]},{"name":"a"}],"outputs":{"x":"${{ steps.a.status }}"}}}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		def, err := Decode([][]byte{zipped(t, data)}, digestOf(data))
		if err != nil {
			return
		}
		faults := Validate(&def.Job)
		g, err := Compile(&def.Job)
		if err != nil {
			if len(faults) == 0 {
				t.Errorf("valid, and cannot be compiled: %v", err)
			}
			return
		}
		state := New(g, &common.Head{Run: "r"})
		state.Next(10)
		parts, digest, err := Encode(&def.Job)
		if err != nil {
			return
		}
		if _, err := Decode(parts, digest); err != nil {
			t.Errorf("cannot be decoded again: %v", err)
		}
	})
}

func TestRefer_CountsStepsAndConstantItems(t *testing.T) {
	job := common.Job{Name: "f", Params: map[string]common.Param{"L": {}}, Steps: []common.Step{inline("a"),
		with(inline("b"), func(s *common.Step) { s.ForEach = &common.ForEach{Items: []string{"x", "y", "z"}} }),
		with(inline("c"), func(s *common.Step) { s.ForEach = &common.ForEach{List: "params.L"} })}}
	_, ref, err := Refer(&job)
	if err != nil || ref.Nodes() != 6 {
		t.Errorf("%+v, %v: want 6 nodes", ref, err)
	}
}

func TestRefer_JoinsNeedTheirFeature(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*common.Step)
		needs  bool
	}{
		"a plain one": {func(*common.Step) {}, false},
		"a join":      {func(s *common.Step) { s.Command, s.Join = "", true }, true},
		"another rule": {func(s *common.Step) {
			s.Rule = common.RuleNoneFailed
		}, false},
		"one success": {func(s *common.Step) { s.Rule = common.RuleNoneFailedOneSuccess }, true},
	} {
		job := common.Job{Name: "f", Steps: []common.Step{inline("a"), with(inline("b", "a"), c.change)}}
		if faults := Validate(&job); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		_, ref, err := Refer(&job)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(ref.Needs, common.FeatureJoins); got != c.needs {
			t.Errorf("%s: needs are %v", name, ref.Needs)
		}
	}
}

// Workers that would let anyone answer an approval, or for ever, must not keep its flow runs.
func TestRefer_NeedsTheFeatureOfApprovals(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*common.Approval)
		needs  bool
	}{
		"a text and a timeout": {func(*common.Approval) {}, false},
		"the default timeout":  {func(a *common.Approval) { a.Timeout = "" }, true},
		"a value in the text":  {func(a *common.Approval) { a.Text = "${{ run.id }}?" }, true},
		"approvers":            {func(a *common.Approval) { a.Approvers = &common.Approvers{Group: "x"} }, true},
	} {
		a := &common.Approval{Text: "?", Timeout: "1h"}
		c.change(a)
		job := common.Job{Name: "f", Steps: []common.Step{{Name: "ok", Approval: a}}}
		if faults := Validate(&job); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		_, ref, err := Refer(&job)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(ref.Needs, common.FeatureApprovals); got != c.needs {
			t.Errorf("%s: needs are %v", name, ref.Needs)
		}
	}
}

// The dates of a text are those of the flow's time zone, which its body then contains.
func TestRefer_DateInTheTextOfAnApproval_NeedsTheTimeZone(t *testing.T) {
	digests := map[string]bool{}
	for _, zone := range []string{"UTC", "Europe/Berlin"} {
		_, ref, err := Refer(&common.Job{Name: "f", Timezone: zone, Steps: []common.Step{{Name: "ok",
			Approval: &common.Approval{Text: "${{ run.plannedDate }}?", Timeout: "1h"}}}})
		if err != nil {
			t.Fatal(err)
		}
		digests[ref.Digest] = true
	}
	if len(digests) != 2 {
		t.Errorf("digests: %v", digests)
	}
}

// Workers that would decide a flow run by other rules must not keep it.
func TestRefer_NeedsTheFeaturesOfWhatItReads(t *testing.T) {
	byDefault := ""
	for name, c := range map[string]struct {
		change func(*common.Job)
		needs  bool
	}{
		"a plain one":           {func(*common.Job) {}, false},
		"conditions of texts":   {func(j *common.Job) { j.Steps[1].When = "steps.a.outputs.v == '9'" }, false},
		"conditions of numbers": {func(j *common.Job) { j.Steps[1].When = "steps.a.exitCode == 9" }, false},
		"a text as a number":    {func(j *common.Job) { j.Steps[1].When = "steps.a.outputs.v > 9" }, true},
		"a date": {func(j *common.Job) {
			j.Env = map[string]string{"D": "${{ run.plannedDate }}"}
		}, true},
		"an interval": {func(j *common.Job) {
			j.Steps[1].Env = map[string]string{"D": "${{ run.intervalStart }}"}
		}, true},
		"a default": {func(j *common.Job) {
			j.Steps[0].Outputs = map[string]common.Output{"v": {Default: &byDefault}}
		}, true},
	} {
		job := common.Job{Name: "f", Timezone: "UTC", Steps: []common.Step{
			with(inline("a"), func(s *common.Step) { s.Outputs = map[string]common.Output{"v": {}} }),
			inline("b", "a")}}
		c.change(&job)
		if faults := Validate(&job); len(faults) > 0 {
			t.Errorf("%s: %v", name, faults)
		}
		_, ref, err := Refer(&job)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Contains(ref.Needs, common.FeatureValues); got != c.needs {
			t.Errorf("%s: needs are %v", name, ref.Needs)
		}
		stored := common.StoredJob{Job: common.Job{Name: "f"}, Flow: ref}
		if got := slices.Contains(stored.MustHave(), common.FeatureValues); got != c.needs {
			t.Errorf("%s: the job must have %v", name, stored.MustHave())
		}
	}
}
