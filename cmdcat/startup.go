package cmdcat

import (
	"strings"

	"alisio/agent"
)

// AccessLine says in a few words, for a startup screen, what may happen without a
// question.
func AccessLine(a agent.Access) string {
	if a.ReadOnly {
		return "read-only"
	}
	does := func(what, ask, decision string) string {
		switch decision {
		case "allow":
			return what + " allowed"
		case "ask":
			return what + " " + ask
		}
		return what + " denied"
	}
	return strings.Join([]string{
		does("write", "asks", a.Write), does("commands", "ask", a.Process), does("network", "asks", a.External),
	}, " · ")
}

// Tips are what a startup screen says about commands.
func Tips() []string {
	return []string{"/agent:plan plans before it changes", "/" + HelpName + " lists the commands"}
}
