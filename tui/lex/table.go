package lex

// A list of words is one string, as that is data of the binary: a map would be built at
// every start of the program, whether code is shown or not.

// language is what a lexer knows of a language. Lists of words have a blank around each.
type language struct {
	names    string // the first is the name; the rest aliases, file names and extensions
	keywords string
	consts   string // words for values
	types    string
	defining string // keywords before the name of what is defined

	comments []string  // up to the end of the line
	block    [2]string // over lines
	nested   bool      // blocks in blocks
	quotes   []quote   // longer openings first

	letters    string // what a word may begin with, beside letters
	inner      string // and what may be in it
	keys       byte   // what follows a key: ':' or '='
	quotedKeys bool   // strings are keys, too
	fold       bool   // keywords in any case
	capital    bool   // types begin with a capital
	dots       bool   // after a dot nothing is a keyword
	bang       bool   // name! is a macro
	words      bool   // a shell: the first word is a command
	parens     bool   // $(name) is a variable
	units      bool   // numbers have units

	start   func(*scan)      // reads the start of a line
	special func(*scan) bool // takes a token of its own kind
	line    func(*scan)      // reads the whole line instead
}

const (
	plainNames = " text txt plain plaintext none output log "

	cWords = " alignas auto break case catch class const constexpr const_cast continue co_await co_return default delete do " +
		"dynamic_cast else enum explicit export extern final for friend goto if inline mutable namespace new noexcept operator " +
		"override private protected public register reinterpret_cast return sizeof static static_assert static_cast struct " +
		"switch template this throw try typedef typename union using virtual volatile while concept requires "
	cTypes = " bool char double float int long short signed unsigned void size_t ssize_t wchar_t string vector map " +
		"int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t FILE "
	javaWords = " abstract assert break case catch class const continue default do else enum extends final finally for goto if " +
		"implements import instanceof interface native new package private protected public record return sealed static " +
		"strictfp super switch synchronized this throw throws transient try var volatile while yield permits "
	scriptWords = " abstract as async await break case catch class const constructor continue debugger declare default delete do " +
		"else enum export extends finally for from function get if implements import in infer instanceof interface is keyof " +
		"let namespace new of package private protected public readonly return satisfies set static super switch this throw " +
		"try type typeof var void while with yield "
	shellWords = " if then else elif fi for while until do done case esac in function select time return exit break continue " +
		"local export readonly declare typeset unset shift set source alias trap eval exec "
	sqlWords = " add all alter analyze and any as asc attach begin between by cascade case cast check collate column commit " +
		"conflict constraint create cross current database default deferred delete desc distinct do drop else end escape " +
		"except exists explain fetch filter first following for foreign from full function generated grant group having if " +
		"ignore immediate in index inner insert instead intersect into is join key language last lateral left like limit " +
		"materialized merge natural no not nothing nulls of offset on only or order outer over partition pragma preceding " +
		"primary procedure raise range recursive references rename replace restrict returning returns revoke right " +
		"rollback row rows savepoint select set table temp temporary then to transaction trigger truncate unbounded union " +
		"unique update using vacuum values view virtual when where window with without "
)

// languages are looked through in order. Where one entry serves several languages its
// words are those of all: a keyword too many in rare code harms less than a table for
// each of them would cost.
var languages = []language{
	{
		names: " go golang ",
		keywords: " break case chan const continue default defer else fallthrough for func go goto if import interface map " +
			"package range return select struct switch type var ",
		consts: " true false nil iota ",
		types: " any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string " +
			"uint uint8 uint16 uint32 uint64 uintptr ",
		defining: " func type package ", dots: true,
		comments: []string{"//"}, block: [2]string{"/*", "*/"},
		quotes: []quote{{open: `"`, end: `"`}, {open: "'", end: "'"}, {open: "`", end: "`", multi: true, raw: true}},
	},
	{
		names:    " c c++ cpp cc cxx h hpp hh hxx ino cuda cu objc objective-c objectivec m mm glsl hlsl arduino ",
		keywords: cWords, types: cTypes, consts: " true false NULL nullptr ", defining: " class struct enum namespace union ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, letters: "@",
		quotes: []quote{{open: `"`, end: `"`}, {open: "'", end: "'"}},
		start:  directive, special: cplus,
	},
	{
		names: " java groovy gradle ", keywords: javaWords, consts: " true false null ", capital: true, dots: true,
		types:    " boolean byte char double float int long short void ",
		defining: " class interface enum record ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, special: annotation,
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " csharp c# cs ", capital: true, dots: true,
		keywords: javaWords + "as async await base checked delegate event explicit extern fixed foreach get implicit in init " +
			"internal is lock namespace nameof operator out override params partial readonly ref required select set sizeof " +
			"stackalloc struct typeof unchecked unsafe using value virtual where with when ",
		types:  " bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort void ",
		consts: " true false null ", defining: " class interface enum record struct namespace ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, start: directive,
		quotes: []quote{
			{open: `"""`, end: `"""`, multi: true, raw: true}, {open: `$@"`, end: `"`, multi: true, raw: true, double: true},
			{open: `@"`, end: `"`, multi: true, raw: true, double: true}, {open: `$"`, end: `"`}, {open: `"`, end: `"`}, {open: "'", end: "'"},
		},
	},
	{
		names: " kotlin kt kts ", capital: true, dots: true,
		keywords: " abstract actual annotation as break by catch class companion const constructor continue crossinline data do " +
			"else enum expect external final finally for fun get if import in infix init inline inner interface internal is " +
			"lateinit noinline object open operator out override package private protected public reified return sealed set " +
			"super suspend tailrec this throw try typealias val value var vararg when where while ",
		consts: " true false null ", defining: " fun class interface object typealias ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, special: annotation,
		quotes: []quote{{open: `"""`, end: `"""`, multi: true, raw: true}, {open: `"`, end: `"`, vars: true}, {open: "'", end: "'"}},
	},
	{
		names: " swift ", capital: true, dots: true,
		keywords: " actor any as associatedtype async await break case catch class continue convenience default defer deinit do " +
			"else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is " +
			"lazy let mutating nonmutating open operator optional override postfix prefix private protocol public repeat " +
			"required rethrows return self Self set some static struct subscript super switch throw throws try typealias " +
			"unowned var weak where while willSet didSet ",
		consts: " true false nil ", defining: " func class struct enum protocol extension actor typealias ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, special: annotation,
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`}},
	},
	{
		names: " rust rs ", capital: true, bang: true,
		keywords: " as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut " +
			"pub ref return self Self static struct super trait type union unsafe use where while yield ",
		types:  " bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize ",
		consts: " true false None Some Ok Err ", defining: " fn struct enum trait type mod union ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, nested: true, special: rust,
		quotes: []quote{{open: `b"`, end: `"`, multi: true}, {open: `"`, end: `"`, multi: true}},
	},
	{
		names: " scala dart zig d haxe v solidity sol ", capital: true, dots: true,
		keywords: javaWords + scriptWords + "def val object trait match given then lazy override implicit mixin late required " +
			"factory fn pub comptime defer errdefer orelse unreachable test contract mapping event emit modifier pragma ",
		types: " bool i32 u8 u32 u64 usize int double num String uint uint256 address void ", consts: " true false null undefined ",
		defining: " def class object trait fn function contract ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, special: annotation,
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " javascript js jsx mjs cjs node typescript ts tsx mts cts ", keywords: scriptWords, dots: true, capital: true,
		types:  " any bigint boolean never number object string symbol unknown ",
		consts: " true false null undefined NaN Infinity ", letters: "$", inner: "$", defining: " function class interface type enum namespace ",
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, special: script,
		quotes: []quote{{open: `"`, end: `"`}, {open: "'", end: "'"}, {open: "`", end: "`", multi: true, code: "${"}},
	},
	{
		names: " python py py3 python3 pyi pyw starlark bzl ipython ", dots: true, capital: true,
		keywords: " and as assert async await break case class continue def del elif else except finally for from global if " +
			"import in is lambda match nonlocal not or pass raise return try while with yield ",
		types: " bool bytes dict float frozenset int list object set str tuple ", consts: " True False None self cls ",
		defining: " def class ", comments: []string{"#"}, special: python,
		quotes: []quote{
			{open: `"""`, end: `"""`, multi: true}, {open: "'''", end: "'''", multi: true}, {open: `"`, end: `"`}, {open: "'", end: "'"},
		},
	},
	{
		names: " ruby rb rake gemfile rakefile gemspec crystal cr ", capital: true, dots: true,
		keywords: " alias and begin break case class def defined do else elsif end ensure extend for if in include loop module " +
			"next not or private protected public raise redo require require_relative rescue retry return self super then " +
			"undef unless until when while yield attr_accessor attr_reader ",
		consts: " true false nil ", defining: " def class module ", inner: "?!", comments: []string{"#"},
		block: [2]string{"=begin", "=end"}, special: ruby,
		quotes: []quote{{open: `"`, end: `"`, multi: true}, {open: "'", end: "'", multi: true}, {open: "`", end: "`"}},
	},
	{
		names: " php php3 php8 phtml ", capital: true,
		keywords: javaWords + "and array as callable declare echo elseif empty endfor endforeach endif endwhile exit fn foreach " +
			"function global include include_once isset list match namespace or print readonly require require_once trait " +
			"unset use xor php ",
		types: " bool float int iterable mixed object string void ", consts: " true false null TRUE FALSE NULL ",
		defining: " function class interface trait namespace ", comments: []string{"//", "#"}, block: [2]string{"/*", "*/"},
		special: sigil, quotes: []quote{{open: `"`, end: `"`, multi: true, vars: true}, {open: "'", end: "'", multi: true}},
	},
	{
		names: " perl pl pm perl5 raku ", comments: []string{"#"}, defining: " sub package ", special: sigil,
		keywords: " and cmp die do each else elsif eq exists for foreach ge given gt if keys last le local lt my ne next no not " +
			"or our package print redo require return say shift sub unless until use wantarray when while x ",
		quotes: []quote{{open: `"`, end: `"`, multi: true, vars: true}, {open: "'", end: "'", multi: true}},
	},
	{
		names: " lua luau ", comments: []string{"--"}, block: [2]string{"--[[", "]]"}, defining: " function ", dots: true,
		keywords: " and break do else elseif end for function goto if in local not or repeat return then until while ",
		consts:   " true false nil self ",
		quotes:   []quote{{open: "[[", end: "]]", multi: true, raw: true}, {open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " elixir ex exs erlang erl ", capital: true, comments: []string{"#", "%%"}, inner: "?!", letters: "@",
		keywords: " after alias and case catch cond def defmacro defmodule defp defstruct do else end fn for if import in not or " +
			"quote raise receive require rescue super try unless unquote use when with ",
		consts: " true false nil ", defining: " def defp defmacro defmodule ",
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " haskell hs elm ocaml ml fsharp f# fs ", capital: true, comments: []string{"--", "//"}, block: [2]string{"{-", "-}"}, nested: true,
		keywords: " and as begin case class data deriving do done else end exception exposing forall fun function if import in " +
			"infix infixl infixr instance let match member module mutable newtype of open port rec sig struct then try type " +
			"val where while with ",
		consts: " True False true false Nothing ", inner: "'", defining: " module data newtype class ",
		quotes: []quote{{open: `"`, end: `"`, multi: true}},
	},
	{
		names: " r rscript julia jl ", comments: []string{"#"}, inner: ".",
		keywords: " abstract baremodule begin break catch const do else elseif end export finally for function global if import " +
			"in let library local macro module mutable next quote repeat require return struct try using while ",
		consts: " TRUE FALSE NULL NA NaN Inf true false nothing missing ", defining: " struct module macro ",
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`, multi: true}, {open: "'", end: "'"}},
	},
	{
		names: " bash sh zsh shell fish ksh dash bashrc zshrc profile env dotenv ", keywords: shellWords, words: true, parens: false,
		comments: []string{"#"}, special: shell, inner: "-./:+~,", letters: "./~",
		quotes: []quote{{open: "$'", end: "'", multi: true}, {open: `"`, end: `"`, multi: true, vars: true}, {open: "'", end: "'", multi: true, raw: true}},
	},
	{
		names: " console shell-session shellsession sh-session terminal ", keywords: shellWords, words: true,
		comments: []string{"#"}, special: shell, inner: "-./:+~,", letters: "./~", line: session,
		quotes: []quote{{open: `"`, end: `"`, vars: true}, {open: "'", end: "'", raw: true}},
	},
	{
		names: " powershell ps1 pwsh psm1 bat cmd batch ", words: true, fold: true, inner: "-./:", special: sigil,
		keywords: " begin break call catch class continue data do echo else elseif end exit filter finally for foreach from " +
			"function goto if in param process rem return set setlocal switch throw trap try until using while ",
		comments: []string{"#", "::"}, block: [2]string{"<#", "#>"},
		quotes: []quote{{open: `@"`, end: `"@`, multi: true, raw: true}, {open: `"`, end: `"`, raw: true, vars: true}, {open: "'", end: "'", raw: true}},
	},
	{
		names: " json jsonc json5 jsonl ndjson geojson ipynb webmanifest ", consts: " true false null ", keys: ':', quotedKeys: true,
		comments: []string{"//"}, block: [2]string{"/*", "*/"}, quotes: []quote{{open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " yaml yml ", consts: " true false null yes no on off ~ ", line: yaml,
		quotes: []quote{{open: `"`, end: `"`, multi: true}, {open: "'", end: "'", multi: true, raw: true, double: true}},
	},
	{
		names: " toml lock ", consts: " true false inf nan ", keys: '=', quotedKeys: false, comments: []string{"#"}, inner: "-.", start: section,
		quotes: []quote{
			{open: `"""`, end: `"""`, multi: true}, {open: "'''", end: "'''", multi: true, raw: true}, {open: `"`, end: `"`}, {open: "'", end: "'", raw: true},
		},
	},
	{
		names:  " ini cfg conf config properties editorconfig gitconfig desktop service ",
		consts: " true false yes no on off ", keys: '=', comments: []string{";", "#"}, inner: "-.", start: section,
		quotes: []quote{{open: `"`, end: `"`}},
	},
	{
		names: " hcl terraform tf tfvars nix nginx ", consts: " true false null ", keys: '=', comments: []string{"#", "//"}, inner: "-",
		block:    [2]string{"/*", "*/"},
		keywords: " resource data variable output module provider terraform locals for in if let with rec inherit import server location ",
		quotes:   []quote{{open: "''", end: "''", multi: true, raw: true}, {open: `"`, end: `"`, vars: true}},
	},
	{
		names: " sql sqlite postgres postgresql psql mysql plsql tsql ", keywords: sqlWords, fold: true, dots: true,
		types: " bigint blob bool boolean bytea char character date datetime decimal double float int integer json jsonb numeric " +
			"real serial smallint text time timestamp timestamptz tinyint uuid varchar varying ",
		consts: " null true false ", comments: []string{"--"}, block: [2]string{"/*", "*/"}, nested: true,
		quotes: []quote{
			{open: "$$", end: "$$", multi: true, raw: true}, {open: "'", end: "'", multi: true, raw: true, double: true},
			{open: `"`, end: `"`, raw: true, double: true, name: true}, {open: "`", end: "`", raw: true, name: true},
		},
	},
	{
		names: " html xml htm xhtml svg vue svelte rss plist xsd xsl xslt csproj astro jsp handlebars hbs ", line: markup,
	},
	{
		names: " css scss sass less ", comments: []string{"//"}, block: [2]string{"/*", "*/"}, keys: ':', inner: "-", letters: "-$", units: true,
		consts: " inherit initial none auto unset ", special: style,
		quotes: []quote{{open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{names: " diff patch udiff ", line: unified},
	{
		names: " dockerfile docker containerfile ", comments: []string{"#"}, inner: "-./:", words: true, special: shell, start: instruction,
		defining: " from run cmd label expose env add copy entrypoint volume user workdir arg onbuild stopsignal healthcheck shell maintainer ",
		keywords: " as ",
		quotes:   []quote{{open: `"`, end: `"`, vars: true}, {open: "'", end: "'", raw: true}},
	},
	{
		names: " makefile make mk gnumakefile justfile just ", comments: []string{"#"}, inner: "-./", line: makefile, parens: true,
		keywords: " ifeq ifneq ifdef ifndef else endif include define endef export override vpath ", special: shell,
		quotes: []quote{{open: `"`, end: `"`, vars: true}, {open: "'", end: "'", raw: true}},
	},
	{
		names: " cmake cmakelists.txt ", fold: true, comments: []string{"#"}, special: shell,
		keywords: " if elseif else endif foreach endforeach while endwhile function endfunction macro endmacro return ",
		quotes:   []quote{{open: `"`, end: `"`, multi: true, vars: true}},
	},
	{
		names: " protobuf proto graphql gql thrift prisma ", capital: true, comments: []string{"//", "#"}, block: [2]string{"/*", "*/"},
		keywords: " enum extend extends fragment import input interface message model mutation oneof option optional package " +
			"public query repeated required reserved returns rpc scalar schema service stream subscription syntax type union ",
		types:  " bool bytes double fixed32 fixed64 float int32 int64 map string uint32 uint64 ",
		consts: " true false null ", defining: " enum message service rpc type input interface model union scalar ",
		quotes: []quote{{open: `"""`, end: `"""`, multi: true}, {open: `"`, end: `"`}, {open: "'", end: "'"}},
	},
	{
		names: " lisp clojure clj cljs edn elisp el emacs-lisp scheme scm racket ", comments: []string{";"}, inner: "-?!*+/<>=.:", letters: "-*:",
		keywords: " and begin case cond def defmacro defn defn- defun defvar define do else fn if lambda let let* letrec loop ns " +
			"or quote recur require set! setq when while ",
		consts: " nil t true false ", defining: " def defn defn- defun defmacro defvar define ",
		quotes: []quote{{open: `"`, end: `"`, multi: true}},
	},
	{
		names: " markdown md mdx ", line: markdown,
	},
	{names: plainNames, line: func(*scan) {}},
}
