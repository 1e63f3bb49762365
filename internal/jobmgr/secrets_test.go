package jobmgr_test

import (
	"context"
	"testing"

	"carillon/internal/common"
	"carillon/internal/jobmgr"
)

// No operation saves a job that refers to secrets which it may not use.
func TestSecretsOfAJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	away := false
	store := s.with(jobmgr.Config{
		Secrets: func(_ context.Context, job *common.Job) (faults []common.Fault, err error) {
			if away {
				return nil, common.Errorf(common.CodeUnavailable, "etcd does not answer")
			}
			for variable, name := range job.SecretRefs() {
				if name != "known" {
					faults = append(faults, common.Fault{Location: "env." + variable, Code: "unknown_secret"})
				}
			}
			return faults, nil
		},
	}, nil)
	job := common.Job{Name: "j", Command: "true", Env: map[string]string{"A": "secret:known"}}
	made, err := store.Create(t.Context(), actor, job)
	if err != nil || len(made.Needs) != 1 || made.Needs[0] != common.FeatureSecrets {
		t.Fatalf("%+v, %v", made.Needs, err)
	}
	job.Env = map[string]string{"A": "secret:none"}
	save := map[string]func() error{
		"create": func() error {
			job := job
			job.Name = "k"
			_, err := store.Create(t.Context(), actor, job)
			return err
		},
		"put": func() error { _, _, err := store.Put(t.Context(), actor, job, common.Precondition{}); return err },
		"dry": func() error {
			_, err := store.Apply(t.Context(), actor, job, common.Precondition{}, true)
			return err
		},
		"change": func() error {
			_, err := store.Change(t.Context(), actor, "patch", "j", common.Precondition{},
				func(common.Job) (common.Job, error) {
					return job, nil
				})
			return err
		},
	}
	for name, do := range save {
		away = false
		if err := do(); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		away = true
		if err := do(); common.CodeOf(err) != common.CodeUnavailable {
			t.Errorf("%s while etcd is unavailable: %v", name, err)
		}
	}
	away = false
	if _, faults, err := store.Validate(t.Context(), job); err != nil || len(faults) != 1 ||
		faults[0].Code != "unknown_secret" {
		t.Errorf("%+v, %v", faults, err)
	}
	if got, err := store.Get(t.Context(), "j"); err != nil || got.Version != made.Version {
		t.Errorf("%+v, %v", got, err)
	}
}
