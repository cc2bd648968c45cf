package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Write is a file to be written.
type Write struct {
	// Path is as for Resolve. One that is absolute is taken for a Target.Abs that
	// was judged already: when a link is in it now, that is ErrMoved.
	Path string
	Data []byte
	// ExpectedSHA256 is the lower-case hex hash that the file must have at the
	// moment of the write; empty: no file may stand there.
	ExpectedSHA256 string
}

// Written tells of a finished write.
type Written struct {
	// Name as Target.Name.
	Name    string
	SHA256  string
	Created bool
}

// Write puts a whole file in place in one step, or leaves the old one as it
// was. Directories that it lacks are made. A link is followed and stays. The mode
// is kept exactly, and so is the group; a new file is 0644 less the umask. The
// content on disk is compared with ExpectedSHA256 by hash, never by time, right
// before the step. Another program's write between that comparison and the step,
// some microseconds, is the one thing that can still be lost.
//
// A file with other hard links, another owner, a group that we can not give or, on
// Linux, extended attributes and access control lists is overwritten in place:
// replacing it would split the links, lose these or change who may read it. That
// is not one step: a crash in the middle leaves a mixed file, but a full disk
// does not. A file that its owner may not write is refused.
func (w *Workspace) Write(ctx context.Context, q Write) (Written, error) {
	if err := ctx.Err(); err != nil {
		return Written{}, err
	}
	t, err := w.inside(q.Path)
	if err == nil && filepath.IsAbs(q.Path) && t.Abs != filepath.Clean(q.Path) {
		err = fmt.Errorf("write %s: it leads to %s now: %w", show(q.Path), t.Name, ErrMoved)
	}
	if err != nil {
		return Written{}, err
	}
	w.writes.Lock()
	defer w.writes.Unlock()
	created, err := t.write(ctx, q)
	if err != nil {
		return Written{}, fmt.Errorf("write %s: %w", t.Name, plainError(err))
	}
	sum := sha256.Sum256(q.Data)
	return Written{Name: t.Name, SHA256: hex.EncodeToString(sum[:]), Created: created}, nil
}

func (t Target) write(ctx context.Context, q Write) (created bool, err error) {
	switch {
	case t.slashed:
		return false, fmt.Errorf("it is a directory: %w", ErrNotRegular)
	case !t.Exists && q.ExpectedSHA256 != "": // no directories for what will not be
		return false, errNotThere
	}
	d, base, err := t.parent(true)
	if err != nil {
		return false, err
	}
	defer d.Close()
	old, bound, err := compare(ctx, d, base, q.ExpectedSHA256)
	switch {
	case err != nil:
		return false, err
	case old == nil:
		return true, replaceFile(ctx, d, base, q, nil)
	case old.Mode().Perm()&0o200 == 0:
		return false, fmt.Errorf("the file is read-only (mode %#o): %w", old.Mode().Perm(), fs.ErrPermission)
	case !bound:
		if err := replaceFile(ctx, d, base, q, old); !errors.Is(err, errOwner) {
			return false, err
		}
	}
	return false, overwrite(ctx, d, base, q)
}

var (
	errNotThere = fmt.Errorf("%w: it is not there any more", ErrStale)
	errOwner    = errors.New("can not keep the owner")
)

// compare checks the precondition of a write on what stands at base, and
// describes it; nil when nothing does. bound: it has what a file in its place
// would not have, other names, another owner or attributes.
func compare(ctx context.Context, d *os.Root, base, want string) (old fs.FileInfo, bound bool, err error) {
	f, old, err := openRegular(d, base, os.O_RDONLY)
	switch missing := errors.Is(err, fs.ErrNotExist); {
	case missing && want == "":
		return nil, false, nil
	case missing:
		return nil, false, errNotThere
	case err != nil:
		return nil, false, err
	}
	defer f.Close()
	if want == "" {
		return nil, false, fs.ErrExist
	}
	return old, shared(old) || hasAttributes(f), hasHash(ctx, f, want)
}

func hasHash(ctx context.Context, f *os.File, want string) error {
	h := sha256.New()
	for {
		if err := ctx.Err(); err != nil { // a huge file takes its time
			return err
		}
		_, err := io.CopyN(h, f, 1<<20)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if hex.EncodeToString(h.Sum(nil)) != want {
		return ErrStale
	}
	return nil
}

// replaceFile writes a temporary file beside base and puts it in its place:
//
//	create hidden -> write -> owner, mode -> sync -> compare again -> rename or link -> sync directory
//
// Whatever fails, the temporary file is removed. errOwner: the old file's owner
// can not be kept that way.
func replaceFile(ctx context.Context, d *os.Root, base string, q Write, old fs.FileInfo) (err error) {
	mode := fs.FileMode(0o600)
	if old == nil {
		mode = 0o644 // less the umask: the kernel's business at creation
	}
	temp := ".alisio-" + rand.Text()[:16] + ".tmp"
	f, err := d.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			d.Remove(temp)
		}
	}()
	err = fill(f, q.Data, old)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if _, _, err = compare(ctx, d, base, q.ExpectedSHA256); err != nil {
		return err
	}
	if old == nil {
		return create(d, temp, base)
	}
	if err = d.Rename(temp, base); err != nil {
		return err
	}
	return syncDir(d)
}

// fill gives a temporary file its content, owner and mode, and syncs it.
func fill(f *os.File, data []byte, old fs.FileInfo) error {
	if _, err := f.Write(data); err != nil {
		return err
	}
	if old != nil {
		if keepOwner(f, old) != nil {
			return errOwner
		}
		// After the owner: changing that clears set-user-id bits.
		if err := f.Chmod(old.Mode()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// create gives temp the name base, which nothing may have. A rename would
// replace what came there in between; a link is refused then.
func create(d *os.Root, temp, base string) error {
	err := d.Link(temp, base)
	switch {
	case err == nil:
		err = d.Remove(temp)
	case !errors.Is(err, fs.ErrExist):
		// A file system without hard links: claim the name, then put the file
		// over the empty one that is ours.
		var f *os.File
		if f, err = d.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
			return err
		}
		f.Close()
		if err = d.Rename(temp, base); err != nil {
			d.Remove(base)
		}
	}
	if err != nil {
		return err
	}
	return syncDir(d)
}

// overwrite writes into the file that is there. What needs new blocks is
// written first: when the disk is full, the old content has not been touched.
func overwrite(ctx context.Context, d *os.Root, base string, q Write) (err error) {
	f, info, err := openRegular(d, base, os.O_RDWR)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if err = hasHash(ctx, f, q.ExpectedSHA256); err != nil {
		return err
	}
	over := min(info.Size(), int64(len(q.Data)))
	if tail := q.Data[over:]; len(tail) > 0 {
		if _, err = f.WriteAt(tail, over); err == nil {
			err = f.Sync()
		}
		if err != nil {
			f.Truncate(info.Size())
			return err
		}
	}
	if _, err = f.WriteAt(q.Data[:over], 0); err != nil {
		return err
	}
	if err = f.Truncate(int64(len(q.Data))); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir makes the names in d durable. File systems that can not sync a
// directory say EINVAL or ENOTSUP; then there is nothing to be done.
func syncDir(d *os.Root) error {
	f, err := d.Open(".")
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}
