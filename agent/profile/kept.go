package profile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"alisio/llm"
)

// maxKept is the largest file of a catalog, in bytes.
const maxKept = 8 << 20

// keptVersion is that of the files. Those of another one are not read.
const keptVersion = 1

// keptCatalog is a catalog as it lies on disk. It names no server: an address may
// hold what is nobody's business, and the file's name tells which one it is.
type keptCatalog struct {
	SchemaVersion int         `json:"schemaVersion"`
	FetchedMS     int64       `json:"fetched_ms"`
	Models        []keptModel `json:"models"`
}

type keptModel struct {
	ID              string     `json:"id"`
	ContextWindow   int        `json:"contextWindow,omitempty"`
	MaxOutputTokens int        `json:"maxOutputTokens,omitempty"`
	Efforts         []string   `json:"effort,omitempty"`
	Price           *keptPrice `json:"price,omitempty"`
}

type keptPrice struct {
	Input       float64 `json:"input"`
	Output      float64 `json:"output"`
	CachedInput float64 `json:"cachedInput"`
}

// file is where the catalog of the configured server is kept, empty for
// nowhere. Two keys of one server share it.
func (s Selection) file() string {
	if s.Cache == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Config.Provider.BaseURL))
	return filepath.Join(s.Cache, "models", hex.EncodeToString(sum[:])+".json")
}

// Kept returns the catalog of the configured server that was kept, and asks
// nobody. A damaged file counts as none: the next fetch writes over it.
func Kept(s Selection) (Catalog, bool) {
	name := s.file()
	if name == "" {
		return Catalog{}, false
	}
	data, err := readKept(name)
	if err != nil {
		return Catalog{}, false
	}
	var k keptCatalog
	if json.Unmarshal(data, &k) != nil || k.SchemaVersion != keptVersion || k.FetchedMS <= 0 {
		return Catalog{}, false
	}
	models := make([]llm.Model, 0, len(k.Models))
	for _, m := range k.Models {
		models = append(models, llm.Model{
			ID: m.ID, ContextWindow: m.ContextWindow, MaxOutputTokens: m.MaxOutputTokens, Efforts: m.Efforts, Price: (*llm.Price)(m.Price),
		})
	}
	return Catalog{Models: usable(models), Fetched: time.UnixMilli(k.FetchedMS)}, true
}

// readKept reads a bounded regular file, and no link to one: what this program
// makes is none.
func readKept(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxKept {
		return nil, errors.New("no catalog")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err == nil && len(data) > maxKept {
		err = errors.New("no catalog")
	}
	return data, err
}

// keep writes a catalog in one step, so that no reader sees a half of it. What a
// power failure leaves may be damaged, which is as good as none.
func (s Selection) keep(c Catalog) (err error) {
	name := s.file()
	if name == "" {
		return nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("keep the list of models: %w", err)
		}
	}()
	data, err := encodeKept(c)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".models-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func encodeKept(c Catalog) ([]byte, error) {
	k := keptCatalog{SchemaVersion: keptVersion, FetchedMS: c.Fetched.UnixMilli(), Models: make([]keptModel, 0, len(c.Models))}
	for _, m := range c.Models {
		k.Models = append(k.Models, keptModel{m.ID, m.ContextWindow, m.MaxOutputTokens, m.Efforts, (*keptPrice)(m.Price)})
	}
	data, err := json.Marshal(k)
	if err == nil && len(data) > maxKept {
		err = fmt.Errorf("it has more than %d bytes", maxKept)
	}
	return data, err
}
