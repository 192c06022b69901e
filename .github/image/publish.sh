#!/bin/sh
# Builds the image of a release for both architectures, tries the one of this machine, and pushes both to the registry of
# GitHub as VERSION, and as latest unless it is a version to try, such as 1.2.0-rc.1. Writes name and digest for the next
# steps of the job.
set -eu

name=ghcr.io/$(printf %s "$GITHUB_REPOSITORY" | tr '[:upper:]' '[:lower:]')
version=${GITHUB_REF_NAME#v}

# The builder of a fresh Docker cannot build for several architectures.
docker buildx create --use
build() {
  docker buildx build --file .github/image/Dockerfile --provenance=false \
    --label "org.opencontainers.image.source=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY" \
    --label "org.opencontainers.image.version=$version" "$@" dist/release
}

build --load --tag "$name:try"
container=$(docker run --detach --read-only --tmpfs /tmp --publish 127.0.0.1:9347:9347 \
  --env WEIR_API_KEYS=try:a-key-that-is-long-enough "$name:try")
for _ in $(seq 60); do
  state=$(docker inspect --format '{{.State.Health.Status}}' "$container")
  if [ "$state" = healthy ]; then break; fi
  sleep 1
done
docker logs "$container"
[ "$state" = healthy ]
docker rm --force "$container"

printf %s "$REGISTRY_TOKEN" | docker login --username "$GITHUB_ACTOR" --password-stdin ghcr.io
set -- --tag "$name:$version"
case "$version" in *-*) ;; *) set -- "$@" --tag "$name:latest" ;; esac
build --platform linux/amd64,linux/arm64 --push --metadata-file metadata.json "$@"
digest=$(sed -n 's/.*"containerimage.digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' metadata.json)
[ -n "$digest" ]
printf 'name=%s\ndigest=%s\n' "$name" "$digest" >> "$GITHUB_OUTPUT"
