#compdef PROGRAM
# Completion of PROGRAM for zsh: put it as _PROGRAM into a directory of $fpath, or
# source it after compinit.
_PROGRAM() {
	local line word help
	local -a described
	while IFS= read -r line; do
		word=${line%%$'\t'*}
		help=${line#*$'\t'}
		case $word in
		:files)
			[[ $PREFIX == --*=* ]] && compset -P '*='
			_files ;;
		:dirs)
			[[ $PREFIX == --*=* ]] && compset -P '*='
			_files -/ ;;
		*) described+=("${word//:/\\:}${help:+:$help}") ;;
		esac
	done < <(PROGRAM completion --words -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	(( $#described )) && _describe -t words PROGRAM described
}
if [[ $funcstack[1] == _PROGRAM ]]; then
	_PROGRAM "$@"
else
	compdef _PROGRAM PROGRAM
fi
