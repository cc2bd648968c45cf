package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"alisio/llm"
	"alisio/plug"
)

// Live output that is too much was cut before the key was taken out of it, so
// that most of a key came through. Trigger: pieces of any size, with a key where
// the newest 8 KiB begin.
func TestProgressCutsNoKeyInTwo(t *testing.T) {
	const key = "sk-0123456789-abcdefghijklmno"
	random := rand.New(rand.NewPCG(7, 8))
	synctest.Test(t, func(t *testing.T) {
		for n := range 60 {
			shown := ""
			p := &progress{take: llm.NewRedaction(key), emit: func(d plug.Payload) { shown += d.(plug.ToolProgress).Data + "|" }}
			text := strings.Repeat("p", n) + strings.Repeat(key, 1000) + key[:n%len(key)]
			for most := 1 + random.IntN(20_000); text != ""; {
				n := min(1+random.IntN(most), len(text))
				p.add(text[:n])
				text = text[n:]
				time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond)
			}
			p.close()
			p.close()
			if !strings.Contains(shown, "[redacted]") {
				t.Fatalf("shown: %q", shown)
			}
			for i := range len(key) - 7 {
				if strings.Contains(shown, key[i:i+8]) {
					t.Fatalf("%q is shown", key[i:i+8])
				}
			}
		}
	})
}

// In JSON a key can look different.
func TestTheKeyIsTakenOutOfJSON(t *testing.T) {
	const key = `sk-<12"34\5&6>78`
	leak := newToy("leak", plug.EffectProcess, func(context.Context, *plug.Call) (plug.Result, error) {
		return plug.Text("done").WithBlock(plug.Block{Kind: plug.BlockTerminal, Output: "at " + key}), nil
	})
	p := &fake{answers: []answerFunc{says("", call("1", "leak", `{}`)), says("done")}}
	b := newBench(t, p, all, nil, leak)
	b.o.Secrets = []string{key}
	b.run(context.Background(), "go")
	if got := fmt.Sprintf("%s", b.history()[2].Parts[1].Block); !strings.Contains(got, `"at [redacted]"`) {
		t.Errorf("block: %s", got)
	}
}
