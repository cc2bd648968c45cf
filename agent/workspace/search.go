package workspace

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxWorkers   = 8
	batchFiles   = 32 // files that a worker takes at once
	aheadBatches = 8  // batches found but not yet told; their folders are open
	aheadMatches = 32 // of each batch, then its worker waits for the caller

	maxTime = time.Minute // of a search or a listing
)

// SearchQuery asks for matching lines.
type SearchQuery struct {
	// Pattern is an RE2 expression, or plain text with Literal. Lines are
	// searched one by one; "^" and "$" are their ends.
	Pattern    string
	Literal    bool
	IgnoreCase bool
	// Path is a directory or a file; empty is the workspace. Glob as in
	// ListQuery.
	Path, Glob string
	// Context is how many lines before and after come with a match, at most 100.
	Context int
	// MaxLine bounds a line's text in bytes; a longer one is clipped around the
	// match at rune borders. Zero is 400, the bound 65536.
	MaxLine int
}

// Match is one matching line.
type Match struct {
	// Name as Target.Name.
	Name string
	// Line is 1-based.
	Line int
	// Text is the line as plain UTF-8, clipped as Clipped tells.
	Text    string
	Clipped bool
	// Before and After are context lines, clipped likewise.
	Before, After []string
	// Binary: the file holds the pattern, and binary data; Line and Text are zero.
	Binary bool
}

// SearchStats tells what a search covered.
type SearchStats struct {
	// Files is the number of files searched.
	Files int
	// IgnoredCount and HiddenCount are files and directories left out by rules.
	IgnoredCount, HiddenCount int
	// Unreadable counts files and directories that could not be read.
	Unreadable int
	// More: the walk met its own limit, files are missing.
	More bool
	// Stopped: onMatch ended the search early.
	Stopped bool
	// TimedOut: it took a minute and was ended; matches are missing.
	TimedOut bool
}

// Search calls onMatch for each matching line, in the order of paths and lines,
// until it returns false. Links are not followed; a file in UTF-16 is searched
// as text, one with a NUL gives one match that says so.
//
// The walk, the workers and the caller are tied by two channels of bounded size,
// both in the order of paths:
//
//	walk ─┬─ todo ──► workers ─ batch.out ─┐
//	      └─ told ──► caller: for each batch, its matches ◄┘
//
// The oldest batch is always with a worker or told, so that nobody waits for ever.
func (w *Workspace) Search(ctx context.Context, q SearchQuery, onMatch func(Match) bool) (SearchStats, error) {
	p, err := compilePattern(q.Pattern, q.Literal, q.IgnoreCase)
	if err != nil {
		return SearchStats{}, fmt.Errorf("search text: %w", err)
	}
	inner, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	s := &searching{
		w: w, q: q, p: p, ctx: inner,
		todo: make(chan *batch, aheadBatches),
		told: make(chan *batch, aheadBatches),
	}
	s.wg.Go(s.walk)
	for range min(runtime.GOMAXPROCS(0), maxWorkers) {
		s.wg.Go(s.work)
	}
	stopped := !s.tell(onMatch)
	timedOut := !stopped && inner.Err() != nil
	cancel()
	s.wg.Wait()
	st := SearchStats{
		Files: int(s.files.Load()), IgnoredCount: s.left.ignored, HiddenCount: s.left.hidden,
		Unreadable: int(s.unreadable.Load()) + s.left.unreadable, More: s.left.more, Stopped: stopped,
		TimedOut: timedOut && ctx.Err() == nil,
	}
	if err = ctx.Err(); err == nil {
		err = s.err
	}
	if err == nil || stopped || st.TimedOut {
		return st, nil
	}
	return st, fmt.Errorf("search text: %w", err)
}

// searching is one call of Search.
type searching struct {
	w   *Workspace
	q   SearchQuery
	p   *pattern
	ctx context.Context
	wg  sync.WaitGroup

	todo, told        chan *batch
	files, unreadable atomic.Int64

	left left // of the walk, which has ended when they are read
	err  error
}

// batch is some files that follow each other, and what was found in them.
type batch struct {
	files []found
	out   chan Match
}

// walk makes batches. They are small at first: an early match comes early, and
// few files are still spread over the workers.
func (s *searching) walk() {
	defer close(s.told)
	defer close(s.todo)
	b, n := &batch{}, 0
	q := ListQuery{Path: s.q.Path, Glob: s.q.Glob}
	s.left, s.err = s.w.walk(s.ctx, q, func(f found) bool {
		if !f.kind.IsRegular() {
			return true
		}
		f.in.keep()
		b.files = append(b.files, f)
		n++
		if len(b.files) < min(batchFiles, 1+n/64) {
			return true
		}
		full := b
		b = &batch{}
		return s.hand(full)
	})
	s.hand(b)
}

// hand gives a batch on, first to the caller: what a worker has must be waited for.
func (s *searching) hand(b *batch) bool {
	b.out = make(chan Match, aheadMatches)
	select {
	case s.told <- b:
	case <-s.ctx.Done():
		b.drop()
		return false
	}
	s.todo <- b // has as much room as told, and workers never stop taking
	return true
}

func (b *batch) drop() {
	for _, f := range b.files {
		f.in.drop()
	}
}

func (s *searching) work() {
	sc := &scanner{
		p: s.p, context: min(max(s.q.Context, 0), maxContext), maxLine: defaultLine, window: maxWindow, done: s.ctx.Done(),
	}
	if s.q.MaxLine > 0 {
		sc.maxLine = min(s.q.MaxLine, maxShown)
	}
	for b := range s.todo {
		s.search(sc, b)
		close(b.out)
		b.drop()
	}
}

// search finds what is in a batch, until nobody wants it any more.
func (s *searching) search(sc *scanner, b *batch) {
	for _, f := range b.files {
		if s.ctx.Err() != nil {
			return
		}
		src, err := f.in.open(f.name)
		if err != nil {
			s.unreadable.Add(1)
			continue
		}
		s.files.Add(1)
		name := ""
		err = sc.file(src, func(m Match) bool {
			if name == "" {
				name = f.root.name(f.rel)
			}
			m.Name = name
			select {
			case b.out <- m:
				return true
			case <-s.ctx.Done():
				return false
			}
		})
		src.Close()
		if err != nil {
			s.unreadable.Add(1)
		}
	}
}

// tell hands all matches to the caller, in order, and tells whether it wanted
// them all. Each batch is closed by a worker, at once when ctx is done.
func (s *searching) tell(onMatch func(Match) bool) bool {
	for b := range s.told {
		for m := range b.out {
			if !onMatch(m) {
				return false
			}
		}
	}
	return true
}
