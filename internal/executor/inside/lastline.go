package inside

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"carillon/internal/common"
	"carillon/internal/executor/redact"
)

const (
	keptEnd     = 1 << 10 // bytes kept of the end of a stream
	maxLastLine = 200     // bytes of a line that an outcome quotes
)

// controls matches terminal controls (ECMA-48), the title of a window and unfinished ones included.
var controls = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~]?)`)

// ending is the end of a stream that was printed.
type ending struct {
	text []byte
	cut  bool // the stream is longer
}

func (e *ending) add(p []byte) {
	if len(p) >= keptEnd {
		e.cut = e.cut || len(e.text) > 0 || len(p) > keptEnd
		e.text = append(e.text[:0], p[len(p)-keptEnd:]...)
		return
	}
	if over := len(e.text) + len(p) - keptEnd; over > 0 {
		e.text = append(e.text[:0], e.text[over:]...)
		e.cut = true
	}
	e.text = append(e.text, p...)
}

// line returns the last line that is not blank, as plain text of at most maxLastLine bytes; "" if there is none. Of a
// line that was printed over, as by a progress bar, it is what remained. Secrets in which controls were printed are
// masked once these are removed.
func (e *ending) line(masks *redact.Masker) string {
	rest := controls.ReplaceAll(e.text, nil)
	for len(rest) > 0 {
		at := bytes.LastIndexAny(rest, "\r\n")
		if text := plain(rest[at+1:]); text != "" {
			if at < 0 && e.cut { // its beginning was not kept
				text = "…" + text
			}
			return shortened(masks.Text(text))
		}
		rest = rest[:max(at, 0)]
	}
	return ""
}

// plain returns a line without control characters.
func plain(line []byte) string {
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, string(line))
	return strings.TrimSpace(text)
}

func shortened(text string) string {
	if len(text) <= maxLastLine {
		return text
	}
	end := maxLastLine - len("…")
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// Explain adds to the reason of a run that failed or timed out the last line that was printed: of stderr, or else of
// stdout. Secrets are masked in it, as in all output. It is called after Close.
func (c *Capture) Explain(run *common.Run) {
	if run.Reason == nil || run.Status != common.StatusFailed && run.Status != common.StatusTimedOut {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	line := c.ends[1].line(c.masks)
	if line == "" {
		line = c.ends[0].line(c.masks)
	}
	quote(run, line)
}

// Quote sets the line that the reason of a failed run quotes, in place of the last one that was printed.
func (c *Capture) Quote(run *common.Run, line string) {
	if run.Reason != nil {
		quote(run, shortened(c.masks.Text(plain([]byte(line)))))
	}
}

func quote(run *common.Run, line string) {
	if line == "" {
		return
	}
	if run.Reason.Data == nil {
		run.Reason.Data = common.Words{}
	}
	run.Reason.Data[common.LastLine] = line
}
