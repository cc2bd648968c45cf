package profile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	data, err := readKept(s.file())
	if err != nil {
		return Catalog{}, false
	}
	return decodeKept(data)
}

// keptOf is Kept as far as one model needs it: each run looks for its own, among
// hundreds, before its first request.
func keptOf(s Selection, id string) Catalog {
	data, err := readKept(s.file())
	if err != nil {
		return Catalog{}
	}
	if one, ok := cutKept(data, id); ok {
		data = one
	}
	c, _ := decodeKept(data)
	return c
}

// cutKept leaves of a catalog as encodeKept makes it the model with an id. It
// reports false for one that has another form, and for one without the model. A
// quote within a string is escaped, so what is looked for can not stand in one.
// Damage to another model is not seen.
func cutKept(data []byte, id string) ([]byte, bool) {
	quoted, err := json.Marshal(id)
	head, _, ok := bytes.Cut(data, []byte(`"models":[`))
	at := bytes.Index(data, append([]byte(`{"id":`), quoted...))
	if err != nil || !ok || at < len(head) || !bytes.HasSuffix(data, []byte(`}]}`)) {
		return nil, false
	}
	var model json.RawMessage
	if json.NewDecoder(bytes.NewReader(data[at:])).Decode(&model) != nil {
		return nil, false
	}
	return slices.Concat(head, []byte(`"models":[`), model, []byte(`]}`)), true
}

func decodeKept(data []byte) (Catalog, bool) {
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
// makes is none. No name is no file.
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
	data := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = data.ReadFrom(io.LimitReader(f, maxKept+1))
	if err == nil && data.Len() > maxKept {
		err = errors.New("no catalog")
	}
	return data.Bytes(), err
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
