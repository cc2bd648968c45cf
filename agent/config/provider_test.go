package config

import "testing"

// What has an effect in the mode that is chosen is taken.
func TestBodyOfAMode(t *testing.T) {
	for text, want := range map[string]bool{
		`{"provider": {"extraBody": {"parallel_tool_calls": false}}}`:                        true,
		`{"provider": {"apiMode": "responses", "extraBody": {"text": {}}}}`:                  true,
		`{"provider": {"apiMode": "responses", "extraBody": {"Parallel_Tool_Calls": true}}}`: false,
		`{"provider": {"apiMode": "responses", "extraBody": {"prompt_cache_key": "x"}}}`:     false,
	} {
		file := t.TempDir() + "/c.json"
		if err := WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(LoadOptions{File: file, Dir: t.TempDir(), Getenv: func(string) string { return "" }}); (err == nil) != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestNamesOfVariablesAreNoKeys(t *testing.T) {
	for s, want := range map[string]bool{
		"OPENAI_API_KEY": false, "MyGatewayKeyOfTheTeam": false, "AZUREOPENAIAPIKEY2026X": false, "openai_key_2_of_the_team": false,
		"K1": false, "a1b2c3d4e5f6g7h8i9j": false, "a1b2c3d4e5f6g7h8i9j0": true,
		"0123456789abcdef0123456789abcdef": true, "ABCDEFABCDEFABCDEFABCDEFABCDEFAB": true,
	} {
		if got := looksSecret(s); got != want {
			t.Errorf("%s: got %v, want %v", s, got, want)
		}
	}
}
