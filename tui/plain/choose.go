package plain

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"alisio/plug"
)

const (
	// maxWords bounds an answer in a person's own words, in characters: no more of it
	// reaches the model.
	maxWords = 4000
	// numbered is how many cells a number in front of an option takes.
	numbered = 4
)

// choose puts questions with options, one after the other. They allow nothing; still
// what was typed before one could be read is no answer to it.
func (l *Lines) choose(a asking, stop func()) answered {
	n := len(a.q.Questions)
	if n < 1 || n > plug.MaxQuestions {
		return answered{err: fmt.Errorf("%s at once, and 1 to %d can be put", Count(n, "question", "questions"), plug.MaxQuestions)}
	}
	chosen := make([]plug.Chosen, n)
	said := answered{Answer: plug.Answer{Decision: plug.Once, By: plug.ByUser, Chosen: chosen}}
	for i, q := range a.q.Questions {
		if len(q.Options) > plug.MaxOptions {
			return answered{err: fmt.Errorf("question %d has %d options, and %d can be put", i+1, len(q.Options), plug.MaxOptions)}
		}
		c, r := l.chooseOne(a, stop, i)
		switch {
		case r == nil:
			chosen[i] = c
		case r.err == nil && r.By == plug.ByUser:
			return said // with Ctrl+D: this one and the rest are skipped
		default:
			r.Chosen = chosen
			return *r
		}
	}
	return said
}

// chooseOne puts one of the questions until there is an answer.
func (l *Lines) chooseOne(a asking, stop func(), i int) (plug.Chosen, *answered) {
	c := a.q.Questions[i]
	whole := choice(a.q, i, l.session, l.cells())
	all := l.present(whole, "")
	for {
		said, r := l.replyText(a, stop, choiceMark(c, all))
		if r != nil {
			return plug.Chosen{}, r
		}
		if said.text == "?" {
			l.print("%s\n", strings.Join(whole, "\n"))
			all = true
			continue
		}
		chosen, err := chosenBy(c, said)
		if err == nil {
			return chosen, nil
		}
		l.print("%s\n", err)
	}
}

// choice writes a question down: who asks, the question, its numbered options.
func choice(q plug.Question, i int, current string, cells int) []string {
	s := &sheet{cells: cells - numbered}
	c := q.Questions[i]
	who := one(q.Tool)
	if who == "" {
		who = "a plugin"
	}
	head := "question: " + who + from(q, current) + " asks"
	if n := len(q.Questions); n > 1 {
		head += fmt.Sprintf(" (%d of %d)", i+1, n)
	}
	if c.Header != "" {
		head += ": " + one(c.Header)
	}
	s.add("", head)
	s.foreign(c.Question)
	for n, o := range c.Options {
		s.add(fmt.Sprintf("%*d | ", numbered, n+1), one(o.Label))
		if o.Description != "" {
			s.add(strings.Repeat(" ", numbered)+gutter, one(o.Description))
		}
	}
	return s.lines
}

// choiceMark is what stands in front of an answer.
func choiceMark(c plug.Choice, all bool) string {
	how := "answer? "
	switch n := len(c.Options); {
	case n > 0 && c.Multiple:
		how += "numbers (1,2) or words, "
	case n > 0:
		how += "a number or words, "
	}
	if !all {
		how += "? all, "
	}
	return how + "Enter skips: "
}

// words are an answer that was typed, as it is given on.
type words struct {
	text string
	// raw: it was one line, and nothing of it was pasted or taken out.
	raw bool
	cut bool
}

// replyText reads an answer that may have several lines, as a prompt may: pasted, in
// a block, or with a backslash at the end of a line. The first one was begun behind
// the mark.
func (l *Lines) replyText(a asking, stop func(), mark string) (words, *answered) {
	t, r := l.reply(a, stop, mark)
	if r != nil {
		return words{}, r
	}
	first := t.text
	var d draft
	for !d.add(t) {
		if !d.block && !d.pasting && l.in.terminal {
			l.print("%s", continueMark)
		}
		if t, r = l.more(a, stop); r != nil {
			return words{}, r
		}
	}
	said := strings.TrimSpace(d.message())
	return words{text: said, raw: said == strings.TrimSpace(first), cut: d.large}, nil
}

// more reads a further line of an answer that has begun.
func (l *Lines) more(a asking, stop func()) (typed, *answered) {
	select {
	case t := <-l.in.lines:
		return t, l.ended(t)
	case <-l.o.Interrupts:
		return typed{}, l.interruptedIn(stop)
	case <-a.ctx.Done():
		l.print("\n")
		return typed{}, withdrawn(a.ctx.Err())
	}
}

// chosenBy reads an answer to a choice: numbers of options, the words of one, or the
// person's own. Nothing at all skips it.
func chosenBy(c plug.Choice, said words) (plug.Chosen, error) {
	switch n := utf8.RuneCountInString(said.text); {
	case said.cut || n > maxWords:
		return plug.Chosen{}, fmt.Errorf("that is too long: an answer has at most %d characters", maxWords)
	case n == 0:
		return plug.Chosen{}, nil
	}
	numbers, are := numbersIn(said.text)
	if are && len(c.Options) > 0 && !slices.ContainsFunc(numbers, func(n int) bool { return n < 1 || n > len(c.Options) }) {
		if len(numbers) > 1 && !c.Multiple {
			return plug.Chosen{}, errors.New("only one of them can be chosen: type its number")
		}
		var chosen plug.Chosen
		for _, n := range numbers {
			chosen.Options = append(chosen.Options, n-1)
		}
		return chosen, nil
	}
	for i, o := range c.Options {
		if strings.EqualFold(strings.TrimSpace(o.Label), said.text) {
			return plug.Chosen{Options: []int{i}}, nil
		}
	}
	if are && len(c.Options) > 0 {
		return plug.Chosen{}, fmt.Errorf(`there is no such option: type 1 to %d, or an answer in words ("%s" in quotation marks is one)`, len(c.Options), said.text)
	}
	return plug.Chosen{Text: said.text}, nil
}

// numbersIn are the numbers of a list like "1,3" or "1 3", sorted, each once. Not are:
// it is something else.
func numbersIn(s string) (numbers []int, are bool) {
	const most = 100 // characters: what is longer is no list that somebody typed
	if len(s) > most {
		return nil, false
	}
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		n, err := strconv.ParseUint(word, 10, 16)
		if err != nil {
			return nil, false
		}
		numbers = append(numbers, int(n))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), len(numbers) > 0
}
