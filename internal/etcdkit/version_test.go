package etcdkit

import "testing"

func TestVersionFault(t *testing.T) {
	for version, good := range map[string]bool{
		"3.5.33":     true,
		"3.5.32":     false,
		"3.5.9":      false,
		"3.6.14":     true,
		"3.6.0-rc.1": false,
		"3.7.1":      true,
		"3.7.0":      false,
		"3.8.0":      true,
		"4.0.0":      true,
		"3.4.42":     false,
		"2.3.8":      false,
		"":           false,
		"x.y.z":      false,
		"3.5":        false,
	} {
		if fault := VersionFault(version); (fault == "") != good {
			t.Errorf("%q: %q", version, fault)
		}
	}
}
