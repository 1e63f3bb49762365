package main

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"carillon/internal/common"
)

// filter is a flag that becomes a query parameter: of the same name, except for those in params.
type filter struct {
	kind       filterKind
	name, help string
	standard   string // value without the flag
	adds       string // value that a switch adds to the parameter is
}

type filterKind int

const (
	isText filterKind = iota
	isList            // of values separated by commas
	isTime            // or an offset from now
	isNumber
	isSwitch
)

type filters []filter

// declare adds the flags to a command. Letters of filters are the same everywhere.
func (f filters) declare(cmd *cobra.Command) {
	letters := map[string]string{"query": "q", "selector": "l", "regex": "E"}
	for _, x := range f {
		switch fl := cmd.Flags(); x.kind {
		case isText, isTime:
			fl.StringP(x.name, letters[x.name], x.standard, x.help)
		case isList:
			fl.StringSlice(x.name, nil, x.help)
		case isNumber:
			fl.Int(x.name, 0, x.help)
		case isSwitch:
			fl.BoolP(x.name, letters[x.name], false, x.help)
		}
	}
}

// values returns the query for the flags of a command.
func (f filters) values(cmd *cobra.Command) (url.Values, error) {
	params := map[string]string{"query": "q", "grep": "q", "exit-code": "exitCode", "flow-run": "flowRun"}
	query, now := url.Values{}, time.Now()
	for _, x := range f {
		flag := cmd.Flags().Lookup(x.name)
		text := flag.Value.String()
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			text = strings.Join(list.GetSlice(), ",")
		}
		if text == "" || !flag.Changed && x.standard == "" {
			continue
		}
		if x.kind == isTime {
			at, err := timeOf("--"+x.name, text, now)
			if err != nil {
				return nil, err
			}
			text = at.Format(time.RFC3339Nano)
		}
		if x.adds != "" {
			query.Set("is", strings.TrimPrefix(query.Get("is")+","+x.adds, ","))
			continue
		}
		query.Set(cmp.Or(params[x.name], x.name), text)
	}
	return query, nil
}

// between returns the filters of a list by planned time.
func between(what string) filters {
	return filters{
		{
			kind: isTime,
			name: "from",
			help: "only " + what + " planned at or after this time: a time, or an offset from now such as -2h",
		},
		{kind: isTime, name: "to", help: "only " + what + " planned before this time"},
	}
}

// timeOf parses a time: RFC 3339, date and time in this machine's zone, or a duration from now, in the past with a
// minus.
func timeOf(flag, text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	for _, layout := range []string{
		time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly,
	} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	size, back := text, false
	if size != "" && (size[0] == '-' || size[0] == '+') {
		size, back = text[1:], text[0] == '-'
	}
	d, err := common.Duration(size).Value()
	if err != nil {
		return time.Time{}, invalid(fmt.Sprintf("%s %q is not a time", flag, common.Shorten(text)),
			"use 2026-12-01T09:00:00+08:00, '2026-12-01 09:00', or an offset from now: 2h, -3d")
	}
	if back {
		d = -d
	}
	return now.Add(d), nil
}
