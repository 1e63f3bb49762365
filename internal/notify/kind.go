package notify

import (
	"net/url"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Kind is the transport of a channel.
type Kind string

// The kinds.
const (
	KindWebhook    Kind = "webhook" // Standard Webhooks
	KindMail       Kind = "mail"
	KindSlack      Kind = "slack"      // an incoming webhook of Slack
	KindPagerDuty  Kind = "pagerduty"  // an integration with Events API v2
	KindTeams      Kind = "teams"      // a workflow of Microsoft Teams
	KindDiscord    Kind = "discord"    // a webhook of Discord
	KindMattermost Kind = "mattermost" // an incoming webhook of Mattermost
	KindTelegram   Kind = "telegram"   // a bot of Telegram
	KindDingTalk   Kind = "dingtalk"   // a custom robot of DingTalk
	KindFeishu     Kind = "feishu"     // a custom bot of Feishu or Lark
	KindWeCom      Kind = "wecom"      // a robot of a group of WeCom
	KindNtfy       Kind = "ntfy"       // a topic of ntfy
	KindOpsgenie   Kind = "opsgenie"   // an API integration of Opsgenie
	KindPing       Kind = "ping"       // a check of Healthchecks
)

// Kinds lists all kinds.
var Kinds = [...]Kind{
	KindWebhook,
	KindMail,
	KindSlack,
	KindPagerDuty,
	KindTeams,
	KindDiscord,
	KindMattermost,
	KindTelegram,
	KindDingTalk,
	KindFeishu,
	KindWeCom,
	KindNtfy,
	KindOpsgenie,
	KindPing,
}

// Language is that of the texts which a channel receives.
type Language string

// The languages. The zero value is English.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// need reports whether a kind has a field.
type need int

const (
	never need = iota
	optional
	required
)

// rule is what a kind demands of a field.
type rule struct {
	need need
	fits func(string) bool // nil: any text
	must string            // the fault of a text that does not fit
}

// rules are what a kind demands of a channel.
type rules struct {
	url, secret, key, chat rule
	base                   string // URL that is called if none is given
	worded                 bool   // messages are in the channel's language
}

// rulesOf returns the rules of a kind. known is false for one that this version does not have.
func rulesOf(kind Kind) (r rules, known bool) {
	hook, own := rule{need: required}, rule{need: optional} // own: a region, or a server of the user
	switch kind {
	case KindWebhook:
		return rules{url: hook, secret: rule{need: optional, fits: isSecret, must: secretRule}}, true
	case KindMail:
		return rules{worded: true}, true
	case KindSlack:
		return rules{url: hook, worded: true}, true
	case KindPagerDuty:
		return rules{url: own, key: rule{required, isPagerDutyKey, "must be an integration key: 32 letters and digits"},
			base: "https://events.pagerduty.com/v2/enqueue", worded: true}, true
	case KindTeams:
		return rules{url: hook, worded: true}, true
	case KindDiscord:
		return rules{url: hook.with(containing("/api/webhooks/"), "must be the URL of a webhook: …/api/webhooks/…"),
			worded: true}, true
	case KindMattermost:
		return rules{url: hook.with(containing("/hooks/"), "must be the URL of an incoming webhook: …/hooks/…"),
			worded: true}, true
	case KindTelegram:
		return rules{url: own, key: rule{required, isBotToken, "must be the token of a bot: 110201543:AAH…"},
			chat: rule{required, isTelegramChat, "must be the number of a chat, such as -1001234567890, or @channel"},
			base: "https://api.telegram.org", worded: true}, true
	case KindDingTalk:
		return rules{url: hook.with(containing("access_token="), "must be the URL of a robot: …/send?access_token=…"),
			secret: rule{need: optional}, worded: true}, true
	case KindFeishu:
		return rules{url: hook.with(containing("/bot/v2/hook/"), "must be the URL of a bot: …/open-apis/bot/v2/hook/…"),
			secret: rule{need: optional}, worded: true}, true
	case KindWeCom:
		return rules{url: hook.with(containing("key="), "must be the URL of a robot: …/cgi-bin/webhook/send?key=…"),
			worded: true}, true
	case KindNtfy:
		return rules{url: hook.with(hasTopic, "must be the URL of a topic, such as https://ntfy.sh/my-topic"),
			key: rule{need: optional}, worded: true}, true
	case KindOpsgenie:
		return rules{url: own, key: rule{need: required}, base: "https://api.opsgenie.com", worded: true}, true
	case KindPing:
		return rules{url: hook, worded: true}, true
	}
	return rules{}, false
}

// check adds the fault of a field, without its value, which may be a secret.
func (r *rule) check(faults *common.Faults, kind Kind, name, value string, exists bool) {
	switch {
	case value != "" && r.need == never:
		faults.Add(name, "exclusive", nil, "is not a field of channels of kind %s", kind)
	case value == "" && r.need == required && !exists:
		faults.Add(name, "required", nil, "is required")
	case strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		faults.Add(name, name, nil, "must be printable ASCII without spaces")
	case value != "" && r.fits != nil && !r.fits(value):
		faults.Add(name, name, nil, "%s", r.must)
	}
}

// kindNames returns the names of all kinds.
func kindNames() string {
	names := make([]string, len(Kinds))
	for i, kind := range Kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}

// isPagerDutyKey reports whether a text looks like a routing key.
func isPagerDutyKey(text string) bool { return len(text) == 32 && only(text, "") }

// only reports whether a text consists of letters, digits and the given characters.
func only(text, others string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(others, r) {
			return false
		}
	}
	return text != ""
}

// containing returns a check for a part of a text.
func containing(part string) func(string) bool {
	return func(text string) bool { return strings.Contains(text, part) }
}

// with returns the rule with a further check.
func (r rule) with(fits func(string) bool, must string) rule { return rule{r.need, fits, must} }

func isBotToken(text string) bool {
	id, token, ok := strings.Cut(text, ":")
	_, err := strconv.ParseUint(id, 10, 64)
	return ok && err == nil && len(token) >= 20 && only(token, "_-")
}

func isTelegramChat(text string) bool {
	if name, named := strings.CutPrefix(text, "@"); named {
		return only(name, "_")
	}
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

func hasTopic(text string) bool {
	at, err := url.Parse(text)
	if err != nil {
		return false
	}
	path := strings.TrimRight(at.Path, "/")
	topic := path[strings.LastIndexByte(path, '/')+1:]
	return len(topic) <= 64 && only(topic, "-_")
}
