# Shared by the two commands of the README: what is printed, and what is installed.

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
fail() {
    printf 'failed: %s\n' "$*" >&2
    exit 1
}

# Installs the C libraries that are missing, and the programs named, as root or with sudo.
install_missing() {
    command -v swift >/dev/null || fail "There is no swift on the PATH. Install the Swift 6.3 toolchain from swift.org."
    local wanted=()
    [ -e /usr/include/sqlite3.h ] || wanted+=(libsqlite3-dev)
    [ -e /usr/include/zstd.h ] || wanted+=(libzstd-dev)
    [ -e /usr/include/histedit.h ] || wanted+=(libedit-dev)
    local program
    for program in "$@"; do command -v "$program" >/dev/null || wanted+=("$program"); done
    [ ${#wanted[@]} -eq 0 ] && return
    local run=()
    [ "$(id -u)" -eq 0 ] || run=(sudo)
    command -v apt-get >/dev/null || fail "Install ${wanted[*]} with this system's package manager."
    say "Installing ${wanted[*]}"
    "${run[@]}" apt-get update -qq
    "${run[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${wanted[@]}"
}
