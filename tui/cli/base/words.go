package base

import (
	"fmt"
	"strconv"

	"alisio/llm"
)

// oneSession complains unless there is one word after the command, which names a
// session.
func (c *Call) oneSession() error {
	_, err := c.One("the id of a session")
	if err != nil && len(c.Args) == 0 {
		return &llm.Error{
			Message: err.Error(),
			Hint:    "as in: " + c.Command(c.Verb+" 1a2b3c4d") + "; " + c.Command("sessions list") + " lists the ids",
		}
	}
	return err
}

// One returns the only word after the command.
func (c *Call) One(what string) (string, error) {
	switch len(c.Args) {
	case 1:
		return c.Args[0], nil
	case 0:
		return "", fmt.Errorf("alisio %s needs %s", c.Verb, what)
	}
	return "", fmt.Errorf("alisio %s takes %s and nothing else, found %s too", c.Verb, what, Clipped(c.Args[1]))
}

// AtMostOne returns the only word after the command, empty when there is none.
func (c *Call) AtMostOne(what string) (string, error) {
	switch len(c.Args) {
	case 0:
		return "", nil
	case 1:
		if c.Args[0] != "" {
			return c.Args[0], nil
		}
		return "", fmt.Errorf("alisio %s takes %s or none, and the name is empty", c.Verb, what)
	}
	return "", fmt.Errorf("alisio %s takes %s or none, found %s too", c.Verb, what, Clipped(c.Args[1]))
}

// None complains about words after a command that takes none.
func (c *Call) None() error {
	if len(c.Args) > 0 {
		return fmt.Errorf("alisio %s takes no argument, found %s", c.Verb, Clipped(c.Args[0]))
	}
	return nil
}

// Clipped quotes a word of the command line for an error: short, and in ASCII, since
// what is wrong with it is often not to be seen.
func Clipped(v string) string {
	const most = 40
	if len(v) <= most {
		return strconv.QuoteToASCII(v)
	}
	return fmt.Sprintf("%s… (%d bytes)", strconv.QuoteToASCII(v[:most]), len(v))
}
