package salvage

import (
	"encoding/json"
	"strings"
)

// titleLimit is the length of a title, in characters.
const titleLimit = 200

// Title is the first line of a user's message that says anything, shortened.
func Title(body string) string {
	var m struct {
		Text string `json:"text"`
	}
	if json.Unmarshal([]byte(body), &m) != nil {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(m.Text), "\n")
	if r := []rune(strings.TrimSpace(line)); len(r) > titleLimit {
		return string(r[:titleLimit])
	}
	return strings.TrimSpace(line)
}
