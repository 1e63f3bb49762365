package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxSecret limits the size of a file with a URL or a secret, in bytes.
const maxSecret = 4 << 10

func channelResource() *resource {
	return &resource{
		name: "channel", plural: "channels",
		get:      verb{use: "channels [NAME]", short: "List notification channels, or show one"},
		describe: verb{use: "channel NAME", short: "Show a channel and its latest deliveries"},
		delete:   verb{use: "channels NAME...", short: "Delete channels and their waiting notifications"},
		columns: columnsOf("NAME,KIND,STATE,JOBS,TO,+LAST,+LANGUAGE,+VERSION,+UPDATED,+BY",
			func(ch *apiclient.Channel, _ bool) []any {
				return []any{ch.Name, ch.Kind, channelState(ch), ch.Jobs, target(ch), lastDelivery(ch),
					cmp.Or(string(value(ch.Language)), "-"),
					ch.Version, ch.UpdatedAt, ch.UpdatedBy}
			}),
		include: "last",
		list:    listChannels, one: byID((*client).GetChannel), remove: someOf((*client).DeleteChannel),
		whole: true,
		parts: describeChannel,
		offer: func(o *offered) (string, string) { return o.Name, o.Kind },
	}
}

// listChannels lists all channels, on one page.
func listChannels(ctx context.Context, api *apiclient.API, _ string, query url.Values) (*http.Response, error) {
	return api.ListChannels(ctx, nil, with(url.Values{"include": query["include"]}))
}

func channelState(ch *apiclient.Channel) string {
	if !value(ch.Disabled) {
		return "on"
	}
	if why := value(ch.Why); why != "" {
		return "disabled: " + why
	}
	return "disabled"
}

// lastDelivery returns the status of the latest delivery that was tried, and its time.
func lastDelivery(ch *apiclient.Channel) string {
	if ch.Last == nil {
		return "-"
	}
	return string(ch.Last.Status) + " " + when(cmp.Or(value(ch.Last.DoneAt), ch.Last.CreatedAt))
}

// usedBy describes the jobs that refer to an object.
func usedBy(verb string, jobs int64, names []string) string {
	if jobs == 0 {
		return verb + " by no job"
	}
	text := fmt.Sprintf("%s by %s: %s", verb, common.Count(jobs, "job", "jobs"), strings.Join(names, ", "))
	if left := jobs - int64(len(names)); left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// target returns the destination of a channel, as far as it is shown.
func target(ch *apiclient.Channel) string {
	if ch.To == nil && value(ch.Origin) != "" {
		return *ch.Origin + "/…"
	}
	return cmp.Or(strings.Join(value(ch.To), ", "), "-")
}

func describeChannel(ctx context.Context, c *cli, api *apiclient.API, name string) (any, func() error, error) {
	var d struct {
		Channel    json.RawMessage `json:"channel"`
		Deliveries list            `json:"deliveries"`
	}
	var err error
	if d.Channel, err = apiclient.Decode[json.RawMessage](api.GetChannel(ctx, name)); err != nil {
		return nil, nil, err
	}
	d.Deliveries, err = deliveryResource().fetch(ctx, api, url.Values{"channel": {name}}, 10)
	return d, func() error {
		if err := channelResource().columns.show(c, nil, []json.RawMessage{d.Channel}); err != nil {
			return err
		}
		var ch apiclient.Channel
		if err := json.Unmarshal(d.Channel, &ch); err != nil {
			return err
		}
		fmt.Fprintln(c.stdout, "\n"+oneLine(usedBy("Notified", ch.Jobs, value(ch.UsedBy))))
		return c.section("", deliveryResource(), d.Deliveries.Items)
	}, err
}

// channelFlags are the fields of a channel that have a flag.
type channelFlags struct {
	file, kind, url, urlFile, secretFile, keyFile, chat, language string
	to                                                            []string
	newSecret, disabled, replace                                  bool
}

func (c *cli) createChannel() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use: "channels -f FILE | channel NAME --kind KIND --url-file FILE | " +
			"channel NAME --kind mail --to ADDRESS",
		Aliases: []string{"channel"},
		Short:   "Create notification channels, or replace them",
		Long: `Create channels from a JSON or YAML file (one channel, several documents, or a list;
"-" reads standard input), or one channel from flags. Each kind has fields of its own, which
the page on notifications of the guide lists. If a webhook is given no signing secret, one
is generated and printed once.

The URL of a webhook or of a chat is often a secret itself: --url-file keeps it off the
command line, which all users of the machine can read.`,
		Example: `  cronctl create channel ops --kind mail --to ops@example.com
  cronctl create channel hook --kind webhook --url-file hook.url
  cronctl create channel team --kind slack --url-file slack.url
  cronctl create channel hook --kind webhook --new-secret --replace`,
		Args: valid("channel", cobra.MaximumNArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			channels, err := f.channels(c, args)
			if err != nil {
				return err
			}
			for _, channel := range channels {
				if err := c.saveChannel(ctx, api, channel, f.replace); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "file with channels, - for standard input")
	fl.StringVar(&f.kind, "kind", "", "kind of the receiver, such as webhook, mail or slack")
	fl.StringVar(&f.url, "url", "", "URL that is called")
	fl.StringVar(&f.urlFile, "url-file", "", "file that holds the URL")
	fl.StringVar(&f.secretFile, "secret-file", "", "file that holds the signing secret; of a webhook: whsec_…")
	fl.StringVar(&f.keyFile, "key-file", "", "file that holds the key or token that the receiver has issued")
	fl.StringVar(&f.chat, "chat", "", "chat that a bot writes to")
	fl.StringVar(&f.language, "language", "", "language of messages: en or zh")
	fl.StringSliceVar(&f.to, "to", nil, "mail address; may be repeated")
	fl.BoolVar(&f.newSecret, "new-secret", false, "generate a new signing secret and print it")
	fl.BoolVar(&f.disabled, "disabled", false, "create it disabled: it gets no notifications")
	fl.BoolVar(&f.replace, "replace", false, "replace channels that exist")
	return cmd
}

// newChannel is a channel to create.
type newChannel struct {
	from, name string
	body       []byte
}

// channels returns the channels of the file, or the one that the flags describe.
func (f *channelFlags) channels(c *cli, args []string) ([]newChannel, error) {
	switch {
	case f.file == "" && len(args) == 0:
		return nil, invalid("no channel given",
			"name a file, or a channel: cronctl create channel ops --kind mail --to ops@example.com")
	case f.file == "":
		one, err := f.one(c, args[0])
		return []newChannel{one}, err
	case len(args) > 0:
		return nil, invalid("-f and a channel name exclude each other", "use either of them")
	}
	docs, err := c.documentsOf(f.file, "channel")
	if err != nil {
		return nil, err
	}
	all := make([]newChannel, len(docs))
	for i, d := range docs {
		fields := map[string]json.RawMessage{}
		if json.Unmarshal(d.data, &fields) != nil || json.Unmarshal(fields["name"], &all[i].name) != nil {
			return nil, common.Errorf(common.CodeInvalid, "%s has no name", d.from)
		}
		if err := named("channel", all[i].name); err != nil {
			return nil, within(d.from, err)
		}
		delete(fields, "name")
		all[i].from = d.from
		if all[i].body, err = json.Marshal(fields); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (f *channelFlags) one(c *cli, name string) (newChannel, error) {
	definition := apiclient.ChannelDefinition{
		Kind:      apiclient.ChannelDefinitionKind(f.kind),
		Url:       set(f.url),
		Chat:      set(f.chat),
		Language:  set(apiclient.ChannelDefinitionLanguage(f.language)),
		To:        setList(f.to),
		NewSecret: set(f.newSecret),
		Disabled:  set(f.disabled),
	}
	for _, file := range []struct {
		path string
		to   **string
	}{{f.urlFile, &definition.Url}, {f.secretFile, &definition.Secret}, {f.keyFile, &definition.Key}} {
		if file.path == "" {
			continue
		}
		data, err := c.readFile(file.path, maxSecret)
		if err != nil {
			return newChannel{}, err
		}
		*file.to = new(strings.TrimSpace(string(data)))
	}
	body, err := json.Marshal(definition)
	return newChannel{from: name, name: name, body: body}, err
}

func (c *cli) saveChannel(ctx context.Context, api *apiclient.API, channel newChannel, replace bool) error {
	params, verb := &apiclient.PutChannelParams{}, "saved"
	if !replace {
		params.IfNoneMatch, verb = new("*"), "created"
	}
	saved, err := apiclient.Decode[apiclient.Channel](api.PutChannelWithBody(ctx, channel.name, params, jsonType,
		bytes.NewReader(channel.body)))
	if err != nil {
		return within(channel.from, err)
	}
	fmt.Fprintf(c.stdout, "%s %s\n", verb, saved.Name)
	if secret := value(saved.Secret); secret != "" {
		fmt.Fprintf(c.stdout, "signing secret (shown only once): %s\n", secret)
	}
	return nil
}

func (c *cli) retry() *cobra.Command {
	return group("retry", "Send a delivery again", "  cronctl retry delivery ID", &cobra.Command{
		Use:     "delivery ID...",
		Aliases: []string{"deliveries"},
		Short:   "Send failed or waiting deliveries again, at once",
		Long: `Send deliveries again. One that failed starts over, with all its retries; one that is waiting
for its next try is tried at once. cronctl get deliveries -o wide lists their ids.`,
		Example: `  cronctl retry delivery ID
  cronctl get deliveries --channel ops --status failed -o json | jq -r '.items[].id' | xargs cronctl retry delivery`,
		Args: valid("delivery", cobra.MinimumNArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, ids []string) error {
			for _, id := range ids {
				d, err := apiclient.Decode[apiclient.Delivery](api.RetryDelivery(ctx, id))
				if err != nil {
					return within(id, err)
				}
				fmt.Fprintf(c.stdout, "delivery %s to %s is due now\n", id, d.Channel)
			}
			return nil
		}),
	})
}

func (c *cli) test() *cobra.Command {
	return group("test", "Test a channel", "  cronctl test channel ops", &cobra.Command{
		Use:     "channel NAME",
		Aliases: []string{"channels"},
		Short:   "Send a test notification; exit code 1 if it fails",
		Args:    valid("channel", cobra.ExactArgs(1)),
		RunE: c.online(func(ctx context.Context, api *apiclient.API, args []string) error {
			d, err := apiclient.Decode[apiclient.Delivery](api.TestChannel(ctx, args[0]))
			if err != nil {
				return err
			}
			if d.Status != apiclient.DeliveryStatusSent {
				fmt.Fprintf(c.stderr, "channel %s did not accept the test notification: %s\n", args[0], value(d.Error))
				return exitError(exitJobFailed)
			}
			fmt.Fprintf(c.stdout, "channel %s accepted the test notification\n", args[0])
			return nil
		}),
	})
}
