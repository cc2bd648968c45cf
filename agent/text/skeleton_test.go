package text

import "testing"

// C070. Symptom: screenshot names on macOS can contain U+00A0; the model types
// a normal space and gets 'not found'.
// Trigger: file `shot v\u00a01.png`; the read tool is asked for `shot v 1.png`.
func TestC070SpacesLookAlike(t *testing.T) {
	for _, s := range []string{"shot v\u00a01.png", "shot v\u202f1.png", "shot v\u30001.png", "shot\u200b v 1.png"} {
		if got := Skeleton(s); got != "shot v 1.png" {
			t.Errorf("Skeleton(%+q) = %+q", s, got)
		}
	}
}

// C071. Symptom: NFD names and curly apostrophes on disk do not match NFC and
// straight quotes from the model.
// Trigger: file `e\u0301cran d\u2019ici.txt`; read `\u00e9cran d'ici.txt`.
func TestC071Decomposed(t *testing.T) {
	disk, asked := Skeleton("e\u0301cran d\u2019ici.txt"), Skeleton("\u00e9cran d'ici.txt")
	if disk != asked || disk != "ecran d'ici.txt" {
		t.Errorf("skeletons %q and %q", disk, asked)
	}
}

func TestSkeleton(t *testing.T) {
	for _, c := range [][2]string{
		{"a\u2013b\u2014c\u2212d\u2010e", "a-b-c-d-e"},
		{"\u201cq\u201d \u2018s\u2019", `"q" 's'`},
		{"\u1ec7", "e\u0323\u0302"},
		{"\u212b", "A"},
		{"\u01d5", "U"},
		{"한글", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"가", "\u1100\u1161"},
		{"が", "か\u3099"},
		{"\u0ddd", "\u0dd9\u0dcf\u0dca"},
		{"\uf900", "豈"},
		{"\ufeffa\u202eb", "ab"},
	} {
		if got, want := Skeleton(c[0]), Skeleton(c[1]); got != want {
			t.Errorf("Skeleton(%+q) = %+q, Skeleton(%+q) = %+q", c[0], got, c[1], want)
		}
	}
	for _, c := range [][2]string{
		{"Readme", "readme"}, {"が", "か"}, {"a", "b"}, {"\xff", "\xfe"}, {"\xff", "\ufffd"},
		{"नि", "न"}, {"\u0430", "a"}, {"a b", "ab"},
	} {
		if Skeleton(c[0]) == Skeleton(c[1]) {
			t.Errorf("%+q and %+q have one skeleton %+q", c[0], c[1], Skeleton(c[0]))
		}
	}
}

func FuzzSkeleton(f *testing.F) {
	f.Add("e\u0301cran d\u2019ici \u0ddd 한 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := Skeleton(s)
		if twice := Skeleton(once); twice != once {
			t.Fatalf("Skeleton(%+q) = %+q, of that %+q", s, once, twice)
		}
	})
}
