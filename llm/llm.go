// Package llm holds the words that every part of Alisio speaks when it talks
// about a language model: messages, tools, models, usage, the provider
// contract and the closed list of causes for which work can end.
//
// It is the lowest floor: it imports nothing of ours and no network package.
// Wire clients live in the folders below it.
package llm

import (
	"encoding/json"
	"slices"
)

// Role says who a message is from.
type Role string

// The roles of stored messages. Instructions are no message: they are a field
// of Request, and each wire client sends them as its protocol wants.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one entry of a conversation. Which fields are used depends on
// Role; the others are zero.
type Message struct {
	Role Role

	// Text is what the user or the assistant said; valid UTF-8.
	Text string
	// Display is what a person typed, when Text, which the model gets, says more
	// than that; empty when they agree. Of user messages alone. In a session that
	// was imported it may hide what Text says: there people are shown Text.
	Display string
	// Context names the source of a user message that no person wrote: text that
	// the program put into the conversation ("plugin/name"). Models are told of it
	// by Text; people are shown whose text it is. Empty for what a person said.
	Context string
	// Summary: this user message is a checkpoint, which stands in the place of older
	// messages.
	Summary bool
	// Attachments are images that go with a user message.
	Attachments []Attachment

	// Calls are the tool calls of an assistant message, in the order given.
	// Each is answered by exactly one later RoleTool message.
	Calls []ToolCall
	// ProviderData is the complete ordered list of the provider's output items
	// (reasoning that must go back, text, calls), verbatim. It is replayed to
	// the same Origin only, and only as far as it agrees with Calls; elsewhere
	// the message is rebuilt from Text and Calls. Empty when these say
	// everything. Calls whose arguments were cut are not in it.
	ProviderData []json.RawMessage
	// Origin names who produced an assistant message.
	Origin Origin
	// Truncated: the output limit cut this message.
	Truncated bool
	// Interrupted: the stream of this message ended before it was complete.
	Interrupted bool

	// CallID is the call that a tool message answers.
	CallID string
	// Parts is the content of a tool message.
	Parts []Part
	// IsError marks a tool message that reports a failure.
	IsError bool

	// Stored is the JSON that the message was read from, if that holds fields
	// which this program does not know: they are kept when the message is
	// stored again. Nothing of it goes to a model.
	Stored json.RawMessage
}

// PlainText returns the text projection of a message: its text, or the text
// parts of a tool result joined by newlines.
func (m Message) PlainText() string {
	if m.Role != RoleTool {
		return m.Text
	}
	return PartsText(m.Parts)
}

// Shown returns what people are shown of a message: what was typed, where the
// model was told more.
func (m Message) Shown() string {
	if m.Role == RoleUser && m.Display != "" {
		return m.Display
	}
	return m.PlainText()
}

// PartsText joins the text parts of a result with newlines; this is all that
// a model sees of it beside images.
func PartsText(parts []Part) string {
	if len(parts) == 1 && parts[0].Type == PartText {
		return parts[0].Text
	}
	var b []byte
	for _, p := range parts {
		if p.Type != PartText {
			continue
		}
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(b, p.Text...)
	}
	return string(b)
}

// Origin names the provider, the wire protocol and the model that produced a
// message.
type Origin struct {
	Provider string `json:"provider"`
	API      string `json:"api"`
	Model    string `json:"model"`
	// Server is where the provider is, host and port; empty for a provider of one
	// place, and in messages of older programs.
	Server string `json:"server,omitempty"`
}

// Serves reports whether what this origin made may go back to now. Where an older
// program did not say which server it was, it is taken for the same one.
func (o Origin) Serves(now Origin) bool {
	if o.Server == "" {
		now.Server = ""
	}
	return o == now
}

// Attachment is an image that a person added to a prompt.
type Attachment struct {
	// MIMEType is image/png, image/jpeg, image/gif or image/webp.
	MIMEType string
	// Data holds the image file's bytes.
	Data []byte
	// Width and Height are in pixels, zero when unknown.
	Width, Height int
}

// PartType says what a Part holds.
type PartType string

// The kinds of result content.
const (
	PartText  PartType = "text"
	PartImage PartType = "image"
	PartUI    PartType = "ui"
)

// Part is one piece of a tool result.
type Part struct {
	Type PartType
	// Text of a text part; valid UTF-8.
	Text string
	// MIMEType and Data of an image part.
	MIMEType string
	Data     []byte
	// Block is the JSON of a display block (plug.Block) of a ui part. It is for
	// screens alone and never goes to a model.
	Block json.RawMessage
}

// ToolCall is a model's wish to run a tool.
type ToolCall struct {
	// ID is unique in a session; tool messages refer to it.
	ID string
	// Name as the model wrote it; it may name no known tool.
	Name string
	// Arguments is JSON text. Wire clients hand over exactly what the model
	// sent; it may be cut or broken. An empty string is given as "{}", but in a
	// Truncated message it stays empty and the call counts as cut.
	Arguments string
}

// Tool is what a model is told about a tool.
type Tool struct {
	Name        string
	Description string
	// Schema is a JSON Schema object for the arguments.
	Schema json.RawMessage
}

// Usage counts tokens as the provider reported them. CachedInput is part of
// Input, Reasoning part of Output.
type Usage struct {
	Input       int
	Output      int
	CachedInput int
	Reasoning   int
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:       u.Input + v.Input,
		Output:      u.Output + v.Output,
		CachedInput: u.CachedInput + v.CachedInput,
		Reasoning:   u.Reasoning + v.Reasoning,
	}
}

// Model describes a model of a provider's catalog. Zero means unknown.
type Model struct {
	// ID is what a request names.
	ID string
	// ContextWindow is the number of tokens that input and output share.
	ContextWindow int
	// MaxOutputTokens is the most that one answer may hold.
	MaxOutputTokens int
	// Efforts are the reasoning efforts that the model takes, lowest first.
	Efforts []string
	// Price is nil when nobody named one; a free model has a price of zero.
	Price *Price
}

// Price is what a million tokens cost, in the currency of the provider. Cached
// input that costs no less than other input has that price here.
type Price struct {
	Input, Output, CachedInput float64
}

// TakesEffort reports whether effort may be sent for this model: a model that
// declares no levels is sent what the person asked for.
func (m Model) TakesEffort(effort string) bool {
	return len(m.Efforts) == 0 || slices.Contains(m.Efforts, effort)
}
