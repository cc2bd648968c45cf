#!/bin/sh
# Prints the sum of the prices in a list: one item a line, a name and a price in cents.
sum=0
while read -r name cents; do
	sum=$((sum + cents))
done < "$1"
echo "$sum"
