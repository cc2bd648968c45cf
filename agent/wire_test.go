package agent

import (
	"fmt"
	"net/http"
	"strings"

	"alisio/llm"
	"alisio/llm/chatapi"
	"alisio/llm/responses"
)

// wired is a provider that asks a server in one of the protocols, "chat" or "responses".
func wired(protocol, base string, client *http.Client) llm.Provider {
	if protocol == "responses" {
		return responses.New(responses.Config{ID: "wire", BaseURL: base + "/v1", HTTP: client})
	}
	return chatapi.New(chatapi.Config{ID: "wire", BaseURL: base + "/v1", HTTP: client})
}

// wireAnswer is the n-th answer of a server, as a stream of either protocol. broken: it
// ends behind its text. Without out there is no usage.
type wireAnswer struct {
	n       int
	text    string
	calls   []llm.ToolCall
	in, out int
	broken  bool
}

// write answers a request in its protocol.
func (a wireAnswer) write(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if strings.HasSuffix(req.URL.Path, "/chat/completions") {
		a.chat(w)
	} else {
		a.responses(w)
	}
}

func (a wireAnswer) chat(w http.ResponseWriter) {
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", a.text)
	if a.broken {
		return
	}
	for i, c := range a.calls {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":%q,\"type\":\"function\",\"function\":{\"name\":%q,\"arguments\":%q}}]}}]}\n\n",
			i, c.ID, c.Name, c.Arguments)
	}
	usage := ""
	if a.out > 0 {
		usage = fmt.Sprintf(`,"usage":{"prompt_tokens":%d,"completion_tokens":%d}`, a.in, a.out)
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]%s}\n\ndata: [DONE]\n\n", usage)
}

func (a wireAnswer) responses(w http.ResponseWriter) {
	fmt.Fprintf(w, "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m%d\",\"output_index\":0,\"content_index\":0,\"delta\":%q}\n\n", a.n, a.text)
	if a.broken {
		return
	}
	items := []string{fmt.Sprintf(`{"type":"message","id":"m%d","role":"assistant","status":"completed","content":[{"type":"output_text","text":%q,"annotations":[]}]}`, a.n, a.text)}
	for i, c := range a.calls {
		items = append(items, fmt.Sprintf(`{"type":"function_call","id":"f%d%d","call_id":%q,"name":%q,"status":"completed","arguments":%q}`, a.n, i, c.ID, c.Name, c.Arguments))
	}
	usage := ""
	if a.out > 0 {
		usage = fmt.Sprintf(`,"usage":{"input_tokens":%d,"output_tokens":%d}`, a.in, a.out)
	}
	fmt.Fprintf(w, "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r%d\",\"status\":\"completed\",\"output\":[%s]%s}}\n\n", a.n, strings.Join(items, ","), usage)
}
