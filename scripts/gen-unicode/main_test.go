package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// database writes a database of a few lines, flat or in its folders.
func database(t *testing.T, folders bool, change map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"EastAsianWidth.txt":                  "# EastAsianWidth-99.0.0.txt\n3042..3043 ; W # letters\n3099;W\n",
		"auxiliary/GraphemeBreakProperty.txt": "0300 ; Extend\n200C ; Extend\n3099 ; Extend\n094D ; Extend\n0600 ; Prepend\n",
		"emoji/emoji-data.txt":                "0023 ; Emoji\n231A ; Emoji_Presentation\n231A ; Extended_Pictographic\n",
		"DerivedCoreProperties.txt":           "0300 ; InCB; Extend\n094D ; InCB; Linker\n0915 ; InCB; Consonant\n0041 ; Math\n",
		"UnicodeData.txt":                     "0300;GRAVE;Mn;230;NSM;;;;;;;;;;\n3099;VOICED;Mn;8;NSM;;;;;;;;;;\n00C0;A GRAVE;Lu;0;L;0041 0300;;;;;;;;;\n304C;GA;Lo;0;L;304B 3099;;;;;;;;;\n00A0;NBSP;Zs;0;CS;<noBreak> 0020;;;;;;;;;\n0600;SIGN;Cf;0;AN;;;;;;;;;;\n",
	}
	for name, text := range change {
		files[name] = text
	}
	for name, text := range files {
		if !folders {
			name = filepath.Base(name)
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoad(t *testing.T) {
	for _, folders := range []bool{false, true} {
		d, err := load(database(t, folders, nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			r     rune
			class string
			width byte
		}{
			{'a', "Other", 1}, {0x3043, "Other", 2}, {0x3099, "Extend", 0}, {0x300, "ConjunctExtend", 0},
			{0x200C, "Extend", 1}, {0x94D, "Linker", 1}, {0x915, "Consonant", 1}, {0x231A, "Pictographic", 2},
			{0x600, "Prepend", 1}, {0xAD, "Other", 1}, {0x1161, "Other", 0},
		} {
			if d.class[c.r] != c.class || d.width[c.r] != c.width {
				t.Errorf("%U: %s %d, want %s %d", c.r, d.class[c.r], d.width[c.r], c.class, c.width)
			}
		}
		if d.version != "99.0.0" || !d.emoji['#'] || len(d.combines) != 1 {
			t.Errorf("version %q, emoji %v, %d marks", d.version, d.emoji['#'], len(d.combines))
		}
		want := [][3]rune{{0xC0, 'A', 0}, {0x304C, 0x304B, 0x3099}}
		if len(d.decomp) != 2 || d.decomp[0] != want[0] || d.decomp[1] != want[1] {
			t.Errorf("decompositions %x, want %x", d.decomp, want)
		}
	}
}

func TestLoadErrors(t *testing.T) {
	for name, text := range map[string]string{
		"EastAsianWidth.txt":        "110000 ; W\n",
		"emoji/emoji-data.txt":      "0042..0041 ; Emoji\n",
		"DerivedCoreProperties.txt": "\nxyz ; Math\n",
	} {
		_, err := load(database(t, true, map[string]string{name: text}))
		if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := load(t.TempDir()); err == nil || !strings.HasPrefix(err.Error(), "read database: ") {
		t.Errorf("no files: error %v", err)
	}
}

func TestRenderRefusesUnknownClass(t *testing.T) {
	change := map[string]string{"auxiliary/GraphemeBreakProperty.txt": "0300 ; Novel\n"}
	d, err := load(database(t, true, change))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.render(); err == nil || !strings.Contains(err.Error(), `U+0300: no class "Novel"`) {
		t.Errorf("error %v", err)
	}
}
