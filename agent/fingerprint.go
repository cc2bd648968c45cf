package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"alisio/agent/output"
	"alisio/llm"
	"alisio/plug"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// String is the whole digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Short is enough of a digest for people to compare: twelve digits.
func (d Digest) Short() string { return d.String()[:12] }

// Fingerprint says what a run is made from, so that two runs can be told to have
// been made from the same (spec config-cli.md, "--hermetic"). What is the same on
// two machines has the same fingerprint there:
//
//   - where the workspace lies, and the home, is not in it; the way from the
//     workspace's root to the working directory is, and so is the operating
//     system, since the model is told of both,
//   - the environment is not in it, but for what it set in the configuration; of a
//     key there is the name of its variable,
//   - neither is what the session has said before, nor what the repository holds.
type Fingerprint struct {
	// Config is the effective configuration, without the places where it was
	// said, and what flags and embedders add to it: permissions, agent, effort, the
	// cap of an answer.
	Config Digest
	// Prompt is what the model is told: the instructions, but for what follows
	// from Config and Tools; the person's prompt with the output schema; images.
	Prompt Digest
	// Tools is what is known of every tool, sorted by name.
	Tools Digest
	// Binary is the program's file, or its version where that can not be read.
	Binary Digest
}

// Sum is the digest of all four.
func (f Fingerprint) Sum() Digest {
	h := newHasher("fingerprint")
	for _, d := range []Digest{f.Config, f.Prompt, f.Tools, f.Binary} {
		h.add(string(d[:]))
	}
	return h.sum()
}

func (f Fingerprint) String() string {
	return fmt.Sprintf("%s (configuration %s, prompt %s, tools %s, binary %s)",
		f.Sum(), f.Config.Short(), f.Prompt.Short(), f.Tools.Short(), f.Binary.Short())
}

// Fingerprint tells what Run with the same arguments, in a new session, would be
// made from. Of the options it takes those that reach the model.
func (a *App) Fingerprint(prompt string, o RunOptions) (Fingerprint, error) {
	program, err := os.Executable()
	if err != nil {
		program = "" // can not be opened
	}
	return a.fingerprint(program, prompt, o)
}

func (a *App) fingerprint(program, prompt string, o RunOptions) (f Fingerprint, err error) {
	if f.Config, err = a.configDigest(o); err != nil {
		return f, fmt.Errorf("fingerprint configuration: %w", err)
	}
	if f.Prompt, err = a.promptDigest(prompt, o); err != nil {
		return f, fmt.Errorf("fingerprint prompt: %w", err)
	}
	f.Tools = toolsDigest(a.host.Tools())
	f.Binary = binaryDigest(program)
	return f, nil
}

// configDigest takes the exported fields of the configuration as they come: a key
// that is added later is in it without another word.
func (a *App) configDigest(o RunOptions) (Digest, error) {
	c := a.o.Config
	for _, list := range []*[]string{&c.AdditionalDirectories, &c.Skills} {
		dirs := make([]string, 0, len(*list)) // none is none, said or not
		for _, dir := range *list {
			dirs = append(dirs, a.portable(dir))
		}
		*list = dirs
	}
	for _, file := range []*string{&c.Provider.CAFile, &c.Provider.ClientCert} {
		if *file != "" {
			*file = a.portable(*file)
		}
	}
	embedded, model := "", llm.Model{}
	if a.o.Provider != nil {
		embedded, model = a.o.Provider.ID(), a.o.Model
	}
	agent, err := a.primary("")
	if err != nil {
		return Digest{}, err
	}
	h := newHasher("configuration")
	h.add(agent.ID, agent.Persona)
	h.add(strconv.FormatBool(a.o.Hermetic), strconv.FormatBool(a.o.Asker != nil), a.o.Effort, embedded, strconv.Itoa(o.MaxOutputTokens))
	for _, part := range []any{c, a.o.Policy, model, agent.Spec} { // any: of all of them nothing but JSON is wanted
		if err := h.addJSON(part); err != nil {
			return Digest{}, err
		}
	}
	plugins := slices.Clone(a.o.Plugins)
	slices.SortFunc(plugins, func(p, q plug.Plugin) int { return strings.Compare(p.ID, q.ID) })
	for _, p := range plugins {
		h.add(p.ID)
		if err := h.addJSON(c.Plugin(p.ID)); err != nil {
			return Digest{}, err
		}
	}
	return h.sum(), nil
}

// portable is a path as another machine would say it, if it lies in the workspace.
func (a *App) portable(path string) string {
	if rel, err := filepath.Rel(a.root, realPath(path)); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (a *App) promptDigest(prompt string, o RunOptions) (Digest, error) {
	form, err := output.New(o.OutputSchema)
	if err != nil {
		return Digest{}, err
	}
	files, err := a.contextFiles(&conversation{dir: a.o.Dir})
	if err != nil {
		return Digest{}, err
	}
	h := newHasher("prompt")
	h.add(base, runtime.GOOS, a.portable(a.o.Dir), files.Text, form.Prompt(strings.ToValidUTF8(prompt, "\uFFFD")))
	for _, image := range o.Attachments {
		h.add(image.MIMEType, string(image.Data))
	}
	return h.sum(), nil
}

func toolsDigest(tools []plug.Tool) Digest {
	specs := make([]plug.ToolSpec, len(tools))
	for i, t := range tools {
		specs[i] = t.Spec()
	}
	slices.SortFunc(specs, func(s, t plug.ToolSpec) int { return strings.Compare(s.Name, t.Name) })
	h := newHasher("tools")
	for _, s := range specs {
		h.add(s.Name, s.Description, string(s.Schema), string(s.Effect),
			strconv.FormatBool(s.Concurrent), strconv.FormatBool(s.Polling), strconv.FormatBool(s.Spare))
	}
	return h.sum()
}

// binaryDigest reads the program's file in pieces: it is large.
func binaryDigest(path string) Digest {
	f, err := os.Open(path)
	if err == nil {
		defer f.Close()
		h := sha256.New()
		if _, err = io.Copy(h, f); err == nil {
			return Digest(h.Sum(nil))
		}
	}
	h := newHasher("version")
	h.add(Version)
	return h.sum()
}

// hasher hashes texts with their lengths in front: no two lists of texts give the
// same bytes.
type hasher struct{ h hash.Hash }

func newHasher(of string) hasher {
	h := hasher{sha256.New()}
	h.add(of)
	return h
}

func (h hasher) add(texts ...string) {
	for _, s := range texts {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(s)))
		h.h.Write(size[:])
		io.WriteString(h.h, s)
	}
}

// addJSON adds a value in the one form that it has whoever wrote it: the names of
// objects sorted, in raw JSON of plugins too, and no white space.
func (h hasher) addJSON(value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var plain any // whatever plugins take
	if err := d.Decode(&plain); err != nil {
		return err
	}
	if raw, err = json.Marshal(plain); err == nil {
		h.add(string(raw))
	}
	return err
}

func (h hasher) sum() Digest { return Digest(h.h.Sum(nil)) }
