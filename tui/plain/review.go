package plain

import (
	"strings"
	"unicode/utf8"

	"alisio/agent"
	"alisio/plug"
)

const reviewMark = "approve? y yes, n skip [reason], f TEXT what to change, ? all: "

// review puts a plan. As with a call, nothing is approved before all of it was shown,
// nor by what was pasted.
func (l *Lines) review(a asking, stop func()) answered {
	whole := reviewed(a.q, l.session, l.cells())
	all := l.present(whole, "; nothing is approved before")
	l.print("  a yes: the agent %s goes on with the permissions that were given\n", agent.DefaultAgent)
	for {
		said, r := l.replyText(a, stop, reviewMark)
		if r != nil {
			return *r
		}
		word, rest := cutWord(said.text)
		yes := word == "y" || word == "yes"
		switch {
		case said.cut || utf8.RuneCountInString(rest) > maxWords:
			l.print("that is too long: at most %d characters\n", maxWords)
		case word == "n" || word == "no":
			return decided(plug.Deny, rest)
		case word == "f" && rest != "":
			return decided(plug.Feedback, rest)
		case word == "f":
			l.print("say what is to be changed: f TEXT\n")
		case word == "?" && rest == "":
			l.print("%s\n", strings.Join(whole, "\n"))
			all = true
		case yes && (rest != "" || !said.raw):
			l.print("y stands alone; f TEXT says what is to be changed\n")
		case yes && !all:
			l.print("not all of it was shown yet: ? shows it\n")
		case yes:
			return decided(plug.Once, "")
		default:
			l.print("that is no answer: y, n, or f and what is to be changed\n")
		}
	}
}

func decided(d plug.Decision, reason string) answered {
	return answered{Answer: plug.Answer{Decision: d, Reason: reason, By: plug.ByUser}}
}

// cutWord takes the first word off, in lower case.
func cutWord(s string) (word, rest string) {
	if i := strings.IndexAny(s, " \t\n"); i >= 0 {
		return strings.ToLower(s[:i]), strings.TrimSpace(s[i:])
	}
	return strings.ToLower(s), ""
}

// reviewed writes a plan down.
func reviewed(q plug.Question, current string, cells int) []string {
	s := &sheet{cells: cells}
	head := "plan: " + one(q.Tool) + from(q, current) + " asks for a review"
	s.add("", head)
	s.say("title: %s", one(q.Review.Title))
	if q.Review.Revision > 1 {
		s.say("version: %d", q.Review.Revision)
	}
	s.foreign(strings.TrimRight(q.Review.Text, "\n"))
	return s.lines
}
