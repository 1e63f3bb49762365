package crontab_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

// The channel follows MAILTO from line to line; equal addresses are one channel, in any order and case.
func TestMailer_Apply(t *testing.T) {
	const text = `0 0 * * * unset
MAILTO=ops@example.com
0 1 * * * one
MAILTO="dev@example.com, OPS@example.com,root"
0 2 * * * two
MAILTO=ops@example.com,dev@example.com
0 3 * * * three
MAILTO=""
0 4 * * * quiet
MAILTO=root
0 5 * * * local
MAILTO=boss@example.com
0 6 * * * six
MAILTO=ops-team@example.com
0 7 * * * seven
MAILTO=ops.team@example.com
0 8 * * * eight
MAILTO=taken@example.com
0 9 * * * nine
`
	m := crontab.Mailer{Known: []crontab.MailChannel{
		{Name: "managers", Mail: true, To: []string{"Boss@example.com"}},
		{Name: "mail-taken-example-com"}, // of another kind
	}}
	var got []string
	parsed := crontab.Parse(text, base)
	for i := range parsed.Entries {
		e := &parsed.Entries[i]
		c, found := m.Apply(e)
		if !found {
			got = append(got, e.Job.Command)
			if e.Job.Notify != nil {
				t.Errorf("%s notifies %+v", e.Job.Command, e.Job.Notify)
			}
			continue
		}
		if !reflect.DeepEqual(e.Job.Notify, &common.Notify{On: []common.Event{"output"}, To: []string{c.Name}}) ||
			!common.ValidName(c.Name) {
			t.Errorf("%s notifies %+v, want %s", e.Job.Command, e.Job.Notify, c.Name)
		}
		got = append(got, e.Job.Command+"="+c.Name)
	}
	want := "unset one=mail-ops-example-com two=mail-ops-example-com-dev-example-com " +
		"three=mail-ops-example-com-dev-example-com quiet local six=managers seven=mail-ops-team-example-com " +
		"eight=mail-ops-team-example-com-7722e7 nine=mail-taken-example-com-0e552d"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got\n%s, want\n%s", s, want)
	}
	if len(m.New) != 5 || !slices.Equal(m.New[0].To, []string{"ops@example.com"}) {
		t.Errorf("to create: %+v", m.New)
	}
}

// A caller who does not see addresses uses the channel that an import before has created.
func TestMailer_AddressesHidden_UsesChannelOfThatName(t *testing.T) {
	m := crontab.Mailer{Known: []crontab.MailChannel{{Name: "mail-ops-example-com", Mail: true}}}
	e := crontab.Entry{MailTo: new("ops@example.com")}
	if c, found := m.Apply(&e); !found || c.Name != "mail-ops-example-com" || len(m.New) != 0 {
		t.Errorf("%+v, %v, to create %+v", c, found, m.New)
	}
}

func TestMailer_ManyAddresses_ShortName(t *testing.T) {
	var to []string
	for i := range 40 {
		to = append(to, fmt.Sprintf("someone-%02d@department.example.com", i))
	}
	var m crontab.Mailer
	e := crontab.Entry{MailTo: new(strings.Join(to, ","))}
	if c, _ := m.Apply(&e); len(c.Name) > 80 || !common.ValidName(c.Name) || len(c.To) != 40 {
		t.Errorf("%+v", c)
	}
}
