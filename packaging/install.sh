#!/bin/sh
# Installs plimsoll: sh install.sh [--prefix DIR] [--from DIR|URL]
#   --prefix  default /usr/local as root, ~/.local otherwise
#   --from    where the archive of the release is; default: the directory of this script
# The archive is installed only if its SHA-256 is the one below.
set -eu
archive=@ARCHIVE@
sha256=@SHA256@

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

fetch() {
    if command -v curl >/dev/null; then
        curl --fail --silent --show-error --location --output "$2" "$1"
    elif command -v wget >/dev/null; then
        wget --quiet --output-document="$2" "$1"
    else
        fail "neither curl nor wget is installed: install one, or download $1 and give its directory with --from"
    fi
}

main() {
    if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
    from=$(dirname "$0")
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || fail "$1 has no value: see the head of this script"
        case $1 in
        --prefix) prefix=$2 ;;
        --from) from=${2%/} ;;
        *) fail "unknown option $1: see the head of this script" ;;
        esac
        shift 2
    done
    [ "$(uname -sm)" = 'Linux x86_64' ] || fail "the archive is for Linux on x86_64: build from the sources here"
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    case $from in
    *://*) fetch "$from/$archive" "$folder/$archive" ;;
    *) cp "$from/$archive" "$folder/$archive" || fail "no archive in $from: give its place with --from" ;;
    esac
    echo "$sha256  $folder/$archive" | sha256sum --check --quiet ||
        fail "$archive is damaged or of another release: nothing was installed; download it again"
    mkdir -p "$prefix"
    tar -xzf "$folder/$archive" -C "$prefix" --strip-components=1 --no-same-owner --no-same-permissions \
        --exclude=SHA256SUMS --exclude=lib
    echo "plimsoll is installed as $prefix/bin/plimsoll"
    case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "Add $prefix/bin to PATH" ;;
    esac
}

# Called last, so that a script that was cut off does nothing.
main "$@"
