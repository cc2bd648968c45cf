package workspace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync"
	"syscall"
)

// Write is a file to be written.
type Write struct {
	Path string
	Data []byte
	// ExpectedSHA256 is the lower-case hex hash that the file must have at the
	// moment of the write; empty: no file may stand there.
	ExpectedSHA256 string
	// Mode is the mode to give the file; zero keeps the one it has, and makes a
	// new file 0644 less the umask. For taking a change back.
	Mode fs.FileMode
}

// Written tells of a finished write.
type Written struct {
	// Name as Target.Name.
	Name    string
	SHA256  string
	Created bool
	// Parents are directories that were made for it, as Target.Name, outermost
	// first.
	Parents []string
	// InPlace: the file was overwritten, not replaced, because it has other
	// hard links or another owner.
	InPlace bool
}

// Write puts a whole file in place in one step, or leaves the old one as it
// was. A link is followed and stays. The mode is kept exactly, and so is the
// group; the content on disk is compared with ExpectedSHA256 by hash, never by
// time, right before the step. Another program's write between that comparison
// and the step, some microseconds, is the one thing that can still be lost.
//
// A file with other hard links, another owner or a group that we can not give
// is overwritten in place: replacing it would split the links or change who may
// read it. That is not one step: a crash in the middle leaves a mixed file, but a
// full disk does not. A file that its owner may not write is refused.
func (w *Workspace) Write(ctx context.Context, q Write) (Written, error) {
	if err := ctx.Err(); err != nil {
		return Written{}, err
	}
	t, err := w.inside(q.Path)
	if err != nil {
		return Written{}, err
	}
	defer w.lock(t.Abs).Unlock()
	sum := sha256.Sum256(q.Data)
	out := Written{Name: t.Name, SHA256: hex.EncodeToString(sum[:])}
	if err := w.write(ctx, t, q, &out); err != nil {
		return Written{}, fmt.Errorf("write %s: %w", t.Name, err)
	}
	return out, nil
}

// lock holds other writes to the same file of this process back.
func (w *Workspace) lock(abs string) *sync.Mutex {
	m := &w.writes[maphash.String(w.seed, abs)%uint64(len(w.writes))]
	m.Lock()
	return m
}

func (w *Workspace) write(ctx context.Context, t Target, q Write, out *Written) error {
	if t.slashed || t.Dir {
		return fmt.Errorf("it is a directory: %w", ErrNotRegular)
	}
	if !t.Exists && q.ExpectedSHA256 != "" {
		return fmt.Errorf("%w: it is not there any more", ErrStale)
	}
	var err error
	if out.Parents, err = w.makeParents(t); err != nil {
		return err
	}
	d, base, err := t.parent()
	if err != nil {
		return err
	}
	defer d.Close()
	old, err := compare(ctx, d, base, q.ExpectedSHA256)
	if err != nil {
		return err
	}
	if old != nil && old.Mode().Perm()&0o200 == 0 {
		return fmt.Errorf("the file is read-only (mode %#o): %w", old.Mode().Perm(), fs.ErrPermission)
	}
	out.Created = old == nil
	if old != nil && shared(old) {
		out.InPlace = true
		return w.overwrite(ctx, d, base, q)
	}
	err = w.replaceFile(ctx, d, base, q, old)
	if errors.Is(err, errInPlace) {
		out.InPlace = true
		return w.overwrite(ctx, d, base, q)
	}
	return err
}

// compare checks the precondition of a write on what stands at base, and
// describes it; nil when nothing does.
func compare(ctx context.Context, d *os.Root, base, want string) (fs.FileInfo, error) {
	f, info, err := openRegular(d, base, os.O_RDONLY)
	switch {
	case errors.Is(err, fs.ErrNotExist) && want == "":
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: it is not there any more", ErrStale)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	if want == "" {
		return nil, fs.ErrExist
	}
	h := sha256.New()
	if _, err := io.Copy(h, &ctxReader{ctx, f}); err != nil {
		return nil, plainError(err)
	}
	if hex.EncodeToString(h.Sum(nil)) != want {
		return nil, ErrStale
	}
	return info, nil
}

// ctxReader lets hashing a huge file be cancelled.
type ctxReader struct {
	ctx context.Context
	f   *os.File
}

func (r *ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.f.Read(p)
}

// errInPlace: a replacement could not be given the owner of the old file.
var errInPlace = errors.New("can not keep the owner")

// replaceFile writes a temporary file beside base and puts it in its place:
//
//	create hidden -> write -> mode, owner -> sync -> compare again -> rename or link -> sync directory
//
// Whatever fails, the temporary file is removed.
func (w *Workspace) replaceFile(ctx context.Context, d *os.Root, base string, q Write, old fs.FileInfo) (err error) {
	mode := fs.FileMode(0o600)
	if old == nil {
		mode = 0o644 // less the umask: the kernel's business at creation
	}
	temp := ".alisio-" + rand.Text()[:16] + ".tmp"
	f, err := d.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, mode)
	if err != nil {
		return plainError(err)
	}
	defer func() {
		if err != nil {
			err = plainError(err)
			d.Remove(temp)
		}
	}()
	err = fill(f, q, old)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	if err = ctx.Err(); err != nil {
		return err
	}
	if _, err = compare(ctx, d, base, q.ExpectedSHA256); err != nil {
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
func fill(f *os.File, q Write, old fs.FileInfo) error {
	if _, err := f.Write(q.Data); err != nil {
		return err
	}
	mode := q.Mode
	if old != nil {
		if err := keepOwner(f, old); err != nil {
			return errInPlace
		}
		if mode == 0 {
			mode = old.Mode()
		}
	}
	if mode != 0 {
		// After the owner: changing that clears set-user-id bits.
		if err := f.Chmod(mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return err
		}
	}
	return f.Sync()
}

// create gives temp the name base, which nothing may have. A rename would
// replace what came there in between; a link is refused then.
func create(d *os.Root, temp, base string) error {
	err := d.Link(temp, base)
	if err == nil {
		if err = d.Remove(temp); err != nil {
			return err
		}
		return syncDir(d)
	}
	if errors.Is(err, fs.ErrExist) {
		return fs.ErrExist
	}
	// A file system without hard links: claim the name, then put the file over
	// the empty one that is ours.
	f, e := d.OpenFile(base, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if e != nil {
		return e
	}
	if e := f.Close(); e != nil {
		return e
	}
	if e := d.Rename(temp, base); e != nil {
		d.Remove(base)
		return e
	}
	return syncDir(d)
}

// overwrite writes into the file that is there. What needs new blocks is
// written first: when the disk is full, the old content has not been touched.
func (w *Workspace) overwrite(ctx context.Context, d *os.Root, base string, q Write) (err error) {
	if _, err := compare(ctx, d, base, q.ExpectedSHA256); err != nil {
		return err
	}
	f, info, err := openRegular(d, base, os.O_WRONLY)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		err = plainError(err)
	}()
	over := min(info.Size(), int64(len(q.Data)))
	if tail := q.Data[over:]; len(tail) > 0 {
		_, err = f.WriteAt(tail, over)
		if err == nil {
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
	if q.Mode != 0 {
		if err = f.Chmod(q.Mode); err != nil {
			return err
		}
	}
	return f.Sync()
}

// makeParents makes the directories that t lacks, and names them.
func (w *Workspace) makeParents(t Target) (made []string, err error) {
	d, err := t.root.dir.OpenRoot(".")
	if err != nil {
		return nil, plainError(err)
	}
	defer func() { d.Close() }()
	dir, rel := path.Dir(t.rel), ""
	for name := range strings.FieldsFuncSeq(dir, isSlash) {
		if name == "." {
			break
		}
		rel = path.Join(rel, name)
		err := d.Mkdir(name, 0o755)
		if err == nil {
			made = append(made, t.root.name(rel, w.first(t.root)))
			err = syncDir(d)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return made, fmt.Errorf("make directory %s: %w", show(rel), plainError(err))
		}
		sub, err := stepInto(d, name)
		if err != nil {
			return made, plainError(err)
		}
		d.Close()
		d = sub
	}
	return made, nil
}

// syncDir makes the names in d durable. File systems that can not sync a
// directory say EINVAL or ENOTSUP; then there is nothing to be done.
func syncDir(d *os.Root) error {
	f, err := d.Open(".")
	if err != nil {
		return plainError(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
		return plainError(err)
	}
	return nil
}
