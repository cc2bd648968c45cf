package main

import (
	"fmt"
	"strings"
	"testing"
)

const (
	pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

	user      = `{"role":"user","content":"hi"}`
	chatCall  = `{"role":"assistant","content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{}"}}]}`
	chatGiven = `{"role":"tool","tool_call_id":"a","content":"r"}`
	itemCall  = `{"type":"function_call","call_id":"a","name":"read_file","arguments":"{}"}`
	itemGiven = `{"type":"function_call_output","call_id":"a","output":"r"}`
	reasoned  = `{"type":"reasoning","id":"rs_1","summary":[]}`
)

func chatOf(messages ...string) string {
	return `{"model":"m","messages":[` + strings.Join(messages, ",") + `]}`
}

func itemsOf(items ...string) string {
	return `{"model":"m","store":false,"input":[` + strings.Join(items, ",") + `]}`
}

func image(url string) string {
	return fmt.Sprintf(`{"role":"user","content":[{"type":"image_url","image_url":{"url":%q}}]}`, url)
}

// C048, C050, C051, C053 and their kind. Symptoms: a history that a server refuses is
// sent, and sent again with every request after it. Triggers: one defect each.
func TestC048C050C051C053StrictRefusesBrokenHistories(t *testing.T) {
	change := func(s, old, fresh string) string { return strings.Replace(s, old, fresh, 1) }
	for name, c := range map[string]struct{ body, complain string }{
		"whole":                 {chatOf(`{"role":"system","content":"s"}`, user, chatCall, chatGiven), ""},
		"image":                 {chatOf(image("data:image/png;base64," + pixel)), ""},
		"call without result":   {chatOf(user, chatCall, user), `["a"] are not answered`},
		"open at the end":       {chatOf(user, chatCall), "not answered at the end"},
		"result without call":   {chatOf(user, chatGiven), `a result is of the call "a"`},
		"result twice":          {chatOf(user, chatCall, chatGiven, chatGiven), `a result is of the call "a"`},
		"id twice":              {chatOf(user, chatCall, chatGiven, chatCall, chatGiven), "used twice"},
		"no id":                 {chatOf(user, change(chatCall, `"a"`, `""`)), "has the id"},
		"long id":               {chatOf(user, change(chatCall, `"a"`, `"`+strings.Repeat("x", 41)+`"`)), "has the id"},
		"no name":               {chatOf(user, change(chatCall, "read_file", "")), "has the name"},
		"name with a dot":       {chatOf(user, change(chatCall, "read_file", "read.file")), "has the name"},
		"cut arguments":         {chatOf(user, change(chatCall, "{}", `{\"a`)), "no JSON object"},
		"empty arguments":       {chatOf(user, change(chatCall, "{}", "")), "no JSON object"},
		"null":                  {chatOf(user, change(chatCall, "{}", "null")), "no JSON object"},
		"a list":                {chatOf(user, change(chatCall, "{}", "[]")), "no JSON object"},
		"arguments as object":   {chatOf(user, change(chatCall, `"{}"`, "{}")), "cannot unmarshal"},
		"no arguments":          {chatOf(user, change(chatCall, `,"arguments":"{}"`, "")), "no arguments"},
		"type of call":          {chatOf(user, change(chatCall, `"type":"function"`, `"type":"x"`)), "of type"},
		"empty assistant":       {chatOf(user, `{"role":"assistant","content":""}`, user), "neither text nor calls"},
		"assistant last":        {chatOf(user, `{"role":"assistant","content":"x"}`), "no answer"},
		"nothing":               {chatOf(), "no answer"},
		"empty prompt":          {chatOf(`{"role":"user","content":""}`), "nothing is said"},
		"late system":           {chatOf(user, `{"role":"system","content":"s"}`, user), "not the first"},
		"unknown role":          {chatOf(`{"role":"bot","content":"s"}`), "nobody is"},
		"page as image":         {chatOf(image("data:image/png;base64,PGh0bWw+")), "is no PNG"},
		"wrong type of image":   {chatOf(image("data:image/gif;base64," + pixel)), "is image/png"},
		"image from elsewhere":  {chatOf(image("https://example.com/x.png")), "no data URL"},
		"tool twice":            {change(chatOf(user), `"messages"`, `"tools":[{"type":"function","function":{"name":"t","parameters":{"type":"object"}}},{"type":"function","function":{"name":"t","parameters":{"type":"object"}}}],"messages"`), "two tools"},
		"tool without a schema": {change(chatOf(user), `"messages"`, `"tools":[{"type":"function","function":{"name":"t"}}],"messages"`), "no object"},
	} {
		t.Run(name, func(t *testing.T) { complains(t, check([]byte(c.body), false), c.complain) })
	}
	for name, c := range map[string]struct{ body, complain string }{
		"whole":               {itemsOf(user, reasoned, itemCall, itemGiven), ""},
		"text between":        {itemsOf(user, itemCall, `{"role":"assistant","content":"x"}`, itemGiven), ""},
		"kept by the server":  {change(itemsOf(user), "false", "true"), "store is not false"},
		"call without result": {itemsOf(user, itemCall, user), "not answered"},
		"open at the end":     {itemsOf(user, itemCall), "not answered at the end"},
		"result without call": {itemsOf(user, itemGiven), "a result is of the call"},
		"id twice":            {itemsOf(user, itemCall, itemGiven, itemCall, itemGiven), "used twice"},
		"item twice":          {itemsOf(user, reasoned, reasoned, itemCall, itemGiven), "comes twice"},
		"cut arguments":       {itemsOf(user, change(itemCall, "{}", `{\"a`)), "no JSON object"},
		"reasoning alone":     {itemsOf(user, reasoned, user), "follows its reasoning"},
		"reasoning last":      {itemsOf(user, reasoned), "reasoning stands at the end"},
		"unknown item":        {itemsOf(user, `{"type":"x"}`), "nothing is of type"},
		"text for a list":     {`{"store":false,"input":"hi"}`, "no list"},
	} {
		t.Run("responses/"+name, func(t *testing.T) { complains(t, check([]byte(c.body), true), c.complain) })
	}
}

func complains(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestSingleHoldsThePrefix(t *testing.T) {
	other, note := `{"role":"user","content":"other"}`, `{"role":"user","content":"[note of the program] go on"}`
	for name, c := range map[string]struct {
		bodies   []string
		complain string
	}{
		"grows":      {[]string{chatOf(user), chatOf(user, chatCall, chatGiven), chatOf(user, chatCall, chatGiven, other)}, ""},
		"again":      {[]string{chatOf(user), chatOf(user)}, ""},
		"note gone":  {[]string{chatOf(user, note), chatOf(user, other)}, ""},
		"items":      {[]string{itemsOf(user), itemsOf(user, other)}, ""},
		"other":      {[]string{chatOf(user), chatOf(other)}, "message 1 was"},
		"shrinks":    {[]string{chatOf(user, other), chatOf(user)}, "message 2 was"},
		"head":       {[]string{chatOf(user), strings.Replace(chatOf(user), `"m"`, `"n"`, 1)}, "before the messages"},
		"items head": {[]string{itemsOf(user), strings.Replace(itemsOf(user), `"m"`, `"n"`, 1)}, "before the messages"},
	} {
		var said conversation
		var err error
		for i, body := range c.bodies {
			if err != nil {
				t.Errorf("%s: request %d: %v", name, i, err)
			}
			err = said.goesOn([]byte(body))
		}
		t.Run(name, func(t *testing.T) { complains(t, err, c.complain) })
	}
}

// A server that checks refuses with a status that no client repeats, and says why.
func TestStrictServer(t *testing.T) {
	s, url := start(t, `{"replies":[{"text":"ok","repeat":-1}]}`)
	s.strict, s.single = true, true
	for _, c := range []struct{ body, complain string }{
		{chatOf(user), ""},
		{chatOf(user, chatGiven), "a result is of the call"},
		{chatOf(`{"role":"user","content":"other"}`), "the prefix has changed"},
	} {
		resp, body, err := post(t, url, c.body)
		if bad := c.complain != ""; err != nil || (resp.StatusCode == 400) != bad || !strings.Contains(body, c.complain) {
			t.Errorf("%s: %v %s %v", c.body, resp, body, err)
		}
	}
	if !s.failed() {
		t.Error("the exit code does not tell")
	}
}
