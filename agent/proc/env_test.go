package proc

import (
	"slices"
	"testing"
)

func TestEnviron(t *testing.T) {
	ours := []string{
		"PATH=/bin", "HOME=/h", "LC_TIME=C", "GOCACHE=/c", "EDITOR=vi", "PAGER=less",
		"SSH_AUTH_SOCK=/s", "OPENAI_API_KEY=k", "GIT_DIR=/g", "FOO=1", "MY_TOKEN=t",
		"LC_SECRET=x", "=C:=odd", "novalue",
	}
	got := environ(ours, []string{"FOO", "MY_TOKEN", "OPENAI_API_KEY", "NOSUCH"})
	want := append([]string{"PATH=/bin", "HOME=/h", "LC_TIME=C", "GOCACHE=/c", "FOO=1"}, fixed...)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretNames(t *testing.T) {
	for name, want := range map[string]bool{
		"OPENAI_API_KEY": true, "aws_secret_access_key": true, "GITHUB_TOKEN": true, "TOKEN": true,
		"DB_PASSWORD": true, "PGPASSWORD": true, "GH_PAT": true, "GOOGLE_APPLICATION_CREDENTIALS": true,
		"STRIPE_KEY_LIVE": true, "MYAPIKEY": true,
		"PATH": false, "KEYBOARD": false, "TOKENIZERS_PARALLELISM": false, "MONKEY": false, "PATTERN": false,
	} {
		if got := secret(name); got != want {
			t.Errorf("secret(%q) = %v, want %v", name, got, want)
		}
	}
}
