package term

import (
	"os"
	"syscall"
	"time"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/term"
)

// The Windows console compiles and is not tested: no machine of the project has one.

// Console modes (terminal.md, section 12).
const (
	processedOutput  = 0x1
	virtualTerminal  = 0x4
	noNewlineReturn  = 0x8
	windowInput      = 0x8
	extendedFlags    = 0x80
	virtualInput     = 0x200
	utf8CodePage     = 65001
	keyRecord        = 1
	sizeRecord       = 4
	waitObject       = 0
	waitTimeout      = 258
	waitForever      = 0xFFFFFFFF
	recordsAtOnce    = 256
	codePageUnknown  = 0
	consoleInputName = "CONIN$"
	consoleOutName   = "CONOUT$"
)

// device is the console.
type device struct {
	in, out *os.File
	own     []*os.File
	event   syscall.Handle // ends a read
	saved   *term.State
	outMode uint32
	inPage  uintptr
	outPage uintptr
	half    uint16 // the first of a pair of surrogates
	dll     *syscall.LazyDLL
}

func newDevice(in, out *os.File, own []*os.File) (device, error) {
	d := device{in: in, out: out, own: own, dll: syscall.NewLazyDLL("kernel32.dll")}
	event, _, err := d.dll.NewProc("CreateEventW").Call(0, 0, 0, 0)
	if event == 0 {
		return device{}, err
	}
	d.event = syscall.Handle(event)
	return d, nil
}

func controlling(write bool) (*os.File, error) {
	name := consoleInputName
	if write {
		name = consoleOutName
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}

// handle is the console handle of a file.
func handle(f *os.File) (h uintptr) {
	control(f, func(fd uintptr) { h = fd })
	return h
}

// raw sets the modes of input and output and the code page UTF-8.
func (d *device) raw() error {
	in, out := handle(d.in), handle(d.out)
	state, err := term.MakeRaw(int(in))
	if err != nil {
		return err
	}
	if d.saved == nil {
		d.saved = state
		d.inPage, _, _ = d.dll.NewProc("GetConsoleCP").Call()
		d.outPage, _, _ = d.dll.NewProc("GetConsoleOutputCP").Call()
		d.dll.NewProc("GetConsoleMode").Call(out, uintptr(unsafe.Pointer(&d.outMode)))
	}
	set := d.dll.NewProc("SetConsoleMode")
	set.Call(in, windowInput|extendedFlags|virtualInput)
	if ok, _, err := set.Call(out, processedOutput|virtualTerminal|noNewlineReturn); ok == 0 {
		return err
	}
	d.dll.NewProc("SetConsoleCP").Call(utf8CodePage)
	d.dll.NewProc("SetConsoleOutputCP").Call(utf8CodePage)
	return nil
}

func (d *device) restore() {
	if d.saved == nil {
		return
	}
	discard(handle(d.in))
	term.Restore(int(handle(d.in)), d.saved)
	d.dll.NewProc("SetConsoleMode").Call(handle(d.out), uintptr(d.outMode))
	if d.inPage != codePageUnknown {
		d.dll.NewProc("SetConsoleCP").Call(d.inPage)
		d.dll.NewProc("SetConsoleOutputCP").Call(d.outPage)
	}
	d.saved = nil
}

// record is INPUT_RECORD: the event is a KEY_EVENT_RECORD where the kind says so.
type record struct {
	kind    uint16
	_       uint16
	down    int32
	repeat  uint16
	key     uint16
	scan    uint16
	char    uint16
	control uint32
}

// read waits for records and gives the characters of keys; with virtual terminal input
// these are the sequences that other terminals send.
func (d *device) read(p []byte, wait time.Duration) (int, error) {
	handles := [2]uintptr{uintptr(d.event), handle(d.in)}
	limit := uintptr(waitForever)
	if wait > 0 {
		limit = uintptr(wait.Milliseconds())
	}
	for {
		got, _, err := d.dll.NewProc("WaitForMultipleObjects").Call(2, uintptr(unsafe.Pointer(&handles)), 0, limit)
		switch got {
		case waitObject:
			return 0, errWoken
		case waitObject + 1:
		case waitTimeout:
			return 0, os.ErrDeadlineExceeded
		default:
			return 0, err
		}
		var records [recordsAtOnce]record
		var count uint32
		room := min(len(p)/utf8.UTFMax, len(records))
		ok, _, err := d.dll.NewProc("ReadConsoleInputW").Call(handle(d.in), uintptr(unsafe.Pointer(&records)), uintptr(room), uintptr(unsafe.Pointer(&count)))
		if ok == 0 {
			return 0, err
		}
		out, resized := p[:0], false
		for _, r := range records[:count] {
			switch {
			case r.kind == sizeRecord:
				resized = true
			case r.kind == keyRecord && r.down != 0 && r.char != 0:
				out = d.character(out, r.char)
			}
		}
		if len(out) > 0 {
			return len(out), nil
		}
		if resized {
			return 0, errResized
		}
	}
}

// character appends a UTF-16 unit as UTF-8; the first half of a pair waits.
func (d *device) character(out []byte, unit uint16) []byte {
	r := rune(unit)
	switch {
	case d.half != 0:
		r = utf16.DecodeRune(rune(d.half), r)
		d.half = 0
	case utf16.IsSurrogate(r):
		d.half = unit
		return out
	}
	return utf8.AppendRune(out, r)
}

func (d *device) wake() { d.dll.NewProc("SetEvent").Call(uintptr(d.event)) }

func (d *device) drop() {}

func (d *device) size() (columns, rows int) { return Size(d.out) }

func (d *device) erase() byte { return 0 }

func (d *device) foreground() bool { return true }

func (d *device) close() {
	syscall.CloseHandle(d.event)
	for _, f := range d.own {
		f.Close()
	}
}
