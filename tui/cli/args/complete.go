package args

import (
	"embed"
	"slices"
	"strings"
)

// Words that stand for what the shell completes itself.
const (
	Files = ":files"
	Dirs  = ":dirs"
)

// Candidate is one word that can stand at a place.
type Candidate struct {
	// Word is what is typed, or Files or Dirs.
	Word string
	Help string
}

// Complete returns what can stand in place of the last word, which is begun or
// empty, behind the other words. What does not begin as it does is left out.
func (t *Table[S, R]) Complete(words []string) []Candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	plain, used, open, literal := t.read(before)
	var all []Candidate
	switch {
	case open != nil:
		all = t.values(open)
	case literal:
		all = []Candidate{{Word: Files}}
	case strings.HasPrefix(last, "-"):
		all = t.flagCandidates(plain, last)
	default:
		all = t.wordCandidates(plain, used)
	}
	return slices.DeleteFunc(all, func(c Candidate) bool {
		return c.Word != Files && c.Word != Dirs && !strings.HasPrefix(c.Word, last)
	})
}

// read takes the words before the one in hand apart: those that are no flags, the
// flags, the one whose value is missing, and whether "--" ended the flags.
func (t *Table[S, R]) read(words []string) (plain []string, used []*Flag[S], open *Flag[S], literal bool) {
	for _, w := range words {
		switch {
		case open != nil:
			open = nil
		case literal:
			plain = append(plain, w)
		case w == "--":
			literal = true
		case len(w) > 1 && w[0] == '-':
			f, _, inline, err := t.find(w, plain)
			if err != nil {
				continue
			}
			if used = append(used, f); f.Arg != "" && !f.Inline && !inline {
				open = f
			}
		default:
			plain = append(plain, w)
		}
	}
	return plain, used, open, literal
}

// values are those that a flag can have.
func (t *Table[S, R]) values(f *Flag[S]) []Candidate {
	switch {
	case f.Values != nil:
		var all []Candidate
		for _, v := range f.Values {
			all = append(all, Candidate{Word: v})
		}
		return all
	case f.Arg == "FILE":
		return []Candidate{{Word: Files}}
	case f.Arg == "DIR":
		return []Candidate{{Word: Dirs}}
	case t.Values != nil:
		return t.Values(f.Arg)
	}
	return nil
}

// flagCandidates are the flags that the command takes; those behind "=" are the
// values of the flag before it.
func (t *Table[S, R]) flagCandidates(plain []string, last string) []Candidate {
	name := t.line(plain).Name
	var all []Candidate
	for i := range t.Flags {
		f := &t.Flags[i]
		if len(plain) > 0 && !t.taken(f, name) {
			continue
		}
		if before := "--" + f.Name + "="; strings.HasPrefix(last, before) {
			for _, v := range t.values(f) {
				if v.Word != Files && v.Word != Dirs {
					v.Word = before + v.Word
				}
				all = append(all, v)
			}
			continue
		}
		all = append(all, Candidate{Word: "--" + f.Name, Help: f.Help})
		if f.Short != "" {
			all = append(all, Candidate{Word: "-" + f.Short, Help: f.Help})
		}
	}
	return all
}

// wordCandidates are the commands that can stand next, or what the command takes.
func (t *Table[S, R]) wordCandidates(plain []string, used []*Flag[S]) []Candidate {
	list := t.Commands
	var all []Candidate
	if len(plain) > 0 {
		line := t.line(plain)
		switch {
		case line.Unknown != nil:
			return nil
		case line.Name == "":
			return []Candidate{{Word: Files}} // words of a prompt
		}
		if !line.Command.Group() {
			return t.argCandidates(line.Command.Args, len(line.Words), used)
		}
		list = line.Command.Subs
	}
	for _, c := range list {
		all = append(all, Candidate{Word: c.Name, Help: c.Help})
	}
	return all
}

// argCandidates are those of the n-th word that a command takes, by its name. A flag
// that stands for a word, as --last in "[SESSION|--last]", takes its place.
func (t *Table[S, R]) argCandidates(args string, n int, used []*Flag[S]) []Candidate {
	kinds := slices.DeleteFunc(strings.Fields(args), func(kind string) bool {
		return slices.ContainsFunc(used, func(f *Flag[S]) bool {
			return slices.Contains(strings.Split(strings.Trim(kind, "[]…"), "|"), "--"+f.Name)
		})
	})
	if len(kinds) == 0 || n >= len(kinds) && !strings.Contains(kinds[len(kinds)-1], "…") {
		return nil
	}
	kind := strings.Trim(kinds[min(n, len(kinds)-1)], "[]…")
	var all []Candidate
	for part := range strings.SplitSeq(kind, "|") {
		switch part = strings.Trim(part, "[]…"); {
		case part == "FILE" || part == "PATH" || part == "PROMPT":
			all = append(all, Candidate{Word: Files})
		case part == "DIR":
			all = append(all, Candidate{Word: Dirs})
		case strings.ToLower(part) == part:
			all = append(all, Candidate{Word: part})
		case t.Values != nil:
			all = append(all, t.Values(part)...)
		}
	}
	return all
}

//go:embed complete.bash complete.zsh complete.fish
var scripts embed.FS

// Shells are those that Script knows.
func Shells() []string { return []string{"bash", "fish", "zsh"} }

// Script returns what a shell reads to complete the program's words: it asks the
// program itself each time, by "PROGRAM completion --words -- WORD…".
func (t *Table[S, R]) Script(shell string) (string, error) {
	if !slices.Contains(Shells(), shell) {
		return "", Unknown("shell", shell, Shells())
	}
	text, err := scripts.ReadFile("complete." + shell)
	return strings.ReplaceAll(string(text), "PROGRAM", t.Program), err
}
