package session

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"alisio/llm"
	"alisio/plug"
)

func picture(t *testing.T, side int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, side, side), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// C155, C156. Symptom: a bad image in a result is sent, refused, and blocks the session.
// Trigger: a tool of a plugin that gives an HTML page, a picture of 9000 × 9000, a cut one.
func TestC156ABadImageOfAToolGivesWayToANote(t *testing.T) {
	good := picture(t, 4)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"whole": {good, ""},
		"HTML":  {[]byte("<!DOCTYPE html>"), "[a picture of this result was left out: it is no PNG, JPEG, GIF or WebP image]"},
		"9000":  {picture(t, 9_000), "9000×9000 pixels, more than 8000 a side"},
		"cut":   {good[:len(good)/2], "it is cut off"},
		"none":  {nil, "is no PNG"},
	} {
		r := Storable(plug.Result{Parts: []llm.Part{
			{Type: llm.PartText, Text: "seen"}, {Type: llm.PartImage, MIMEType: "image/jpeg; of a plugin", Data: c.data},
		}})
		p := r.Parts[1]
		switch {
		case c.want == "" && (p.Type != llm.PartImage || p.MIMEType != "image/png" || !bytes.Equal(p.Data, good)):
			t.Errorf("%s: got %s %s", name, p.Type, p.MIMEType)
		case c.want != "" && (p.Type != llm.PartText || len(p.Data) > 0 || !strings.Contains(p.Text, c.want)):
			t.Errorf("%s: got %s %q", name, p.Type, p.Text)
		}
	}
	many := slices.Repeat([]llm.Part{{Type: llm.PartImage, Data: good}}, maxPictures+5)
	r := Storable(plug.Result{Parts: many})
	if len(r.Parts) != maxPictures+1 || !strings.Contains(r.PlainText(), "5 parts of this result could not be kept") {
		t.Errorf("%d parts: %s", len(r.Parts), r.PlainText())
	}
}
