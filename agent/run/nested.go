package run

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"alisio/agent/gate"
	"alisio/agent/text"
	"alisio/llm"
	"alisio/plug"
)

// Instruction is an instruction file that holds for a path below the working
// directory (spec context.md, "AGENTS.md").
type Instruction struct {
	// Name is the file's name for people and models, with slashes.
	Name   string
	Text   string
	SHA256 string
}

// attachedKind is the kind of the block that tells of an attached file. The runner
// alone writes it: it is taken out of what tools give.
const attachedKind = "instructions"

// fileBlock is that block.
type fileBlock struct {
	Kind   string `json:"kind"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
}

// attachment reads the block of a part.
func attachment(p llm.Part) (fileBlock, bool) {
	var b fileBlock
	if p.Type != llm.PartUI || json.Unmarshal(p.Block, &b) != nil || b.Kind != attachedKind {
		return fileBlock{}, false
	}
	return b, true
}

// own takes what only the runner says out of a tool's result.
func own(r plug.Result) plug.Result {
	for i, p := range r.Parts {
		if _, ok := attachment(p); !ok {
			continue
		}
		kept := append([]llm.Part(nil), r.Parts[:i]...)
		for _, p := range r.Parts[i+1:] {
			if _, ok := attachment(p); !ok {
				kept = append(kept, p)
			}
		}
		r.Parts = kept
		break
	}
	return r
}

// quiet reports whether a plan changes nothing.
func quiet(p plug.Plan) bool { return gate.Effect(p).Quiet() }

// instruct finds the instruction files that hold for a call and that the model has
// not read: they go with the call's result. A call with an effect is not made
// before the model has read them; it is answered, neither denied nor failed.
func (l *loop) instruct(w *work) {
	paths := planned(w.plan)
	if l.o.Nested == nil || len(paths) == 0 {
		return
	}
	files, err := l.o.Nested(l.ctx, paths)
	if err != nil {
		w.notes = append(w.notes, "instruction files that may hold here could not be read: "+text.Short(visible(err.Error()), 500))
		return
	}
	var unread []string
	for _, f := range files {
		f.Name = text.Short(visible(f.Name), 500)
		by, now := l.news[f.Name]
		switch {
		case l.attached[f.Name] != f.SHA256:
			w.files = append(w.files, f)
			l.attached[f.Name], l.news[f.Name] = f.SHA256, w.ID
			unread = append(unread, f.Name)
		case now && by != w.ID:
			unread = append(unread, fmt.Sprintf("%s (with the result of call %s)", f.Name, by))
		case now:
			unread = append(unread, f.Name)
		}
	}
	if len(unread) == 0 || quiet(w.plan) {
		return
	}
	r := plug.Text("Not run yet: instruction files hold for what this call touches: " + strings.Join(unread, ", ") +
		". Read these, then make the call again.").WithSummary("instructions to read first")
	w.answer, w.back = &r, true
}

// planned are the paths that a plan touches.
func planned(p plug.Plan) []string {
	var paths []string
	for _, at := range p.Paths {
		paths = append(paths, at.Path)
	}
	if p.Dir != "" {
		paths = append(paths, p.Dir)
	}
	return paths
}

// withFiles puts instruction files in front of a result, where a cut comes last,
// and returns how many characters of it they are.
func withFiles(r plug.Result, files []Instruction) (plug.Result, int) {
	if len(files) == 0 {
		return r, 0
	}
	var parts, blocks []llm.Part
	chars := 0
	for _, f := range files {
		text := strings.ToValidUTF8(fmt.Sprintf("[instructions for %s, from %s]\n%s", path.Dir(f.Name), path.Base(f.Name), f.Text), "\uFFFD")
		chars += utf8.RuneCountInString(text)
		parts = append(parts, llm.Part{Type: llm.PartText, Text: text})
		block, _ := json.Marshal(fileBlock{Kind: attachedKind, Path: f.Name, SHA256: f.SHA256}) // strings always marshal
		blocks = append(blocks, llm.Part{Type: llm.PartUI, Block: block})
	}
	r.Parts = append(append(parts, r.Parts...), blocks...)
	return r, chars
}
