package audit

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Hidden replaces a value that is not shown.
const Hidden = "(hidden)"

// secretive are parts of the names of hidden values.
var secretive = []string{"password", "passwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key",
	"privatekey", "private_key",
	"private-key", "credential", "authorization", "cookie", "sealed", "hash"}

// Mask returns one side of an entry for display: values of env and of names that suggest a secret
// are hidden. Unreadable sides are hidden completely.
func Mask(side json.RawMessage) json.RawMessage {
	if len(side) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(side))
	dec.UseNumber()
	var value any
	hidden := json.RawMessage(`"` + Hidden + `"`)
	if err := dec.Decode(&value); err != nil {
		return hidden
	}
	data, err := json.Marshal(mask(value, false))
	if err != nil {
		return hidden
	}
	return data
}

// mask goes through a value; all says that every text and number below is hidden.
func mask(value any, all bool) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = mask(member, all || name == "env" || isSecretive(name))
		}
	case []any:
		for i := range v {
			v[i] = mask(v[i], all)
		}
	case string:
		if all && v != "" && !strings.HasPrefix(v, "secret:") { // which is the name of one
			return Hidden
		}
	case json.Number:
		if all {
			return Hidden
		}
	}
	return value
}

func isSecretive(name string) bool {
	name = strings.ToLower(name)
	for _, part := range secretive {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
