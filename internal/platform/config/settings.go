package config

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// setting is one declaration: its flag, variable and documentation follow from the key.
type setting struct {
	key    string // key in the file, such as etcd.endpoints
	def    string // documented default
	help   string
	value  *value
	noFlag bool
	onFlag func(string) error // additional check of the flag
}

func (s *setting) flag() string { return dashed(s.key) }

func (s *setting) env() string {
	return "CARILLON_" + strings.ToUpper(strings.ReplaceAll(s.flag(), "-", "_"))
}

// dashed converts etcd.passwordFile to etcd-password-file.
func dashed(key string) string {
	var b strings.Builder
	lower := false
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('-')
			lower = false
			continue
		case unicode.IsUpper(r) && lower:
			b.WriteByte('-')
		}
		lower = !unicode.IsUpper(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// settings are the declarations of one daemon.
type settings struct {
	program string
	list    []*setting
	secrets []func(environment) *common.Fault
}

func (s *settings) add(key, kind, def, help string, set func(string) error) *setting {
	v := &value{kind: kind, set: set}
	if def != "" {
		if err := set(def); err != nil {
			panic(fmt.Sprintf("config: default of %s: %v", key, err)) // a bug in a declaration
		}
	}
	v.current = def
	one := &setting{key: key, def: def, help: help, value: v}
	s.list = append(s.list, one)
	return one
}

func (s *settings) text(to *string, key, kind, def, help string, checks ...func(string) error) *setting {
	return s.add(key, kind, def, help, func(text string) error {
		for _, check := range checks {
			if err := check(text); err != nil {
				return err
			}
		}
		*to = text
		return nil
	})
}

func (s *settings) number(to *int, key string, def, least, most int, help string) {
	s.add(key, "number", fmt.Sprint(def), help, intValue(to, least, most))
}

func (s *settings) duration(to *time.Duration, key string, def, least, most time.Duration, help string) {
	s.add(key, "duration", common.Brief(def), help, durationValue(to, least, most))
}

func (s *settings) size(to *int64, key string, def, least, most int64, help string) {
	s.add(key, "size", sizeText(def), help, sizeValue(to, least, most))
}

func (s *settings) toggle(to *bool, key, help string) {
	s.add(key, "bool", "false", help, boolValue(to))
}

func listOf[T any](s *settings, to *[]T, key, kind, def, help string, one func(string) (T, error)) {
	s.add(key, kind, def, help, listValue(to, one)).value.many = true
}

// secret declares key (no flag) and keyFile; without both, the systemd credential with the key's name is used.
func (s *settings) secret(to *Secret, key, help string, check func(string) error) *setting {
	one := s.add(key, "text", "", help+" Prefer a file", func(text string) error {
		if err := check(text); err != nil {
			return err
		}
		to.plain = text
		return nil
	})
	one.noFlag = true
	var path string
	s.text(&path, key+"File", "file", "", "file with "+key+"; a systemd credential named "+key+" is used automatically")
	s.secrets = append(s.secrets, func(env environment) *common.Fault {
		if fault := to.fill(key, path, env); fault != nil {
			return fault
		}
		if !to.Empty() {
			if err := check(to.plain); err != nil {
				return &common.Fault{Location: key, Code: "value", Message: err.Error()}
			}
		}
		return nil
	})
	return one
}

func (s *settings) find(key string) *setting {
	i := slices.IndexFunc(s.list, func(one *setting) bool { return one.key == key })
	if i < 0 {
		return nil
	}
	return s.list[i]
}

// flags registers the flags of all settings that have one.
func (s *settings) flags(fs *pflag.FlagSet) {
	fs.String(fileFlag, "", "file with settings, in YAML ($"+fileEnv+")")
	for _, one := range s.list {
		if one.noFlag {
			continue
		}
		f := fs.VarPF(&guarded{value: one.value, check: one.onFlag}, one.flag(), "", one.help+" ($"+one.env()+")")
		if one.value.kind == "bool" {
			f.NoOptDefVal = "true"
		}
	}
}

// guarded is a value with additional checks on the command line.
type guarded struct {
	*value
	check func(string) error
}

func (g *guarded) Set(s string) error {
	if g.check != nil {
		if err := g.check(s); err != nil {
			return err
		}
	}
	return g.value.Set(s)
}
