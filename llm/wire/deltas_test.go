package wire

import (
	"context"
	"errors"
	"testing"

	"alisio/llm"
)

func TestDeltasAreBounded(t *testing.T) {
	for name, c := range map[string]struct {
		add  func(*Deltas, []byte) error
		most int
		want error
	}{
		"text":      {(*Deltas).AddText, MaxText, ErrText},
		"reasoning": {(*Deltas).AddReasoning, MaxReasoning, ErrReasoning},
	} {
		d := Deltas{ctx: t.Context(), yield: func(llm.Event) bool { return true }}
		half := make([]byte, c.most/2+1)
		if err := c.add(&d, half); err != nil {
			t.Errorf("%s: half of it: got %v", name, err)
		}
		if err := c.add(&d, half); !errors.Is(err, c.want) {
			t.Errorf("%s: too much: got %v", name, err)
		}
	}
}

func TestDeltasKeepTheirOrder(t *testing.T) {
	var got string
	d := Deltas{ctx: t.Context(), yield: func(ev llm.Event) bool {
		got += string('0'+rune(ev.Kind)) + ev.Text + " "
		return ev.Text != "stop"
	}}
	for _, f := range []func() error{
		func() error { return d.AddText([]byte("a")) }, func() error { return d.AddText([]byte("b")) },
		d.AddActivity, d.AddActivity, func() error { return d.AddReasoning([]byte("r")) },
		func() error { return d.AddText([]byte("stop")) },
	} {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Flush(); !errors.Is(err, ErrLeft) {
		t.Errorf("got %v, want that the reader left", err)
	}
	if want := "1ab 3 2r 1stop "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingIsShownAfterACancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := Deltas{ctx: ctx, yield: func(ev llm.Event) bool { t.Errorf("got %+v", ev); return true }}
	if err := d.AddText([]byte("a")); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := d.Flush(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
