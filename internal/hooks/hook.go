package hooks

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Bounds of hooks.
const (
	MaxHooks    = 20      // of a job
	MaxBody     = 2 << 20 // of a push with many commits, or a notification of many alerts
	MaxRate     = 600     // deliveries a minute
	DefaultRate = 30
	MaxPath     = 200
	MaxHeader   = 64
	MinSecret   = 8
	MaxSecret   = 256
)

// Hook is a URL that starts a job, the value of /cron/hooks/<uid of the job>/<name>.
type Hook struct {
	ID        string                `json:"id"` // stays the same when the key is replaced
	Name      string                `json:"name"`
	Job       string                `json:"job"`
	JobUID    string                `json:"jobUid"`
	Hash      string                `json:"hash"` // of the key's secret
	Params    map[string]HookSource `json:"params,omitempty"`
	Signature Signature             `json:"signature,omitempty"`
	Header    string                `json:"header,omitempty"`
	Sealed    string                `json:"sealed,omitempty"` // the secret of the signature, encrypted
	Rate      int                   `json:"rate,omitempty"`
	Disabled  bool                  `json:"disabled,omitempty"`
	CreatedAt time.Time             `json:"createdAt"`
	UpdatedAt time.Time             `json:"updatedAt"`
	UpdatedBy string                `json:"updatedBy,omitempty"`
	RotatedAt time.Time             `json:"rotatedAt,omitzero"`

	Version int64 `json:"-"` // the etcd revision of its last change
}

// HookSource is where a parameter gets its value from: one of path, field and value is set.
type HookSource struct {
	Path  string  `json:"path,omitempty" maxLength:"200" doc:"Path into a JSON body: $.name, $.list[0].name or $[\"a name\"]." example:"$.ref"`
	Field string  `json:"field,omitempty" maxLength:"200" doc:"Name of a field of a form, or of a parameter in the query of the URL."`
	Value *string `json:"value,omitempty" maxLength:"4096" doc:"A fixed value."`
	// Optional lets a delivery without the value start the run all the same.
	Optional bool `json:"optional,omitempty" doc:"A delivery without the value, or with null, starts the run with the default of the parameter. Otherwise it is refused."`
}

// HookDefinition is the desired state of a hook.
type HookDefinition struct {
	Params    map[string]HookSource `json:"params,omitempty" doc:"Parameters of the run, by name: only those that the job declares. The others have their defaults."`
	Signature Signature             `json:"signature,omitempty" enum:"github,gitlab,timestamp" doc:"How deliveries prove that they know the secret. github: X-Hub-Signature-256, the HMAC-SHA256 of the body; gitlab: X-Gitlab-Token, the secret; timestamp: X-Carillon-Signature, t=<Unix seconds>,v1=<HMAC-SHA256 of the time, a full stop and the body>, at most 5 minutes old. Absent: the URL alone suffices."`
	Header    string                `json:"header,omitempty" maxLength:"64" doc:"The header with the signature, if it is another one."`
	Secret    string                `json:"secret,omitempty" maxLength:"256" doc:"Secret of the signature, at least 8 characters. Absent: a new hook gets a random one, another hook keeps its secret."`
	Rate      int                   `json:"rate,omitempty" minimum:"0" maximum:"600" doc:"Deliveries that are accepted per minute, by each master; default: 30."`
	Disabled  bool                  `json:"disabled,omitempty" doc:"Deliveries start nothing."`
}

// PerMinute returns the number of deliveries that are accepted within a minute.
func (h *Hook) PerMinute() int { return cmp.Or(h.Rate, DefaultRate) }

// Actor returns the actor of the runs that a hook starts.
func (h *Hook) Actor(remote string) common.Actor {
	return common.Actor{Name: "hook:" + h.Name, Remote: remote}
}

// ReasonChanged is the reason of CodeStale if it is the hook, and not its job, that has another version.
const ReasonChanged = "hook_changed"

// Check returns the error of a change that is meant for another version of the hook; 0 is any.
func (h *Hook) Check(version int64) error {
	if version == 0 || version == h.Version {
		return nil
	}
	return common.Errorf(common.CodeStale, "hook %q is at version %d, not %d", h.Name, h.Version, version).
		WithReason(ReasonChanged).WithHint("read it again and repeat the change: it was saved in the meantime")
}

// Redacted returns the hook without what authenticates its deliveries, for the audit.
func (h Hook) Redacted() Hook {
	h.Hash, h.Sealed = "", ""
	return h
}

// Reads reports whether the hook takes values from deliveries.
func (h *Hook) Reads() bool {
	for _, source := range h.Params {
		if source.Value == nil {
			return true
		}
	}
	return false
}

// ReadsForms reports whether the hook takes values from fields.
func (h *Hook) ReadsForms() bool {
	for _, source := range h.Params {
		if source.Field != "" {
			return true
		}
	}
	return false
}

// Apply changes the hook as defined, apart from its secret.
func (d *HookDefinition) Apply(h *Hook) {
	h.Params, h.Signature, h.Header = maps.Clone(d.Params), d.Signature, d.Header
	h.Rate, h.Disabled = d.Rate, d.Disabled
}

// headerPattern is a token of RFC 9110, of the characters that headers have.
var headerPattern = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// Faults returns what is wrong with the definition of a hook of a job. No fault shows the secret.
func (d *HookDefinition) Faults(job *common.Job) (faults common.Faults) {
	d.signatureFaults(&faults)
	if d.Rate < 0 || d.Rate > MaxRate {
		faults.Add("rate", "range", d.Rate, "must be from 0 to %d", MaxRate).With("least", 0, "most", MaxRate)
	}
	if len(d.Params) > common.MaxParams {
		faults.Add("params", "too_many", nil, "must be at most %d", common.MaxParams).With("most", common.MaxParams)
		return faults
	}
	for _, name := range slices.Sorted(maps.Keys(d.Params)) {
		source, at := d.Params[name], "params."+common.Excerpt(name)
		if fixed := source.Value; fixed != nil {
			faults = append(faults, job.ParamFaults(map[string]string{name: *fixed})...)
		} else if _, known := job.Params[name]; !known {
			faults.Add(at, "unknown", name, "is not a parameter of the job")
		}
		source.faults(&faults, at)
	}
	return faults
}

func (s *HookSource) faults(faults *common.Faults, at string) {
	given := 0
	for _, is := range []bool{s.Path != "", s.Field != "", s.Value != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		faults.Add(at, "hook_source", nil, "must have one of path, field and value")
		return
	}
	if s.Value != nil && s.Optional {
		faults.Add(at+".optional", "exclusive", nil, "cannot stand beside value").With("beside", "value")
	}
	if s.Path != "" {
		if _, ok := parsePath(s.Path); !ok {
			faults.Add(at+".path", "json_path", s.Path, `must be a path such as $.name, $.list[0].name or $["a name"]`)
		}
	}
	if len(s.Field) > MaxPath || strings.ContainsFunc(s.Field, common.Misleads) {
		faults.Add(at+".field", "too_long", nil, "must be at most %d characters, without control characters", MaxPath).
			With("characters", MaxPath)
	}
}

func (d *HookDefinition) signatureFaults(faults *common.Faults) {
	if d.Signature == "" {
		for field, value := range map[string]string{"header": d.Header, "secret": d.Secret} {
			if value != "" {
				faults.Add(field, "exclusive", nil, "has no meaning without signature").With("without", "signature")
			}
		}
		return
	}
	if !slices.Contains(Signatures[:], d.Signature) {
		faults.Add("signature", "enum", string(d.Signature), "must be github, gitlab or timestamp").
			With("allowed", "github, gitlab, timestamp")
	}
	if d.Header != "" && (len(d.Header) > MaxHeader || !headerPattern.MatchString(d.Header)) {
		faults.Add("header", "header_name", d.Header, "must be the name of a header: letters, digits and '-'")
	}
	if n := len(d.Secret); n > 0 && (n < MinSecret || n > MaxSecret || strings.ContainsFunc(d.Secret, unprintable)) {
		faults.Add("secret", "hook_secret", nil, "must be %d to %d printable ASCII characters", MinSecret, MaxSecret)
	}
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }
