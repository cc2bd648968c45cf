package proc

import (
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"alisio/llm"
)

// feed writes s in pieces of n bytes.
func feed(o *output, s string, n int) {
	for len(s) > 0 {
		m := min(n, len(s))
		o.write([]byte(s[:m]))
		s = s[m:]
	}
}

func TestHeadAndTail(t *testing.T) {
	for _, tt := range []struct {
		in, want string
		dropped  int64
	}{
		{"", "", 0},
		{"abcd", "abcd", 0},
		{"abcdefghij", "abcdefghij", 0},
		{"abcdefghijk", "abcd\n[1 bytes left out]\nfghijk", 1},
		{"abcdefghijklmnopqrstuvwxyz", "abcd\n[16 bytes left out]\nuvwxyz", 16},
		// A character that a cut would split belongs to what is left out.
		{"abc∞efghijk", "abc\n[4 bytes left out]\nfghijk", 4},
		{"abcdefghi∞klmno", "abcd\n[8 bytes left out]\nklmno", 8},
		{"∞bcdefghijk", "∞b\n[3 bytes left out]\nfghijk", 3},
	} {
		for n := 1; n <= len(tt.in)+1; n++ {
			o := newOutput(4, 6, nil)
			feed(o, tt.in, n)
			got, dropped := o.finish()
			if got != tt.want || dropped != tt.dropped {
				t.Errorf("%q by %d: %q, %d, want %q, %d", tt.in, n, got, dropped, tt.want, tt.dropped)
			}
		}
	}
}

// C082: a capped writer was bypassed, since io.Copy found a ReadFrom, and the
// whole output was kept in memory. Trigger: "yes | head -c 2000000000".
func TestC082NoReadFrom(t *testing.T) {
	var w any = newOutput(0, 0, nil)
	if _, ok := w.(io.ReaderFrom); ok {
		t.Error("the output has a ReadFrom")
	}
	o := newOutput(100, 200, func(string) {})
	line := []byte(strings.Repeat("y\n", readSize/2))
	for range 100 {
		o.write(line)
	}
	if got := cap(o.keep.head) + cap(o.keep.tail); got > 2*(100+200) {
		t.Errorf("%d bytes are kept, want at most twice 300", got)
	}
	if got := cap(o.live.text); got > 2*liveMax {
		t.Errorf("%d bytes wait for the watcher", got)
	}
	if _, dropped := o.finish(); dropped != 100*readSize-300 {
		t.Errorf("dropped %d bytes, want %d", dropped, 100*readSize-300)
	}
}

// watch returns a function that notes the events and the notes.
func watch() (emit func(string), events func() []string) {
	var mu sync.Mutex
	var got []string
	emit = func(s string) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, s)
	}
	return emit, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), got...)
	}
}

func TestLiveIsCoalescedAndCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emit, events := watch()
		o := newOutput(0, 0, emit)
		begin := time.Now()
		o.write([]byte("first\n"))
		synctest.Wait()
		if got := events(); len(got) != 1 || got[0] != "first\n" {
			t.Fatalf("at once: %q", got)
		}
		for i := range 100 { // One second of output, a write each 10 ms.
			o.write([]byte(strings.Repeat("∞", 1000) + "\n"))
			if i == 99 {
				o.write([]byte("newest\n"))
			}
			time.Sleep(10 * time.Millisecond)
		}
		o.finish()
		got := events()
		if most := 2 + int(time.Since(begin)/livePause); len(got) > most || len(got) < 15 {
			t.Errorf("%d events, want at most %d", len(got), most)
		}
		for i, s := range got {
			if len(s) > liveMax || !utf8.ValidString(s) || i > 0 && !strings.HasPrefix(s, skipMark) && len(s) > 4*3001 {
				t.Errorf("event %d has %d bytes: %.40q", i, len(s), s)
			}
		}
		if last := got[len(got)-1]; !strings.HasPrefix(last, skipMark) || !strings.HasSuffix(last, "newest\n") {
			t.Errorf("last event %.20q … %q", last, last[len(last)-10:])
		}
	})
}

func TestLiveShowsAnUnfinishedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emit, events := watch()
		o := newOutput(0, 0, emit)
		for _, s := range []string{"Waiting", "...", " done\nnext\n", "10%", "\r20%", "\r30%", "\nend"} {
			o.write([]byte(s))
			time.Sleep(livePause + time.Millisecond)
		}
		o.finish()
		want := "Waiting|...| done\nnext\n|10%|\n30%\nend"
		if got := strings.Join(events(), "|"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestSlowWatcherHoldsUpNothing(t *testing.T) {
	hold := make(chan struct{})
	var calls int
	o := newOutput(0, 0, func(string) { calls++; <-hold })
	for range 1000 {
		o.write([]byte(strings.Repeat("x", 1000) + "\n"))
	}
	close(hold)
	if _, dropped := o.finish(); dropped == 0 || calls > 3 {
		t.Errorf("%d calls, %d bytes dropped", calls, dropped)
	}
}

func BenchmarkOutput(b *testing.B) {
	for name, s := range map[string]string{"lines": "some text of a program\n", "oneLine": "x", "redraw": "\r\x1b[2K50%"} {
		for _, key := range []string{"", "sk-0123456789-abcdefghijklmno"} {
			b.Run(name+"/"+map[bool]string{true: "key", false: "plain"}[key != ""], func(b *testing.B) {
				p := []byte(strings.Repeat(s, readSize/len(s)))
				o := newOutput(0, 0, func(string) {})
				o.redact = llm.NewRedaction(key)
				b.SetBytes(int64(len(p)))
				b.ReportAllocs()
				for b.Loop() {
					o.write(p)
				}
				o.finish()
			})
		}
	}
}

// A key that stood across the cut between head and tail, or across two writes,
// survived in halves. Trigger: any output in which it comes often enough; the
// key overlaps with itself, and the cuts are anywhere.
func TestTheKeyIsTakenOutBeforeTheCut(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 400 {
		key := []string{"sk-0123456789-abcdefghijklmno", "aXYZ0123aXYZ0123aXYZ"}[random.IntN(2)]
		var in strings.Builder
		for range 1 + random.IntN(60) {
			in.WriteString([]string{"\n", "p", "\x1b[1m", key, key, strings.Repeat("∞", random.IntN(30)), key + key[len(key)-4:]}[random.IntN(7)])
		}
		in.WriteString(key[:random.IntN(len(key))])
		emit, events := watch()
		o := newOutput(1+random.IntN(120), 1+random.IntN(200), emit)
		o.redact = llm.NewRedaction(key)
		most := 1 + random.IntN(40)
		for s := in.String(); s != ""; {
			n := min(1+random.IntN(most), len(s))
			o.write([]byte(s[:n]))
			s = s[n:]
		}
		got, _ := o.finish()
		for i := range len(key) - 7 {
			part := key[i : i+8]
			if strings.Contains(got, part) || strings.Contains(strings.Join(events(), ""), part) {
				t.Fatalf("%q of %q is in %q or %q", part, key, got, events())
			}
		}
	}
}

// What is shown of a line that grows stays what it was, and a line that passes
// the stripper in pieces hides no key.
func TestTheKeyInLiveOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		emit, events := watch()
		o := newOutput(0, 0, emit)
		o.redact = llm.NewRedaction("sk-12345678")
		for _, s := range []string{"KEY=sk-1", "234567", "8 and sk-1", "x\n", "\rsk-123", "\rsk-12345678\n", strings.Repeat("x", 64<<10-4), "sk-12", "345678 end"} {
			o.write([]byte(s))
			time.Sleep(livePause + time.Millisecond)
		}
		kept, _ := o.finish()
		got := strings.ReplaceAll(strings.Join(events(), "|"), "x", "")
		if want := "KEY=|[redacted] and |sk-1\n|[redacted]\n|…|[redacted] end"; got != want {
			t.Errorf("shown %q, want %q", got, want)
		}
		if !strings.HasPrefix(kept, "KEY=[redacted] and sk-1x\n[redacted]\nx") || !strings.HasSuffix(kept, "x[redacted] end") {
			t.Errorf("kept %.60q … %q", kept, kept[len(kept)-30:])
		}
	})
}
