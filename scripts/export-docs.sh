#!/usr/bin/env bash
# usage: scripts/export-docs.sh [BUILD_FOLDER]
# Writes docs/export-tables.md from the tables that are declared in analyzer/export/, by the test that holds the page
# against them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build=${1:-build/dev}
ninja -C "$build" analyzer_export_tables_test
SWINSCOPE_WRITE_DOCS=1 "$build"/tests/unit/analyzer/analyzer_export_tables_test --gtest_filter='*ThePageIsUpToDate'
