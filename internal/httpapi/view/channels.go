package view

import (
	"fmt"
	"slices"

	"carillon/internal/common"
	"carillon/internal/notify"
)

// ChannelWarnings points out channels to which notifications cannot be sent.
func ChannelWarnings(n *common.Notify, channels []notify.Channel) (all common.Faults) {
	for _, name := range n.Channels() {
		at := "notify.after"
		if i := slices.Index(n.To, name); i >= 0 {
			at = fmt.Sprintf("notify.to[%d]", i)
		}
		switch found := slices.IndexFunc(channels, func(c notify.Channel) bool { return c.Name == name }); {
		case found < 0:
			all.Add(at, "unknown_channel", name, "channel not found").
				Hint = "create the channel: until then, notifications to it fail"
		case channels[found].Disabled:
			all.Add(at, "disabled_channel", name, "the channel is disabled").
				Hint = "enable the channel to receive notifications"
		}
	}
	return all
}
