package schema

import (
	"strconv"
	"strings"
)

// compare orders two JSON numbers. Whole numbers are compared digit by digit,
// whatever their length; others as float64, so that an exponent of a hostile
// number costs nothing.
func compare(a, b string) int {
	if whole(a) && whole(b) {
		return compareWhole(a, b)
	}
	x, _ := strconv.ParseFloat(a, 64) // out of range is ±Inf, which orders right
	y, _ := strconv.ParseFloat(b, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// whole reports whether a JSON number is written as an integer.
func whole(s string) bool { return s != "" && !strings.ContainsAny(s, ".eE") }

func compareWhole(a, b string) int {
	if a == "-0" {
		a = "0"
	}
	if b == "-0" {
		b = "0"
	}
	na, nb := strings.HasPrefix(a, "-"), strings.HasPrefix(b, "-")
	switch {
	case na && !nb:
		return -1
	case nb && !na:
		return 1
	case na:
		return compareWhole(b[1:], a[1:])
	case len(a) != len(b):
		// JSON has no leading zeros: more digits are a larger number.
		if len(a) < len(b) {
			return -1
		}
		return 1
	}
	return strings.Compare(a, b)
}

// maxDigits bounds the integers that are written out from an exponent.
const maxDigits = 30

// integer writes a JSON number as an integer, if it is one: "3.0" and "3e0"
// are "3", "12.50e1" is "125".
func integer(s string) (string, bool) {
	if whole(s) {
		return s, true
	}
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", rest
	}
	exp := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			return "", false
		}
		s, exp = s[:i], n
	}
	before, after, _ := strings.Cut(s, ".")
	after = strings.TrimRight(after, "0")
	digits := strings.TrimLeft(before+after, "0")
	exp -= len(after)
	if digits == "" {
		return "0", true
	}
	if exp > maxDigits || len(digits)+exp > maxDigits {
		return "", false
	}
	if exp >= 0 {
		return sign + digits + strings.Repeat("0", exp), true
	}
	// 1500e-2 is whole too: what the exponent takes away must be zeros.
	cut := len(digits) + exp
	if cut <= 0 || strings.Trim(digits[cut:], "0") != "" {
		return "", false
	}
	return sign + digits[:cut], true
}

// isInteger reports whether a JSON number has no fraction.
func isInteger(s string) bool {
	if _, ok := integer(s); ok {
		return true
	}
	// What has too many digits to write out: beyond 2^53 a float64 has no
	// fraction.
	x, _ := strconv.ParseFloat(s, 64)
	return x >= 1<<53 || x <= -1<<53
}
