package crontab

import "strings"

// commandsOf returns the words of the simple commands in a command line of a shell, without quotes, redirections and
// comments. It accepts any text: an open quote ends with the text. It is used for names only.
func commandsOf(text string) (commands [][]string) {
	s := wordScanner{text: text}
	var words []string
	for s.i < len(text) {
		switch c := text[s.i]; {
		case strings.HasPrefix(text[s.i:], "\\\n"):
			s.i += 2
		case strings.HasPrefix(text[s.i:], "&>"), c == '>', c == '<':
			s.redirection()
		case strings.IndexByte(";&|()\n", c) >= 0:
			commands, words = append(commands, words), nil
			s.i++
		case c == ' ' || c == '\t' || c == '\r':
			s.i++
		case c == '#':
			if _, rest, found := strings.Cut(text[s.i:], "\n"); found {
				s.i = len(text) - len(rest) - 1
			} else {
				s.i = len(text)
			}
		default:
			word := s.word()
			if redirected := s.i < len(text) && (text[s.i] == '>' || text[s.i] == '<'); !redirected ||
				strings.Trim(word, "0123456789") != "" {
				words = append(words, word)
			}
		}
	}
	return append(commands, words)
}

type wordScanner struct {
	text string
	i    int
}

// redirection skips an operator and its word.
func (s *wordScanner) redirection() {
	for s.i < len(s.text) && strings.IndexByte("<>&|", s.text[s.i]) >= 0 {
		s.i++
	}
	for s.i < len(s.text) && (s.text[s.i] == ' ' || s.text[s.i] == '\t') {
		s.i++
	}
	s.word()
}

// word returns the word at the current place without its quotes. Substitutions stay as they are.
func (s *wordScanner) word() string {
	var b strings.Builder
	for s.i < len(s.text) {
		c := s.text[s.i]
		switch {
		case c == '\\':
			s.i++
			if s.i < len(s.text) {
				b.WriteByte(s.text[s.i])
				s.i++
			}
		case c == '\'':
			b.WriteString(s.until("'", 1))
		case c == '`':
			b.WriteString("`" + s.until("`", 1) + "`")
		case c == '"':
			s.doubleQuoted(&b)
		case strings.HasPrefix(s.text[s.i:], "$("):
			b.WriteString(s.substitution())
		case strings.IndexByte(" \t\r\n;|&<>()", c) >= 0:
			return b.String()
		default:
			b.WriteByte(c)
			s.i++
		}
	}
	return b.String()
}

// until returns the text from the current place, without skip bytes, to a mark, and moves behind it.
func (s *wordScanner) until(mark string, skip int) string {
	text, rest, _ := strings.Cut(s.text[s.i+skip:], mark)
	s.i = len(s.text) - len(rest)
	return text
}

func (s *wordScanner) doubleQuoted(b *strings.Builder) {
	for s.i++; s.i < len(s.text); s.i++ {
		switch c := s.text[s.i]; {
		case c == '"':
			s.i++
			return
		case c == '\\' && s.i+1 < len(s.text):
			s.i++
			b.WriteByte(s.text[s.i])
		case strings.HasPrefix(s.text[s.i:], "$("):
			b.WriteString(s.substitution())
			s.i--
		default:
			b.WriteByte(c)
		}
	}
}

// substitution returns $(…) with the brackets inside it.
func (s *wordScanner) substitution() string {
	begin, depth := s.i, 0
	for ; s.i < len(s.text); s.i++ {
		switch s.text[s.i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				s.i++
				return s.text[begin:s.i]
			}
		}
	}
	return s.text[begin:]
}
