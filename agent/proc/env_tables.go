package proc

// passed are the variables of our environment that every program gets: where
// things are, what language they speak, and where tools keep their caches.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR",
	"XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
	"GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOTOOLCHAIN",
	"npm_config_cache", "NPM_CONFIG_CACHE", "CARGO_HOME", "RUSTUP_HOME",
	"PIP_CACHE_DIR", "GRADLE_USER_HOME", "JAVA_HOME", "VIRTUAL_ENV",
}

// passedWindows are what programs on Windows can not start without.
var passedWindows = []string{
	"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "SYSTEMDRIVE",
	"USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)",
	"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
}

// fixed are set for every program: no pager, no prompt, no colour. CI is not
// set, since it changes what programs do and not only how they look.
var fixed = []string{
	"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
}

// What the names of variables that hold a key contain, and words that they are
// made of, in upper case.
var (
	secretParts = []string{"SECRET", "PASSW", "PASSPHRASE", "CREDENTIAL", "APIKEY"}
	secretWords = []string{"KEY", "KEYS", "TOKEN", "TOKENS", "PAT"}
)
