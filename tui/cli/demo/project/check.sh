#!/bin/sh
# Checks total.sh against a list whose sum is known.
want=1250
got=$(sh total.sh prices.txt)
if [ "$got" = "$want" ]; then
	echo "ok: total is $got"
else
	echo "FAIL: total is $got, want $want"
	exit 1
fi
