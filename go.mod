module alisio

go 1.25
