#!/bin/sh
# Compares agent/workspace with ripgrep, pair by pair, as whole processes over
# the same generated tree of 20,000 files (116 MB), and checks first that both
# print the same lines. Needs go and rg; the tree stays for the next time.
#
#   scripts/bench/search.sh [ROUNDS] [TREE]
#
# A line a pattern: the median of each in ms, and the median of the ratios of
# pairs, which a machine busy with other things disturbs least.
set -eu
export LC_ALL=C

rounds=${1:-15}
tree=${2:-${TMPDIR:-/tmp}/alisio-bench-tree}
repo=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cd "$repo"
[ -f "$tree/.gitignore" ] || go run ./scripts/bench/gentree "$tree"
go test -c -o "$work/ours" ./agent/workspace
# Ignore rules hold for rg in a repository only.
[ -d "$tree/.git" ] || git -C "$tree" init -q
cd "$tree"

ms() { # command ...: its wall time in microseconds
	start=$(date +%s%N)
	"$@" >/dev/null
	echo $((($(date +%s%N) - start) / 1000))
}
ours() { ALISIO_SEARCH=$1 ALISIO_SEARCH_FLAGS=$2 "$work/ours"; }
theirs() { if [ -n "$2" ]; then rg -n --no-heading -"$2" -- "$1"; else rg -n --no-heading -- "$1"; fi; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

compare() { # pattern flags
	ours "$1" "$2" | sort >"$work/a"
	theirs "$1" "$2" | sort >"$work/b"
	cmp -s "$work/a" "$work/b" || { echo "$1: different lines" >&2; exit 1; }
	: >"$work/pairs"
	i=0
	while [ $i -lt "$rounds" ]; do
		echo "$(ms ours "$1" "$2") $(ms theirs "$1" "$2")" >>"$work/pairs"
		i=$((i + 1))
	done
	a=$(awk '{ print $1 }' "$work/pairs" | median)
	b=$(awk '{ print $2 }' "$work/pairs" | median)
	r=$(awk '{ printf "%.2f\n", $1 / $2 }' "$work/pairs" | median)
	printf '%-28s %6d lines  ours %4d ms  rg %4d ms  ratio %s\n' "$1${2:+ -$2}" "$(wc -l <"$work/a")" $((a / 1000)) $((b / 1000)) "$r"
}

compare 'rareLiteral' ''
compare 'Handler' ''
compare 'NeedleInTree_\d+' ''
compare '(quo|lex)\w+Client' ''
compare 'const.*Handler' ''
compare 'needleintree' i
