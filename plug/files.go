package plug

import (
	"context"
	"io"
	"io/fs"
	"time"
)

// Files gives a call the files of its session: the workspace, the added
// directories and the approved ones, and nothing beside them. Every path that
// it takes may be absolute, relative to the workspace, or in the quoted form
// that results show for names which are not plain UTF-8.
type Files struct {
	// Resolve says what a path means, links included. It opens no file. A path
	// outside is no error: Target.Inside tells.
	Resolve func(path string) (Target, error)
	// Similar finds names in the directory of a path where nothing stands that
	// look like its last one, as Target.Name shows them; none outside. It reads
	// the directory: ask when there is an error to explain.
	Similar func(path string) []string
	// Open opens a regular file for reading. Anything else (a directory, a
	// FIFO, a device) is refused at once, without blocking.
	Open func(ctx context.Context, path string) (File, error)
	// Write puts a whole file in place in one step, or leaves the old one as it
	// was.
	Write func(ctx context.Context, w Write) (Written, error)
	// List lists files below a directory.
	List func(ctx context.Context, q ListQuery) (Listing, error)
	// Search calls onMatch for each matching line, in the order of paths and
	// lines, until it returns false.
	Search func(ctx context.Context, q SearchQuery, onMatch func(Match) bool) (SearchStats, error)
	// Blob opens a stored blob that this session refers to, such as a result
	// that was too long to be sent whole. hash is its SHA-256 in lower-case hex.
	// A blob is no file of the workspace: it has no path, and it can only be
	// read. Nil: there is no store.
	Blob func(ctx context.Context, hash string) (File, error)
	// Shown is what may be shown of a text: the provider's key is masked in it,
	// byte for byte, so that positions stay and no part of it can be read that is
	// not whole. Nil: all may be shown. What is written is not read through it.
	// The lines that Search gives have no part of the key.
	Shown func(text io.ReaderAt) io.ReaderAt
}

// Target is what a path means.
type Target struct {
	// Name is how people and models are shown the path: relative to the
	// workspace with slashes where it is inside it, else absolute; quoted when
	// it is not plain printable UTF-8.
	Name string
	// Abs is absolute, with links resolved as far as the path exists.
	Abs string
	// Inside: within a root or an approved directory.
	Inside bool
	// Exists, Dir, Regular describe what stands there.
	Exists  bool
	Dir     bool
	Regular bool
}

// File is an open regular file.
type File interface {
	io.ReaderAt
	io.Closer
	Info() FileInfo
}

// FileInfo describes an open file.
type FileInfo struct {
	// Name as Target.Name, Abs as Target.Abs.
	Name, Abs string
	Size      int64
	Mode      fs.FileMode
	ModTime   time.Time
}

// Write is a file to be written.
type Write struct {
	Path string
	Data []byte
	// ExpectedSHA256 is the lower-case hex hash that the file must have at the
	// moment of the write; empty: no file may stand there.
	ExpectedSHA256 string
}

// Written tells of a finished write.
type Written struct {
	Name    string
	SHA256  string
	Created bool
}

// ListQuery asks for a listing.
type ListQuery struct {
	// Path is a directory, or a file; empty is the workspace.
	Path string
	// Glob filters by name: without a slash it matches the base name at any
	// depth, with one the path below Path. "**" spans directories.
	Glob string
	// Depth limits the levels below Path; zero is no limit.
	Depth int
	// Offset skips entries, Limit bounds them.
	Offset, Limit int
	// Hidden and Ignored include what is left out by default.
	Hidden, Ignored bool
}

// Listing is a page of a listing, sorted by path.
type Listing struct {
	// Entries are names as Target.Name; directories (only those listed for
	// their own sake, when Depth cut them) end in "/".
	Entries []ListEntry
	// Total counts the entries before paging; More tells that it is a lower
	// bound because the walk met its own limit.
	Total int
	More  bool
	// IgnoredCount and HiddenCount tell what was left out.
	IgnoredCount, HiddenCount int
}

// ListEntry is a file, a link or a directory.
type ListEntry struct {
	Name string
	Size int64
	Dir  bool
	// Link is where a symbolic link points, as written in it; empty for others.
	Link string
}

// SearchQuery asks for matching lines.
type SearchQuery struct {
	// Pattern is an RE2 expression, or plain text with Literal.
	Pattern    string
	Literal    bool
	IgnoreCase bool
	// Path is a directory or a file; empty is the workspace. Glob as in
	// ListQuery.
	Path, Glob string
	// Context is how many lines before and after come with a match.
	Context int
	// MaxLine bounds a line's text in bytes; a longer one is clipped around the
	// match at rune borders. Zero is 400.
	MaxLine int
}

// Match is one matching line.
type Match struct {
	Name string
	// Line is 1-based.
	Line int
	// Text is the line as plain UTF-8, clipped as Clipped tells.
	Text    string
	Clipped bool
	// Before and After are context lines, clipped likewise.
	Before, After []string
	// Binary: the file holds binary data; Line and Text are zero.
	Binary bool
}

// SearchStats tells what a search covered.
type SearchStats struct {
	// Files is the number of files searched.
	Files int
	// IgnoredCount and HiddenCount are files and directories left out by rules.
	IgnoredCount, HiddenCount int
	// Unreadable counts files that could not be read.
	Unreadable int
	// More: the walk met its own limit, files are missing.
	More bool
	// Stopped: onMatch ended the search early.
	Stopped bool
	// TimedOut: it took a minute and was ended; matches are missing.
	TimedOut bool
}
