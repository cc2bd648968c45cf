# Completion of PROGRAM for bash: source it, or put it where bash-completion looks,
# as ~/.local/share/bash-completion/completions/PROGRAM.
# It needs bash 4.3 or newer; an older one completes file names, as it did before.
((BASH_VERSINFO[0] > 4 || BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] >= 3)) || return 0
_PROGRAM() {
	local line word IFS=$'\n' words=() found=() cur=${COMP_LINE:0:COMP_POINT}
	# The words up to the cursor, as the shell would split them, but with "=" and ":"
	# inside of words.
	local i
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if ((i > 1)) && [[ ${COMP_WORDS[i]} == "=" || ${COMP_WORDS[i]} == ":" || ${COMP_WORDS[i - 1]} == "=" || ${COMP_WORDS[i - 1]} == ":" ]] &&
			[[ $COMP_LINE == *"${words[-1]}${COMP_WORDS[i]}"* ]]; then
			words[-1]+=${COMP_WORDS[i]}
		else
			words+=("${COMP_WORDS[i]}")
		fi
	done
	word=${words[-1]}
	# What is completed is the piece behind the last "=" or ":".
	local piece=${word##*[=:]} before
	before=${word%"$piece"}
	COMPREPLY=()
	while read -r line; do
		line=${line%%$'\t'*}
		case $line in
		:files) compopt -o filenames 2>/dev/null; mapfile -t found < <(compgen -f -- "$piece"); COMPREPLY+=("${found[@]}") ;;
		:dirs) compopt -o filenames 2>/dev/null; mapfile -t found < <(compgen -d -- "$piece"); COMPREPLY+=("${found[@]}") ;;
		*) COMPREPLY+=("${line#"$before"}") ;;
		esac
	done < <(PROGRAM completion --words -- "${words[@]}" 2>/dev/null)
}
complete -F _PROGRAM PROGRAM
