package compact

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"alisio/llm"
)

const (
	// wordsShare is the part of a window that what people said may take; wordsMost
	// bounds it, in characters.
	wordsShare = 8
	wordsMost  = 64_000
	wordsLeast = 2_000
)

// wordsRoom is how many characters of what people said are carried.
func (l Limits) wordsRoom() int {
	room := wordsMost
	if l.known() {
		room = min(room, l.Window*CharsPerToken/wordsShare)
	}
	if l.MaxChars > 0 {
		room = min(room, l.MaxChars/wordsShare)
	}
	return max(room, wordsLeast)
}

// words are what people said in messages, the oldest first: what an earlier
// checkpoint carries, and the prompts since.
func words(messages []llm.Message) []string {
	var all []string
	for _, m := range messages {
		switch {
		case m.Summary:
			all = append(all, carried(m.Text)...)
		case spoken(m):
			if t := said(m); t != "" {
				all = append(all, t)
			}
		}
	}
	return all
}

func said(m llm.Message) string {
	t := strings.TrimSpace(m.Text)
	for _, a := range m.Attachments {
		t += "\n" + describe(a.MIMEType, len(a.Data), a.Width, a.Height)
	}
	return strings.TrimSpace(t)
}

// bounded keeps what fits of what people said, the newest before the older: a text
// that does not fit whole loses its middle, and when there is no room for that, it and
// all before it are left out. The first one, the task, keeps its beginning, and more of it
// where the others leave room.
func bounded(all []string, room int) []string {
	sum := 0
	for _, t := range all {
		sum += utf8.RuneCountInString(t) + 2
	}
	if sum <= room {
		return all
	}
	const least = 400
	var kept []string
	task := utf8.RuneCountInString(clip(all[0], min(room/4, 4_000)))
	room -= task
	for i, t := range slices.Backward(all) {
		if i == 0 {
			break
		}
		n := utf8.RuneCountInString(t) + 2
		if n > room {
			if room < least {
				kept = append(kept, fmt.Sprintf("[%d earlier messages are left out here]", i))
				break
			}
			t = clip(t, room-2)
			n = room
		}
		kept = append(kept, t)
		room -= n
	}
	kept = append(kept, clip(all[0], task+max(0, room)))
	slices.Reverse(kept)
	return kept
}

// wordsTitle is above the words of people in a checkpoint.
const wordsTitle = "What the user said, word for word, oldest first"

// carried reads that list back from the text of a checkpoint.
func carried(text string) []string {
	_, list, ok := strings.Cut(text, "\n"+heading+wordsTitle+"\n")
	if !ok {
		return nil
	}
	var all []string
	for line := range strings.Lines(list) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			all = append(all, rest)
		} else if rest, ok := strings.CutPrefix(line, indent); ok && len(all) > 0 {
			all[len(all)-1] += "\n" + rest
		} else if len(all) > 0 {
			break
		}
	}
	return all
}
