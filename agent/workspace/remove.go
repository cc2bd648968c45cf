package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"alisio/agent/text"
)

// Remove removes a regular file whose content has the expected hash, or a
// symbolic link whose target text has. A link itself is removed, never what it
// leads to. Directories stay.
func (w *Workspace) Remove(ctx context.Context, path, expectedSHA256 string) error {
	t, err := w.unfollowed(path)
	if err != nil {
		return err
	}
	defer w.lock(t.Abs).Unlock()
	if err := remove(ctx, t, expectedSHA256); err != nil {
		return fmt.Errorf("remove %s: %w", t.Name, err)
	}
	return nil
}

func remove(ctx context.Context, t Target, want string) error {
	d, base, err := t.parent()
	if err != nil {
		return err
	}
	defer d.Close()
	info, err := d.Lstat(base)
	if err != nil {
		return plainError(err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := d.Readlink(base)
		if err != nil {
			return plainError(err)
		}
		if sum := sha256.Sum256([]byte(to)); hex.EncodeToString(sum[:]) != want {
			return ErrStale
		}
	} else if _, err := compare(ctx, d, base, want); err != nil {
		return err
	}
	if err := d.Remove(base); err != nil {
		return plainError(err)
	}
	return syncDir(d)
}

// Link makes a symbolic link where nothing stands. Its target may be anything:
// a link is only followed later, and then checked.
func (w *Workspace) Link(path, to string) error {
	if err := checkPath(to); err != nil {
		return err
	}
	t, err := w.unfollowed(path)
	if err != nil {
		return err
	}
	defer w.lock(t.Abs).Unlock()
	if _, err := w.makeParents(t); err != nil {
		return err
	}
	d, base, err := t.parent()
	if err != nil {
		return fmt.Errorf("link %s: %w", t.Name, err)
	}
	defer d.Close()
	if err := d.Symlink(to, base); err != nil {
		return fmt.Errorf("link %s: %w", t.Name, plainError(err))
	}
	return syncDir(d)
}

// unfollowed resolves a path whose last name is taken as it is, link or not.
func (w *Workspace) unfollowed(path string) (Target, error) {
	name, _, err := text.UnquoteName(path)
	if err != nil {
		return Target{}, err
	}
	dir, base := filepath.Split(strings.TrimRightFunc(name, isSeparator))
	if base == "" || base == "." || base == ".." {
		return Target{}, errors.New("the path names no entry of a directory")
	}
	if dir == "" {
		dir = "."
	}
	if strings.HasPrefix(dir, `"`) {
		dir = text.QuoteName(dir)
	}
	t, err := w.inside(dir)
	if err != nil {
		return t, err
	}
	if err := checkPath(base); err != nil {
		return t, err
	}
	t.rel = strings.TrimPrefix(t.rel+"/"+base, "/")
	t.Abs, t.slashed = t.root.child(t.rel), false
	t.Name = t.root.name(t.rel, w.first(t.root))
	info, err := os.Lstat(t.Abs)
	t.Exists = err == nil
	t.Dir, t.Regular = t.Exists && info.IsDir(), t.Exists && info.Mode().IsRegular()
	return t, nil
}
