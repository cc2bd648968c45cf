package resource

import (
	"slices"
	"strings"
)

// FindTemplatesIn reads the templates of directories, each by itself: one of a name that
// another has too is looked at as well.
func FindTemplatesIn(dirs []string) *Templates {
	all := &Templates{}
	for _, dir := range dirs {
		t := FindTemplates(TemplateOptions{Plugins: []PluginDir{{Plugin: dir, Dir: dir}}})
		all.All, all.Problems = append(all.All, t.All...), append(all.Problems, t.Problems...)
	}
	return all
}

// Report tells what is wrong with templates, and how many files there were. Those that
// are built in are none.
func (t *Templates) Report() (all []Diagnostic, count int) {
	var files []string
	for _, one := range t.All {
		if one.File != "" {
			files = append(files, printable(one.File))
		}
	}
	for _, d := range t.Problems {
		if strings.HasSuffix(d.File, ".md") { // else it is of a directory
			files = append(files, d.File)
		}
	}
	slices.Sort(files)
	return t.Problems, len(slices.Compact(files))
}
