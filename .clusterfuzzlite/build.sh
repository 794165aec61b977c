#!/bin/bash -eu
# Builds every fuzz target, with the corpus that comes with it.

cd "$SRC/pagefence"
cargo fuzz build -O
for target in script schedule profile audit config; do
    cp "fuzz/target/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
    zip -q -j "$OUT/${target}_seed_corpus.zip" "corpus/$target"/*
done
