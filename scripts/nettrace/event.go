package main

// event is one call of interest.
type event struct {
	// Program is the file that the process executes, PID the process.
	Program string `json:"program"`
	PID     int    `json:"pid"`
	// Call is the system call, or "exec"; "foreign" is one of another
	// architecture, of which nothing more is known.
	Call string `json:"call"`
	// Address is that of a network call, see address.
	Address string `json:"address,omitempty"`
	// Path is the absolute name that a file's call was given. Real is where an
	// open ended when links led elsewhere.
	Path string `json:"path,omitempty"`
	Real string `json:"real,omitempty"`
	// Access is what a file's call is good for: accessRead and so on.
	Access string `json:"access,omitempty"`
	// Error is why the kernel refused; empty for what was done.
	Error string `json:"error,omitempty"`
}

const (
	accessRead  = "read"
	accessWrite = "write" // opened for writing, made, renamed, removed, marked
	// accessPlace opens a directory or, with O_PATH, only a place: a file's
	// content can not be read through it.
	accessPlace = "place"
)
