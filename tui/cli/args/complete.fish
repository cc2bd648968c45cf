# Completion of PROGRAM for fish: put it as PROGRAM.fish into
# ~/.config/fish/completions.
function __PROGRAM_words
	set -l words (commandline -opc) (commandline -ct)
	for line in (PROGRAM completion --words -- $words[2..-1] 2>/dev/null)
		set -l word (string split -m 1 \t -- $line)[1]
		set -l part (commandline -ct)
		# What stands before the name of a file goes in front of what completes it.
		set -l before (string match -r '^--[^=]*=' -- $part)
		switch $word
			case ':files'
				__fish_complete_path (string replace -r '^--[^=]*=' '' -- $part) | string replace -r '^' -- "$before"
			case ':dirs'
				__fish_complete_directories (string replace -r '^--[^=]*=' '' -- $part) '' | string replace -r '^' -- "$before"
			case '*'
				printf '%s\n' $line
		end
	end
end
complete -c PROGRAM -f -a '(__PROGRAM_words)'
