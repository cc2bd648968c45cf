package trust

// covered are the files and directories below a workspace root that need trust
// (spec config-cli.md, "Trust"; context.md, memory-subagents.md, plugins.md). All
// that is in a directory counts, a plugin's files as well as a skill's.
func covered() []string {
	return []string{
		".alisio",
		".agents/agents", ".agents/skills",
		".claude/agents", ".claude/skills",
		".mcp.json",
		".opencode/agent", ".opencode/agents",
	}
}

// nested are the directories of skills in each directory between the root and the
// working directory, which context.md ("Skills") names.
func nested() []string { return []string{".agents/skills", ".alisio/skills", ".claude/skills"} }
