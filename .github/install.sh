#!/bin/sh
# Installs weir for the user who runs this, without root:
#
#   curl -fsSL https://github.com/OWNER/weir/releases/latest/download/install.sh | sh
#   curl -fsSL https://github.com/OWNER/weir/releases/latest/download/install.sh | sh -s -- --version 0.1.0 --dir ~/bin
#
# It downloads the archive for this machine and SHA256SUMS, refuses an archive that differs, and writes one file.
# Variables: WEIR_VERSION, WEIR_INSTALL_DIR, and WEIR_DOWNLOAD_URL, a folder with the files of a release.
set -eu

# OWNER/NAME on GitHub. The script of a release has it.
REPOSITORY=""

usage() {
  cat <<'END'
Usage: install.sh [--version VERSION] [--dir DIR]

  --version VERSION  the version to install, such as 0.1.0 (default: the latest release, or WEIR_VERSION)
  --dir DIR          the folder for the executable (default: ~/.local/bin, or WEIR_INSTALL_DIR)
  --help             print this help

WEIR_DOWNLOAD_URL names another folder with the files of one release, such as a mirror.
END
}

say() { printf '%s\n' "$*"; }

fail() {
  printf 'weir was not installed: %s\n' "$*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# The name of the system in the names of archives: linux-x64, linux-arm64-musl, darwin-arm64, ...
detect_system() {
  os=$(uname -s)
  arch=$(uname -m)
  case "$os" in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    MINGW* | MSYS* | CYGWIN*) fail "this script is for Linux and macOS. For Windows, unpack weir-windows-x64.zip of the release." ;;
    *) fail "there is no executable for $os. Build it from source: npx -y bun run build" ;;
  esac
  case "$arch" in
    x86_64 | amd64) arch=x64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) fail "there is no executable for $arch processors. weir runs on x64 and arm64." ;;
  esac
  # A shell that Rosetta translates sees an x64 processor.
  if [ "$os-$arch" = darwin-x64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" = 1 ]; then
    arch=arm64
  fi
  libc=""
  if [ "$os" = linux ]; then
    [ "$(getconf LONG_BIT 2>/dev/null || echo 64)" = 64 ] || fail "this system is of 32 bits; weir needs 64."
    if is_musl; then libc=-musl; fi
  fi
  say "$os-$arch$libc"
}

# Also a system with glibc may have musl installed beside it.
is_musl() {
  if getconf GNU_LIBC_VERSION >/dev/null 2>&1; then return 1; fi
  if has ldd && ldd --version 2>&1 | grep -qi musl; then return 0; fi
  for loader in /lib/ld-musl-*; do [ -e "$loader" ] && return 0; done
  return 1
}

# download URL FILE
download() {
  if has curl; then
    case "$1" in
      https:*) curl -fsSL --proto =https --tlsv1.2 --retry 3 -o "$2" "$1" ;;
      *) curl -fsSL --retry 3 -o "$2" "$1" ;;
    esac
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "neither curl nor wget is installed."
  fi || fail "could not download $1. Check the version and the connection."
}

sha256_of() {
  if has sha256sum; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif has shasum; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  elif has openssl; then
    openssl dgst -sha256 -r "$1" | cut -d ' ' -f 1
  else
    fail "sha256sum, shasum and openssl are absent, so the archive cannot be checked. Install one of them."
  fi
}

# verify FOLDER NAME: refuses a file whose SHA-256 is not the one in FOLDER/SHA256SUMS.
verify() {
  expected=$(sed -n "s/^\([0-9a-f]\{64\}\)  $2\$/\1/p" "$1/SHA256SUMS")
  [ -n "$expected" ] || fail "SHA256SUMS of the release has no line for $2."
  actual=$(sha256_of "$1/$2")
  [ "$actual" = "$expected" ] ||
    fail "$2 has the SHA-256 $actual instead of $expected. The download was damaged or changed; try again."
}

# url_of VERSION: the folder with the files of a release.
url_of() {
  if [ -n "${WEIR_DOWNLOAD_URL:-}" ]; then
    say "${WEIR_DOWNLOAD_URL%/}"
  elif [ -z "$REPOSITORY" ]; then
    fail "this copy of the script knows no repository. Use install.sh of a release, or set WEIR_DOWNLOAD_URL."
  elif [ -n "$1" ]; then
    say "https://github.com/$REPOSITORY/releases/download/v$1"
  else
    say "https://github.com/$REPOSITORY/releases/latest/download"
  fi
}

# The executable has to start here before it replaces the one that is installed.
# check_program FILE VERSION SYSTEM
check_program() {
  if ! printed=$("$1" --version 2>&1); then
    case "$3" in
      *-musl) fail "the executable does not start: $printed. It needs libstdc++ (apk add libstdc++)." ;;
      *) fail "the executable does not start: $printed" ;;
    esac
  fi
  if [ -n "$2" ] && [ "$printed" != "$2" ]; then fail "the download is version $printed, not $2."; fi
}

main() {
  version=${WEIR_VERSION:-}
  dir=${WEIR_INSTALL_DIR:-}
  while [ $# -gt 0 ]; do
    case "$1" in
      --version | --dir)
        [ $# -ge 2 ] || fail "$1 needs a value."
        if [ "$1" = --dir ]; then dir=$2; else version=$2; fi
        shift 2
        ;;
      --version=*) version=${1#*=} && shift ;;
      --dir=*) dir=${1#*=} && shift ;;
      -h | --help) usage && exit 0 ;;
      *) usage >&2 && fail "unknown argument $1." ;;
    esac
  done
  version=${version#v}
  if [ -z "$dir" ]; then
    [ -n "${HOME:-}" ] || fail "HOME is not set. Name a folder with --dir."
    dir=$HOME/.local/bin
  fi
  case "$dir" in /*) ;; *) dir=$PWD/$dir ;; esac

  system=$(detect_system)
  archive=weir-$system.tar.gz
  url=$(url_of "$version")
  mkdir -p "$dir" 2>/dev/null || fail "cannot create $dir. Name another folder with --dir."
  [ ! -d "$dir/weir" ] || fail "$dir/weir is a folder."
  # In the same folder, so that the last step is a rename.
  stage=$(mktemp -d "$dir/.weir-install.XXXXXX" 2>/dev/null) || fail "cannot write to $dir. Name another folder with --dir."
  trap 'rm -rf "$stage"' EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP

  say "Downloading $url/$archive"
  download "$url/SHA256SUMS" "$stage/SHA256SUMS"
  download "$url/$archive" "$stage/$archive"
  verify "$stage" "$archive"
  gzip -dc "$stage/$archive" | (cd "$stage" && tar -xf - "weir-$system/weir") || fail "could not unpack $archive."
  check_program "$stage/weir-$system/weir" "$version" "$system"
  mv -f "$stage/weir-$system/weir" "$dir/weir" || fail "could not write $dir/weir."

  say "Installed weir $printed as $dir/weir. To remove it: rm $dir/weir"
  case ":${PATH:-}:" in
    *":$dir:"*) say "Start it: weir" ;;
    *) say "$dir is not in PATH. Add it: export PATH=\"$dir:\$PATH\"" ;;
  esac
}

# The last line, so that a part of this script does nothing.
main "$@"
