package resource

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
)

const (
	// maxSkillDepth is how deep below a root a skill may be, and a file below its
	// skill.
	maxSkillDepth = 5
	// maxSkillDirs bounds the directories that are looked at for one source.
	maxSkillDirs = 2000
	// usualHead is how much of a SKILL.md is read at first: more than most need.
	usualHead = 4 << 10
	// maxHead is how much of a SKILL.md is read to know its name and description:
	// the largest block, its fences, and a byte to see that it is larger.
	maxHead = 64<<10 + 16
)

// walk looks for SKILL.md below one root. A directory that has one is a skill, and
// nothing below it is another:
//
//	directory -SKILL.md-> finder.take
//	          -else-----> its directories, in order
type walk struct {
	*finder
	tree  tree
	place place
}

func (w *walk) directory(dir string, depth int) {
	if w.ctx.Err() != nil {
		return
	}
	if w.dirs++; w.dirs > maxSkillDirs {
		if w.dirs == maxSkillDirs+1 {
			w.tell(Warning, SkillUnread, w.place.abs(dir), fmt.Sprintf("more than %d directories were not looked at for skills", maxSkillDirs))
		}
		return
	}
	l, err := w.tree.list(dir)
	if err != nil {
		if dir != "." {
			w.tell(Warning, SkillUnread, w.place.abs(dir), "was not read: "+bare(err).Error())
		}
		return
	}
	if w.known(l.self) {
		return
	}
	if l.more {
		w.tell(Warning, SkillUnread, w.place.abs(dir), fmt.Sprintf("holds more than %d names: the others were not looked at", maxNames))
	}
	if w.skill(dir, l.entries) {
		return
	}
	// Links last: a directory that is there twice is known by its own name.
	slices.SortStableFunc(l.entries, func(a, b entry) int {
		switch {
		case a.link == b.link:
			return 0
		case b.link:
			return -1
		}
		return 1
	})
	for _, e := range l.entries {
		switch {
		case e.broken:
			w.tell(Note, SkillUnread, w.place.abs(path.Join(dir, e.name)), "is neither a file nor a directory, or a link that leads nowhere or out of its root: not read")
		case !e.dir || e.name == ".git" || e.name == "node_modules":
		case depth == maxSkillDepth:
			w.tell(Warning, SkillUnread, w.place.abs(path.Join(dir, e.name)), fmt.Sprintf("is nested deeper than %d: not looked at for skills", maxSkillDepth))
		default:
			w.directory(path.Join(dir, e.name), depth+1)
		}
	}
}

// known reports a directory that was looked at before, by its own name or a link.
func (w *walk) known(info fs.FileInfo) bool {
	if info == nil {
		return false
	}
	if slices.ContainsFunc(w.seen, func(i fs.FileInfo) bool { return os.SameFile(i, info) }) {
		return true
	}
	w.seen = append(w.seen, info)
	return false
}

// skill takes the skill of a directory, if it is one.
func (w *walk) skill(dir string, entries []entry) bool {
	at := spotted{w.source, w.place.at(dir)}
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == skillFile })
	if i < 0 {
		if i = slices.IndexFunc(entries, func(e entry) bool { return misnamed(e.name) && !e.dir }); i >= 0 {
			w.tell(Warning, SkillInvalid, at.place.abs(entries[i].name), "must be called "+skillFile+"; the skill is left out")
		}
		return false
	}
	w.found = append(w.found, at)
	for _, limit := range []int{usualHead, maxHead} {
		data, size, err := w.tree.read(path.Join(dir, skillFile), limit)
		if err != nil {
			w.tell(Error, SkillInvalid, at.file(), "was not read: "+bare(err).Error()+"; the skill is left out")
			break
		}
		// What is wrong may be but that the head ends too soon.
		if k, findings, ok := inspect(at.dirName(), data, size, false); findings == nil || limit == maxHead || size <= usualHead {
			w.take(at, k, findings, ok)
			break
		}
	}
	return true
}
