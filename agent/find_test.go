package agent

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"alisio/db/storage"
)

// Another program that fills the index is not waited for at the end of a run, and the
// index is not thrown away because it is in use.
func TestFilingBehindARunWaitsForNobody(t *testing.T) {
	ctx := t.Context()
	a := stored(t, t.TempDir(), &counting{})
	if _, err := a.Run(ctx, "", "xylophone", RunOptions{RunID: NewID()}); err != nil {
		t.Fatal(err)
	}
	store := a.store.(*Store)
	x, err := OpenSearch(ctx, store)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	other, err := storage.OpenStorage(ctx, filepath.Join(store.Home(), searchFile))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = other.Transaction(ctx, func(context.Context) error {
		begun := time.Now()
		a.fileWords(ctx)
		if took := time.Since(begun); took > 20*time.Second { // a database in use is waited for 60 seconds
			t.Errorf("waited %v", took)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found, err := x.Search(ctx, "xylophone", 5, ""); err != nil || len(found.Hits) != 1 {
		t.Errorf("got %+v, %v", found, err)
	}
}
