#!/bin/sh
# usage: scripts/schema-docs.sh [--check] [SCHEMA.sql [DOC.md]]
# Writes docs/schema.md from the comments of store/schema.sql; --check only says whether it is up to date.
# A table without a comment above it, or a column without one behind it, is an error.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
check=no
if [ "${1:-}" = --check ]; then
  check=yes
  shift
fi
schema=${1:-$root/store/schema.sql}
doc=${2:-$root/docs/schema.md}

generate() {
  awk '
    function fail(what) {
      printf "%s:%d: %s\n", FILENAME, FNR, what > "/dev/stderr"
      failed = 1
    }
    function escaped(text) {
      gsub(/[|]/, "\\|", text)
      gsub(/[*]/, "\\*", text)
      gsub(/</, "\\&lt;", text)
      return text
    }
    function comment_of(line) {
      return match(line, /--.*$/) ? substr(line, RSTART + 3) : ""
    }
    function open_table(line) {
      name = line
      sub(/^CREATE TABLE (IF NOT EXISTS )?/, "", name)
      sub(/ *\(.*$/, "", name)
      if (block == "") fail("table " name " has no comment above it")
      names[++tables] = name
      body[tables] = escaped(block) "\n\n| column | type | null | meaning |\n|---|---|---|---|\n"
      keys = ""
      rows = 0
    }
    function close_table() {
      if (rows == 0) fail("table " names[tables] " has no column")
      if (keys != "") body[tables] = body[tables] "\nKeys: " keys "\n"
      name = ""
    }
    function add_key(line) {
      sub(/^ */, "", line)
      sub(/ *(--.*)?$/, "", line)
      sub(/,$/, "", line)
      keys = keys (keys == "" ? "" : "; ") "`" line "`"
    }
    function add_column(line,    definition, comment, words, null) {
      comment = comment_of(line)
      definition = line
      sub(/ *--.*$/, "", definition)
      split(definition, words, /[ ,]+/)
      # words[1] is empty: columns are indented.
      if (comment == "") fail("column " name "." words[2] " has no comment behind it")
      null = definition ~ /NOT NULL|PRIMARY KEY/ ? "no" : "yes"
      body[tables] = body[tables] sprintf("| `%s` | %s | %s | %s |\n", words[2], words[3], null, escaped(comment))
      rows++
    }
    /^--/ && name == "" {
      block = block (block == "" ? "" : " ") substr($0, 4)
      if ($0 == "--") block = block "\n\n"
      next
    }
    /^CREATE TABLE / { open_table($0); block = ""; next }
    /^\)/ && name != "" { close_table(); next }
    # Rows that every file has; the comment above their table says what they are.
    /^INSERT / && name == "" { in_rows = 1 }
    in_rows {
      if ($0 ~ /;$/) in_rows = 0
      next
    }
    name == "" {
      # The comment that no table follows, at the top of the file, is the introduction.
      if ($0 ~ /^ *$/ && tables == 0 && intro == "") intro = block
      block = ""
      next
    }
    /^ +(PRIMARY KEY|UNIQUE|FOREIGN KEY|CHECK|CONSTRAINT)/ { add_key($0); next }
    /^ +[A-Za-z]/ { add_column($0); next }
    /[^ ]/ { fail("cannot be read: " $0) }
    END {
      if (tables == 0) fail("no table found")
      if (name != "") fail("table " name " is not closed")
      if (failed) exit 1
      gsub(/ \n\n /, "\n\n", intro)
      printf "# The trace file: tables and columns\n\n"
      printf "Generated from `store/schema.sql` by `scripts/schema-docs.sh`; change the comments there and run it again.\n\n"
      if (intro != "") printf "%s\n\n", escaped(intro)
      for (i = 1; i <= tables; i++) printf "- [%s](#%s)\n", names[i], tolower(names[i])
      for (i = 1; i <= tables; i++) printf "\n## %s\n\n%s", names[i], body[i]
    }' "$schema"
}

new=$(mktemp)
trap 'rm -f "$new"' EXIT
generate >"$new"
if [ $check = no ]; then
  mkdir -p "$(dirname "$doc")"
  cp "$new" "$doc"
  echo "swinscope: wrote $doc"
elif ! cmp -s "$new" "$doc"; then
  diff -u "$doc" "$new" | head -n 20 >&2 || true
  echo "error: $doc is not what $schema says" >&2
  echo "  hint: run scripts/schema-docs.sh and commit the result" >&2
  exit 1
else
  echo "$doc is up to date"
fi
