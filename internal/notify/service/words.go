package service

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/notify"
)

// reasonsZh are the Chinese texts of reasons by code, those of the console.
//
//go:embed reasons_zh.txt
var reasonsZh string

// words are the texts of a language.
type words struct {
	language notify.Language
	open     string // of the link
	output   string // above the output

	wholeOutput string // above output that is whole

	job, status, reason, when, worker, count, since, step, question, deadline, jobs, recovered string
}

// fact is a line of a message.
type fact struct{ name, value string }

func wordsOf(language notify.Language) *words {
	if language == notify.Chinese {
		return &words{
			language: language,
			open:     "在控制台中打开",
			output:   "输出的末尾",

			wholeOutput: "输出",

			job:      "任务",
			status:   "状态",
			reason:   "原因",
			when:     "时间",
			worker:   "工作节点",
			count:    "次数",
			since:    "始于",
			step:     "步骤",
			question: "问题",
			deadline: "期限",
			jobs:     "任务列表",

			recovered: "已恢复",
		}
	}
	return &words{
		language: notify.English,
		open:     "Open in the console",
		output:   "End of the output",

		wholeOutput: "Output",

		job:      "Job",
		status:   "Status",
		reason:   "Reason",
		when:     "When",
		worker:   "Worker",
		count:    "Times",
		since:    "Since",
		step:     "Step",
		question: "Question",
		deadline: "Deadline",
		jobs:     "Jobs",

		recovered: "Recovered",
	}
}

// facts returns what people need to know, in at most ten lines, each of which is a line of at most 201 characters.
func (w *words) facts(m *notify.Message) (all []fact) {
	d := &m.Data
	add := func(name, value string) {
		if value = notify.Line(value); value != "" {
			all = append(all, fact{name, value})
		}
	}
	add(w.job, w.jobOf(d))
	add(w.status, w.statusOf(d.Status))
	if d.Reason != nil {
		add(w.reason, w.reasonOf(d.Reason))
	}
	add(w.when, whenOf(d))
	if d.Event != notify.SubjectTest {
		add(w.worker, d.Worker)
	}
	if d.Job != "" && d.Count > 1 {
		add(w.count, fmt.Sprint(d.Count))
		add(w.since, timeOf(d.FirstAt))
	}
	add(w.step, d.Step)
	add(w.question, d.Text)
	add(w.deadline, timeOf(d.Deadline))
	add(w.jobs, strings.Join(d.Jobs, ", "))
	if g := d.Digest; g != nil {
		add(w.recovered, strings.Join(g.RecoveredJob, ", "))
		add(w.wholeOutput, strings.Join(g.PrintedJob, ", "))
	}
	return all
}

func (w *words) jobOf(d *notify.Data) string {
	job := d.Job
	if d.Title != "" {
		job = fmt.Sprintf("%s (%s)", common.Excerpt(d.Title), d.Job)
	}
	switch {
	case !d.Backfill:
	case w.language == notify.Chinese:
		job += " 的补跑"
	default:
		job = "backfill of " + job
	}
	return job
}

// whenOf returns the time that the event is about: the last that is known.
func whenOf(d *notify.Data) string {
	for _, at := range []*time.Time{d.EndedAt, d.StartedAt, d.Since, d.PlannedAt} {
		if text := timeOf(at); text != "" {
			return text
		}
	}
	return ""
}

func timeOf(t *time.Time) string {
	if t == nil || t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func (w *words) statusOf(s common.Status) string {
	if w.language == notify.Chinese {
		if text, ok := (map[common.Status]string{
			common.StatusWaiting:   "等待中",
			common.StatusRunning:   "运行中",
			common.StatusSucceeded: "成功",
			common.StatusFailed:    "失败",
			common.StatusTimedOut:  "超时",
			common.StatusKilled:    "已终止",
			common.StatusLost:      "丢失",
			common.StatusSkipped:   "已跳过",
			common.StatusRefused:   "已拒绝",
			common.StatusMissed:    "已错过",
		})[s]; ok {
			return text
		}
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// reasonOf returns the text of a reason: the English one, if there is no other or it lacks a value.
func (w *words) reasonOf(r *common.Reason) string {
	if w.language != notify.Chinese {
		return r.Text
	}
	wanted := r.Code
	if r.Code == common.ReasonLate && r.Data["until"] != "" {
		wanted += "_until"
	}
	if root := r.Data["root"]; root != "" {
		wanted += "_root"
		if root == r.Data["step"] {
			wanted = r.Code + "_step"
		}
	}
	for line := range strings.Lines(reasonsZh) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if code != wanted {
			continue
		}
		for name, value := range r.Data {
			text = strings.ReplaceAll(text, "{{"+name+"}}", strings.ReplaceAll(value, "{{", "{ {"))
		}
		if !strings.Contains(text, "{{") {
			return text
		}
	}
	return r.Text
}

// title returns the message in one line.
func (w *words) title(m *notify.Message) string {
	if w.language != notify.Chinese {
		return m.Subject
	}
	return "[Carillon] " + notify.Line(w.headline(&m.Data))
}

// headline returns the Chinese counterpart of a message's subject.
func (w *words) headline(d *notify.Data) (text string) {
	job := w.jobOf(d)
	switch d.Event {
	case notify.SubjectTest:
		return "测试消息"
	case notify.SubjectSummary:
		return fmt.Sprintf("另有 %d 个任务出现故障", d.Count)
	case notify.SubjectRecovered:
		return fmt.Sprintf("另有 %d 个任务已恢复", d.Count)
	case notify.SubjectPrinted:
		return fmt.Sprintf("另有 %d 个任务产生了输出", d.Count)
	case notify.SubjectPaused:
		return fmt.Sprintf("%s 已暂停：连续 %d 次失败", job, d.Failures)
	case notify.SubjectDigest:
		return digestLine(d)
	case notify.SubjectRaised:
		return fmt.Sprintf("%s 出现故障已达 %s", job, d.Lasts)
	case notify.SubjectStepFailed:
		if text = job + " 的一个步骤失败"; d.Step != "" {
			text = fmt.Sprintf("%s 的步骤 %s %s", job, d.Step, w.how(d))
		}
	case notify.SubjectSkipped:
		return fmt.Sprintf("%s 经常跳过触发：最近 %d 次中有 %d 次", job, d.Fires, d.Skipped)
	case notify.SubjectApproval:
		return fmt.Sprintf("%s 的步骤 %s 等待批准", job, d.Step)
	case "recovered":
		return job + " 已恢复"
	case notify.SubjectOutput:
		text = job + " " + w.how(d) + "，有输出"
	case "failed":
		if text = job + " " + w.how(d); d.Cause == common.CauseDaemon {
			text = fmt.Sprintf("%s 反复重启：已连续 %d 次过早结束", job, d.Restarts)
		}
	case "lost":
		text = job + " 随工作节点丢失"
	case "missed":
		text = job + " 未运行"
	case "late":
		text = job + " 未按时开始"
		if d.Status == common.StatusRunning {
			text = job + " 的运行时间比往常长"
		}
	default:
		text = job + "：" + string(d.Event)
	}
	if d.Worker != "" {
		text += "，工作节点 " + d.Worker
	}
	if d.Flapping {
		text += "；它反复失败又恢复"
	}
	return text
}

// how describes how a run ended.
func (w *words) how(d *notify.Data) string {
	switch {
	case d.Status == common.StatusSucceeded, d.Status == common.StatusLost, d.Status == common.StatusMissed,
		d.Status == common.StatusTimedOut, d.Status == common.StatusRefused, d.Status == common.StatusKilled:
		return w.statusOf(d.Status)
	case d.Signal != "":
		return "失败（" + d.Signal + "）"
	case d.ExitCode != nil:
		return fmt.Sprintf("失败（退出码 %d）", *d.ExitCode)
	}
	return w.statusOf(common.StatusFailed)
}

// digestLine returns the numbers of a digest.
func digestLine(d *notify.Data) string {
	var parts []string
	if d.Count > 0 {
		parts = append(parts, fmt.Sprintf("%d 个任务出现故障", d.Count))
	}
	if g := d.Digest; g != nil && g.Recovered > 0 {
		parts = append(parts, fmt.Sprintf("%d 个任务已恢复", g.Recovered))
	}
	if g := d.Digest; g != nil && g.Printed > 0 {
		parts = append(parts, fmt.Sprintf("%d 个任务产生了输出", g.Printed))
	}
	return "免打扰时段内：" + strings.Join(parts, "，")
}

// tone is how urgent a message is.
type tone int

const (
	info tone = iota
	good
	warn
	bad
)

func toneOf(d *notify.Data) tone {
	switch d.Event {
	case notify.SubjectDigest:
		if d.Count > 0 {
			return bad
		}
	case "recovered", notify.SubjectRecovered:
		return good
	case "late":
		return warn
	case "failed", "lost", "missed", notify.SubjectStepFailed, notify.SubjectPaused, notify.SubjectRaised,
		notify.SubjectSummary:
		return bad
	}
	return info
}
