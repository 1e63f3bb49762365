package schedule

// hashed parses H, H/15, H(0-29) and H(0-29)/10: values that differ from job to job and are determined by the job's
// name.
func (p *fieldParser) hashed(it token) *Error {
	if p.pos == year {
		return p.fail(CodeHash, it, "H has no meaning in the year field", "write the years")
	}
	first, last := p.def.min, p.def.max
	if p.pos == dom {
		last = 28 // so that every month has the day
	}
	rest := it.from(1)
	if rest.text != "" && rest.text[0] == '(' {
		var err *Error
		if first, last, rest, err = p.hashRange(rest); err != nil {
			return err
		}
	} else if rest.text != "" && p.pos == dom {
		last = p.def.max
	}
	step := 0
	if rest.text != "" {
		if rest.text[0] != '/' {
			return p.trailing(rest, "write H, H/15, H(0-29) or H(0-29)/10")
		}
		var err *Error
		if step, err = p.step(rest.from(1)); err != nil {
			return err
		}
	}
	size := last - first + 1
	h := hash(p.seed, p.def.name)
	if step == 0 {
		p.addSpan(first+int(h%uint64(size)), first+int(h%uint64(size)), 1)
		return nil
	}
	p.out.hashStep = true
	p.addSpan(first+int(h%uint64(min(step, size))), last, step)
	return nil
}

// hashRange parses the (0-29) of H(0-29).
func (p *fieldParser) hashRange(open token) (first, last int, rest token, err *Error) {
	first, rest, err = p.value(open.from(1))
	if err != nil {
		return 0, 0, rest, err
	}
	if rest.text == "" || rest.text[0] != '-' {
		return 0, 0, rest, p.fail(CodeSyntax, rest, "H( needs a range", "such as H(0-29)")
	}
	last, rest, err = p.value(rest.from(1))
	if err != nil {
		return 0, 0, rest, err
	}
	if rest.text == "" || rest.text[0] != ')' {
		return 0, 0, rest, p.fail(CodeSyntax, rest, "the range of H is not closed", "such as H(0-29)")
	}
	first, last, err = p.order(open, first, last)
	return first, last, rest.from(1), err
}

// hash is FNV-1a over the names of job and field, mixed at the end so that its low digits depend on every byte. It must
// never change: jobs would fire at other times.
func hash(name, field string) uint64 {
	h := uint64(14695981039346656037)
	mix := func(s string) {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 1099511628211
		}
	}
	mix(name)
	mix("\x00")
	mix(field)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}
