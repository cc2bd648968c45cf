package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"alisio/llm"
)

// The strictest that is known of any server, for the part of requests that comes
// from histories. Servers differ in what they look at; a body that passes here passes
// with all of them.
const (
	maxCallID     = 64
	maxChatCallID = 40
	toolName      = `^[a-zA-Z0-9_-]{1,64}$`
)

// piece is one message or item as strict needs it: of either protocol.
type piece struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	// Calls and CallID are of Chat Completions.
	Calls  []callPiece `json:"tool_calls"`
	CallID string      `json:"tool_call_id"`

	Type      string          `json:"type"`
	ID        string          `json:"id"`
	ItemCall  string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments *string         `json:"arguments"`
	Output    json.RawMessage `json:"output"`
}

type callPiece struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string  `json:"name"`
		Arguments *string `json:"arguments"`
	} `json:"function"`
}

type toolPiece struct {
	Type     string          `json:"type"`
	Name     string          `json:"name"`
	Schema   json.RawMessage `json:"parameters"`
	Function *toolPiece      `json:"function"`
}

// strict checks the histories in requests (C048, C050, C051, C053 and all of their
// kind): calls and results pair both ways, arguments are JSON objects, names and ids
// have the servers' form, ids are used once, images are images, roles follow each
// other as servers take them.
type strict struct {
	maxID int
	name  *regexp.Regexp
	// open are calls that wait for their results, in order.
	open []string
	ids  map[string]bool
	// thought: reasoning stands last, which nothing but what it led to may follow.
	thought bool
	last    string // who spoke last
}

// check tells what is wrong with a request.
func check(body []byte, responses bool) error {
	var r struct {
		Messages []json.RawMessage `json:"messages"`
		Input    json.RawMessage   `json:"input"`
		Tools    []toolPiece       `json:"tools"`
		Store    *bool             `json:"store"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	s := &strict{maxID: maxChatCallID, name: regexp.MustCompile(toolName), ids: map[string]bool{}}
	if responses {
		s.maxID = maxCallID
		if err := json.Unmarshal(r.Input, &r.Messages); err != nil {
			return fmt.Errorf("the input is no list: %w", err)
		}
		if r.Store == nil || *r.Store {
			return errors.New("store is not false: the server would keep the conversation")
		}
	}
	if err := s.tools(r.Tools); err != nil {
		return err
	}
	for i, raw := range r.Messages {
		var p piece
		err := json.Unmarshal(raw, &p)
		if err == nil && responses {
			err = s.item(p)
		} else if err == nil {
			err = s.message(p, i)
		}
		if err != nil {
			return fmt.Errorf("message %d of %d: %w: %.300s", i+1, len(r.Messages), err, raw)
		}
	}
	return s.end()
}

func (s *strict) tools(tools []toolPiece) error {
	names := map[string]bool{}
	for _, t := range tools {
		if t.Function != nil {
			t.Name, t.Schema = t.Function.Name, t.Function.Schema
		}
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case t.Type != "function", !s.name.MatchString(t.Name):
			return fmt.Errorf("a tool has the type %q and the name %q", t.Type, t.Name)
		case names[t.Name]:
			return fmt.Errorf("two tools are named %s", t.Name)
		case json.Unmarshal(t.Schema, &schema) != nil, schema.Type != "object":
			return fmt.Errorf("the parameters of %s are no object's", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

// message takes the next message of a Chat Completions request.
func (s *strict) message(p piece, i int) error {
	switch p.Role {
	case "system":
		if i > 0 {
			return errors.New("a system message is not the first")
		}
		return s.said(p)
	case "user":
		return s.said(p)
	case "assistant":
		text, err := words(p.Content)
		switch {
		case err != nil:
			return err
		case text == "" && len(p.Calls) == 0:
			return errors.New("neither text nor calls")
		case len(s.open) > 0:
			return fmt.Errorf("calls %q are not answered", s.open)
		}
		s.last = p.Role
		for _, c := range p.Calls {
			if c.Type != "function" {
				return fmt.Errorf("a call is of type %q", c.Type)
			}
			if err := s.call(c.ID, c.Function.Name, c.Function.Arguments); err != nil {
				return err
			}
		}
		return nil
	case "tool":
		if _, err := words(p.Content); err != nil {
			return err
		}
		return s.answer(p.CallID)
	}
	return fmt.Errorf("nobody is a %q", p.Role)
}

// item takes the next item of a Responses input.
func (s *strict) item(p piece) error {
	if p.ID != "" && s.ids["item "+p.ID] {
		return fmt.Errorf("item %s comes twice", p.ID)
	}
	s.ids["item "+p.ID] = true
	assistant := p.Role == "assistant" || p.Type == "function_call" || p.Type == "custom_tool_call"
	if s.thought && !assistant && p.Type != "reasoning" {
		return errors.New("nothing of the answer follows its reasoning")
	}
	s.thought = p.Type == "reasoning"
	switch {
	case p.Type == "reasoning":
		return nil
	case p.Type == "function_call":
		return s.call(p.ItemCall, p.Name, p.Arguments)
	case p.Type == "custom_tool_call":
		none := "{}" // its input may be any text
		return s.call(p.ItemCall, p.Name, &none)
	case p.Type == "function_call_output", p.Type == "custom_tool_call_output":
		if _, err := words(p.Output); err != nil {
			return err
		}
		return s.answer(p.ItemCall)
	case p.Type != "" && p.Type != "message":
		return fmt.Errorf("nothing is of type %q", p.Type)
	case p.Role == "assistant": // may stand between calls of its answer
		s.last = p.Role
		_, err := words(p.Content)
		return err
	case p.Role == "user":
		return s.said(p)
	}
	return fmt.Errorf("nobody is a %q", p.Role)
}

// said takes what somebody else than the model says.
func (s *strict) said(p piece) error {
	text, err := words(p.Content)
	switch {
	case err != nil:
		return err
	case text == "":
		return errors.New("nothing is said")
	case len(s.open) > 0:
		return fmt.Errorf("calls %q are not answered", s.open)
	}
	s.last = p.Role
	return nil
}

func (s *strict) call(id, name string, arguments *string) error {
	var object map[string]json.RawMessage
	switch {
	case id == "", len(id) > s.maxID:
		return fmt.Errorf("a call has the id %q", id)
	case s.ids[id]:
		return fmt.Errorf("the id %s is used twice", id)
	case !s.name.MatchString(name):
		return fmt.Errorf("a call has the name %q", name)
	case arguments == nil:
		return errors.New("a call has no arguments")
	case json.Unmarshal([]byte(*arguments), &object) != nil || object == nil:
		return fmt.Errorf("the arguments %q are no JSON object", *arguments)
	}
	s.ids[id] = true
	s.open = append(s.open, id)
	s.last = "assistant"
	return nil
}

func (s *strict) answer(id string) error {
	if len(s.open) == 0 || s.open[0] != id {
		return fmt.Errorf("a result is of the call %q, and %q wait", id, s.open)
	}
	s.open = s.open[1:]
	s.last = "tool"
	return nil
}

func (s *strict) end() error {
	switch {
	case len(s.open) > 0:
		return fmt.Errorf("calls %q are not answered at the end", s.open)
	case s.thought:
		return errors.New("reasoning stands at the end")
	case s.last != "user" && s.last != "tool":
		return fmt.Errorf("at the end stands a message of %q, to which there is no answer", s.last)
	}
	return nil
}

// words is what a content says: a string, null, or a list of parts. An image counts
// as a word, and must be one.
func words(content json.RawMessage) (string, error) {
	var text *string
	if len(content) == 0 {
		return "", nil
	}
	if json.Unmarshal(content, &text) == nil {
		if text == nil {
			return "", nil
		}
		return *text, nil
	}
	var parts []struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Image json.RawMessage `json:"image_url"`
	}
	if err := json.Unmarshal(content, &parts); err != nil {
		return "", fmt.Errorf("a content that is no text and no list: %w", err)
	}
	var all []string
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text", "refusal":
			all = append(all, p.Text)
		case "image_url", "input_image":
			if err := picture(p.Image); err != nil {
				return "", fmt.Errorf("an image: %w", err)
			}
			all = append(all, "(image)")
		default:
			return "", fmt.Errorf("a part of type %q", p.Type)
		}
	}
	return strings.Join(all, " "), nil
}

// picture holds that an image is what its data URL says.
func picture(raw json.RawMessage) error {
	var url string
	if json.Unmarshal(raw, &url) != nil {
		var object struct {
			URL string `json:"url"`
		}
		if err := json.Unmarshal(raw, &object); err != nil {
			return err
		}
		url = object.URL
	}
	kind, data, ok := strings.Cut(strings.TrimPrefix(url, "data:"), ";base64,")
	if !ok {
		return fmt.Errorf("%.80q is no data URL", url)
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return err
	}
	a, err := llm.ReadImage(decoded)
	if err == nil && a.MIMEType != kind {
		err = fmt.Errorf("it is told to be %s and is %s", kind, a.MIMEType)
	}
	return err
}

// conversation is what successive requests of one session have in common.
type conversation struct {
	head     []byte
	messages []json.RawMessage
}

// passing marks messages that are told with one request alone.
const passing = "[note of the program] "

// goesOn checks that a request repeats the one before it byte for byte, up to what
// was told with that alone: caches of prompts live on that.
func (c *conversation) goesOn(body []byte) error {
	at := bytes.Index(body, []byte(`"messages":[`))
	if at < 0 {
		at = bytes.Index(body, []byte(`"input":[`))
	}
	if at < 0 {
		return errors.New("a request without messages")
	}
	var r struct {
		Messages []json.RawMessage `json:"messages"`
		Input    []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	next := conversation{head: body[:at], messages: append(r.Messages, r.Input...)}
	if n := len(next.messages); n > 0 {
		var p piece
		if json.Unmarshal(next.messages[n-1], &p) == nil && strings.HasPrefix(text(p.Content), passing) {
			next.messages = next.messages[:n-1]
		}
	}
	before := *c
	*c = next
	if before.head == nil {
		return nil
	}
	if !bytes.Equal(before.head, next.head) {
		return fmt.Errorf("the prefix has changed before the messages, from %.2000q to %.2000q", before.head, next.head)
	}
	for i, m := range before.messages {
		if i >= len(next.messages) || !bytes.Equal(m, next.messages[i]) {
			return fmt.Errorf("the prefix has changed: message %d was %.300s", i+1, m)
		}
	}
	return nil
}
