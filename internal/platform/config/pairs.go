package config

import (
	"fmt"
	"path/filepath"
	"strings"

	"carillon/internal/common"
)

// pairsValue parses name=value pairs separated by commas.
func pairsValue(one func(name, value string) error, done func(map[string]string) error) func(string) error {
	return func(text string) error {
		var pairs []string
		if err := listValue(&pairs, func(s string) (string, error) { return s, nil })(text); err != nil {
			return err
		}
		all := map[string]string{}
		for _, pair := range pairs {
			k, v, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("%q must be name=value", common.Shorten(pair))
			}
			if _, twice := all[k]; twice {
				return fmt.Errorf("names %q twice", common.Shorten(k))
			}
			if err := one(k, v); err != nil {
				return err
			}
			all[k] = v
		}
		return done(all)
	}
}

func labelsValue(to *map[string]string) func(string) error {
	return pairsValue(func(string, string) error { return nil }, func(labels map[string]string) error {
		// A job's labels and a worker's follow the same rules.
		if faults := common.LabelFaults(labels); len(faults) > 0 {
			return fmt.Errorf("%s", faults[0].Message)
		}
		*to = labels
		return nil
	})
}

// maxSecrets limits the number of secrets, since every byte of output is compared with them.
const maxSecrets = 64

func secretsValue(to *map[string]string) func(string) error {
	return pairsValue(func(name, path string) error {
		if !common.ValidName(name) {
			return fmt.Errorf("the name %q of a secret %s", common.Shorten(name), common.NameRule)
		}
		if !filepath.IsAbs(path) {
			return fmt.Errorf("the file of %q must be an absolute path", name)
		}
		return nil
	}, func(files map[string]string) error {
		if len(files) > maxSecrets {
			return fmt.Errorf("must be at most %d secrets", maxSecrets)
		}
		*to = files
		return nil
	})
}

func secretGroupsValue(to *map[string][]string) func(string) error {
	return pairsValue(func(secret, groups string) error {
		for group := range strings.SplitSeq(groups, "+") {
			if group != common.AllGroups && !common.ValidGroup(group) {
				return fmt.Errorf("the group %q of %s %s", common.Shorten(group), common.Excerpt(secret),
					common.GroupRule)
			}
		}
		return nil
	}, func(all map[string]string) error {
		*to = make(map[string][]string, len(all))
		for secret, groups := range all {
			(*to)[secret] = strings.Split(groups, "+")
		}
		return nil
	})
}
