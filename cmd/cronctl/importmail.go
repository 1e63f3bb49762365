package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

// knownChannels returns the channels of the server; their addresses are shown to admins only.
func knownChannels(ctx context.Context, api *apiclient.API) ([]crontab.MailChannel, error) {
	page, err := apiclient.Decode[struct{ Items []apiclient.Channel }](api.ListChannels(ctx, nil, with(url.Values{})))
	if err != nil {
		return nil, err
	}
	known := make([]crontab.MailChannel, len(page.Items))
	for i := range page.Items {
		c := &page.Items[i]
		known[i] = crontab.MailChannel{Name: c.Name, Mail: c.Kind == apiclient.ChannelKindMail, To: value(c.To)}
	}
	return known, nil
}

// mail lets the job of a line notify a mail channel of what it prints, and describes that; empty if it does not.
func (m *importer) mail(e *crontab.Entry) string {
	if m.noMail || m.notify != "" {
		return ""
	}
	known := len(m.mailer.New)
	c, found := m.mailer.Apply(e)
	if !found {
		return ""
	}
	m.mails++
	how := "channel " + c.Name
	if len(m.mailer.New) > known {
		how = fmt.Sprintf("the new channel %s (%s)", c.Name, strings.Join(c.To, ", "))
	}
	return "what it prints goes to " + how
}

// createChannels creates the channels that the jobs to write need.
func (m *importer) createChannels(ctx context.Context, api *apiclient.API) error {
	needed := map[string]bool{}
	for _, s := range m.planned {
		if s.job.Notify != nil {
			needed[s.job.Notify.To[0]] = true
		}
	}
	for _, c := range m.mailer.New {
		if !needed[c.Name] {
			continue
		}
		body, err := json.Marshal(apiclient.ChannelDefinition{
			Kind: apiclient.ChannelDefinitionKindMail,
			To:   setList(c.To),
		})
		if err != nil {
			return err
		}
		_, err = apiclient.Read(api.PutChannelWithBody(ctx, c.Name, &apiclient.PutChannelParams{IfNoneMatch: new("*")},
			jsonType, bytes.NewReader(body)))
		switch common.CodeOf(err) {
		case common.CodeForbidden:
			m.refused = append(m.refused, c)
		case common.CodeStale: // created meanwhile
		default:
			if err != nil {
				return within("channel "+c.Name, err)
			}
			fmt.Fprintf(m.c.stdout, "created channel %s (%s)\n", c.Name, strings.Join(c.To, ", "))
		}
	}
	return nil
}

// mailHint prints what is missing for the mail of the jobs.
func (m *importer) mailHint(ctx context.Context) error {
	if m.mails == 0 {
		return nil
	}
	for _, c := range m.refused {
		fmt.Fprintf(m.c.stdout, "note: channel %s was not created, since that needs the role admin; "+
			"notifications to it fail until an admin runs\n  cronctl create channel %s --kind mail", c.Name, c.Name)
		for _, to := range c.To {
			fmt.Fprintf(m.c.stdout, " --to %s", common.ShellWord(to))
		}
		fmt.Fprintln(m.c.stdout)
	}
	v, err := m.c.serverVersion(ctx)
	if err != nil || v.Mail {
		return err
	}
	fmt.Fprintln(m.c.stdout, "note: the server sends no mail: set smtpHost and smtpFrom of all masters; until then "+
		"notifications wait, for a day at most")
	return nil
}
