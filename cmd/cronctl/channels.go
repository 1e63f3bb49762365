package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// maxSecret limits the size of a file with a URL or a secret, in bytes.
const maxSecret = 4 << 10

func (c *cli) getChannels() *cobra.Command {
	return &cobra.Command{
		Use:     "channels [NAME]",
		Aliases: []string{"channel"},
		Short:   "List notification channels, or show one",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if err := named("channel", args[0]); err != nil {
					return err
				}
				return c.watchOne(cmd.Context(),
					func(ctx context.Context) (*http.Response, error) {
						return api.GetChannel(ctx,
							args[0])
					}, c.showChannels)
			}
			return c.list(cmd.Context(), listing{
				show:  c.showChannels,
				whole: true,
				fetch: func(ctx context.Context) (list, error) {
					return apiclient.Decode[list](api.ListChannels(ctx))
				},
			})
		},
	}
}

func (c *cli) showChannels(v any, items []json.RawMessage) error {
	heads := []string{"NAME", "KIND", "STATE", "TO"}
	if c.format == "wide" {
		heads = append(heads, "VERSION", "UPDATED", "BY")
	}
	return show(c, v, items, heads, func(ch apiclient.Channel) []string {
		cells := []string{ch.Name, string(ch.Kind), channelState(&ch), or(target(&ch), "-")}
		if c.format == "wide" {
			cells = append(cells, fmt.Sprint(ch.Version), when(ch.UpdatedAt), or(text(ch.UpdatedBy), "-"))
		}
		return cells
	})
}

func channelState(ch *apiclient.Channel) string {
	if ch.Disabled == nil || !*ch.Disabled {
		return "on"
	}
	if why := text(ch.Why); why != "" {
		return "disabled: " + why
	}
	return "disabled"
}

// target returns the destination of a channel, as far as it is shown.
func target(ch *apiclient.Channel) string {
	if ch.To != nil {
		return strings.Join(*ch.To, ", ")
	}
	if origin := text(ch.Origin); origin != "" {
		return origin + "/…"
	}
	return ""
}

func (c *cli) getDeliveries() *cobra.Command {
	var channel, job, status string
	var limit int
	cmd := &cobra.Command{
		Use:     "deliveries",
		Aliases: []string{"delivery"},
		Short:   "List notifications sent or waiting, newest first",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			api, err := c.api()
			if err != nil {
				return err
			}
			params := apiclient.ListDeliveriesParams{
				Channel: set(channel),
				Job:     set(job),
				Status:  set(apiclient.ListDeliveriesParamsStatus(status)),
			}
			return c.list(cmd.Context(), listing{
				show:   c.showDeliveries,
				newest: true,
				fetch: func(ctx context.Context) (list, error) {
					return pages(limit, func(cursor *string, size *int64) (*http.Response, error) {
						params.Cursor, params.Limit = cursor, size
						return api.ListDeliveries(ctx, &params)
					})
				},
			})
		},
	}
	cmd.Flags().StringVar(&channel, "channel", "", "only on this channel")
	cmd.Flags().StringVar(&job, "job", "", "only about this job")
	cmd.Flags().StringVar(&status, "status", "", "only with this status: waiting, sent or failed")
	cmd.Flags().IntVar(&limit, "limit", 50, "maximum number of deliveries; 0 for all")
	return cmd
}

func (c *cli) showDeliveries(v any, items []json.RawMessage) error {
	heads := []string{"CREATED", "CHANNEL", "STATUS", "TRIES", "TEXT"}
	if c.format == "wide" {
		heads = append(heads, "CODE", "NEXT", "ERROR", "ID")
	}
	return show(c, v, items, heads, func(d apiclient.Delivery) []string {
		cells := []string{when(d.CreatedAt), d.Channel, string(d.Status), fmt.Sprint(d.Attempts), d.Text}
		if c.format == "wide" {
			code := ""
			if d.Code != nil {
				code = string(*d.Code)
			}
			cells = append(cells, or(code, "-"), whenSet(d.NextAt), or(text(d.Error), "-"), d.Id)
		}
		return cells
	})
}

// channelDeliveries is a channel with its latest deliveries.
type channelDeliveries struct {
	Channel    json.RawMessage `json:"channel"`
	Deliveries list            `json:"deliveries"`
}

func (c *cli) describeChannel() *cobra.Command {
	return &cobra.Command{
		Use:     "channel NAME",
		Aliases: []string{"channels"},
		Short:   "Show a channel and its latest deliveries",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("channel", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			var t channelDeliveries
			if t.Channel, err = apiclient.Decode[json.RawMessage](api.GetChannel(cmd.Context(), args[0])); err != nil {
				return err
			}
			t.Deliveries, err = apiclient.Decode[list](api.ListDeliveries(cmd.Context(),
				&apiclient.ListDeliveriesParams{
					Channel: &args[0],
					Limit:   new(int64(10)),
				}))
			if err != nil {
				return err
			}
			if c.format == "json" || c.format == "yaml" {
				return c.print(t)
			}
			if err := c.showChannels(nil, []json.RawMessage{t.Channel}); err != nil {
				return err
			}
			fmt.Fprintln(c.stdout)
			return c.showDeliveries(nil, t.Deliveries.Items)
		},
	}
}

// channelFlags are the fields of a channel that have a flag.
type channelFlags struct {
	file, kind, url, urlFile, secretFile string
	to                                   []string
	newSecret, disabled, replace         bool
}

func (c *cli) createChannel() *cobra.Command {
	var f channelFlags
	cmd := &cobra.Command{
		Use: "channels -f FILE | channel NAME --kind webhook --url-file FILE | channel NAME --kind mail --to " +
			"ADDRESS",
		Aliases: []string{"channel"},
		Short:   "Create notification channels, or replace them",
		Long: `Create channels from a JSON or YAML file (one channel, several documents, or a list;
"-" reads standard input), or one channel from flags. If a webhook is given no signing
secret, one is generated and printed once.

The URL of a webhook is often a secret itself: --url-file keeps it off the command line,
which all users of the machine can read.`,
		Example: `  cronctl create channel ops --kind mail --to ops@example.com
  cronctl create channel hook --kind webhook --url-file hook.url
  cronctl create channel hook --kind webhook --new-secret --replace`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			channels, err := f.channels(c, args)
			if err != nil {
				return err
			}
			for _, channel := range channels {
				if err := c.saveChannel(cmd.Context(), channel, f.replace); err != nil {
					return err
				}
			}
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.file, "file", "f", "", "file with channels, - for standard input")
	fl.StringVar(&f.kind, "kind", "", "webhook or mail")
	fl.StringVar(&f.url, "url", "", "URL of the webhook")
	fl.StringVar(&f.urlFile, "url-file", "", "file that holds the URL")
	fl.StringVar(&f.secretFile, "secret-file", "", "file that holds the signing secret: whsec_…")
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
	if f.file == "" {
		if len(args) == 0 {
			return nil, &common.Error{
				Code:    common.CodeInvalid,
				Message: "no channel given",
				Hint:    "name a file, or a channel: cronctl create channel ops --kind mail --to ops@example.com",
			}
		}
		one, err := f.one(c, args[0])
		return []newChannel{one}, err
	}
	if len(args) > 0 {
		return nil, &common.Error{
			Code:    common.CodeInvalid,
			Message: "-f and a channel name exclude each other",
			Hint:    "use either of them",
		}
	}
	data, err := c.readFile(f.file, maxFile)
	if err != nil {
		return nil, err
	}
	values, err := split(data)
	if err != nil {
		return nil, &common.Error{Code: common.CodeInvalid, Message: f.file + " cannot be read", Err: err}
	}
	var all []newChannel
	for _, value := range values {
		for _, item := range unpack(value) {
			from := fmt.Sprintf("%s, channel %d", f.file, len(all)+1)
			fields := map[string]json.RawMessage{}
			var name string
			if json.Unmarshal(item, &fields) != nil || json.Unmarshal(fields["name"], &name) != nil {
				return nil, common.Errorf(common.CodeInvalid, "%s has no name", from)
			}
			if err := named("channel", name); err != nil {
				return nil, within(from, err)
			}
			delete(fields, "name")
			body, err := json.Marshal(fields)
			if err != nil {
				return nil, err
			}
			all = append(all, newChannel{from: from, name: name, body: body})
		}
	}
	return all, nil
}

func (f *channelFlags) one(c *cli, name string) (newChannel, error) {
	if err := named("channel", name); err != nil {
		return newChannel{}, err
	}
	wish := apiclient.ChannelDefinition{Kind: apiclient.ChannelDefinitionKind(f.kind), Url: set(f.url)}
	if len(f.to) > 0 {
		wish.To = &f.to
	}
	if f.newSecret {
		wish.NewSecret = &f.newSecret
	}
	if f.disabled {
		wish.Disabled = &f.disabled
	}
	for _, file := range []struct {
		path string
		to   **string
	}{{f.urlFile, &wish.Url}, {f.secretFile, &wish.Secret}} {
		if file.path == "" {
			continue
		}
		data, err := c.readFile(file.path, maxSecret)
		if err != nil {
			return newChannel{}, err
		}
		*file.to = new(strings.TrimSpace(string(data)))
	}
	body, err := json.Marshal(wish)
	return newChannel{from: name, name: name, body: body}, err
}

func (c *cli) saveChannel(ctx context.Context, channel newChannel, replace bool) error {
	api, err := c.api()
	if err != nil {
		return err
	}
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
	if secret := text(saved.Secret); secret != "" {
		fmt.Fprintf(c.stdout, "signing secret (shown only once): %s\n", secret)
	}
	return nil
}

func (c *cli) removeChannels() *cobra.Command {
	return c.removal("channels NAME...", "Delete channels and their waiting notifications", "channel", named,
		func(ctx context.Context, api *apiclient.API, name string) (*http.Response, error) {
			return api.DeleteChannel(ctx, name, &apiclient.DeleteChannelParams{})
		})
}

func (c *cli) test() *cobra.Command {
	channel := &cobra.Command{
		Use:     "channel NAME",
		Aliases: []string{"channels"},
		Short:   "Send a test notification; exit code 1 if it fails",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := named("channel", args[0]); err != nil {
				return err
			}
			api, err := c.api()
			if err != nil {
				return err
			}
			d, err := apiclient.Decode[apiclient.Delivery](api.TestChannel(cmd.Context(), args[0]))
			if err != nil {
				return err
			}
			if d.Status != apiclient.DeliveryStatusSent {
				fmt.Fprintf(c.stderr, "channel %s did not accept the test notification: %s\n", args[0], text(d.Error))
				return exitError(exitJobFailed)
			}
			fmt.Fprintf(c.stdout, "channel %s accepted the test notification\n", args[0])
			return nil
		},
	}
	return group("test", "Test a channel", "  cronctl test channel ops", channel)
}
