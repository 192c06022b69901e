#!/bin/sh
# Makes the plain manifests in the folder kubernetes from the chart. It needs helm 4, or 3: HELM names it.
#
#   .github/deploy/render.sh [FOLDER]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/kubernetes}
helm=${HELM:-helm}

# write FILE TEMPLATE [FLAG...]: labels that only helm needs are left out.
write() {
  file=$1
  template=$2
  shift 2
  "$helm" template weir "$here/chart" --set secret.existing=weir --show-only "templates/$template.yaml" "$@" \
    | sed -e '/^---$/d' -e '/^# Source: /d' -e '/helm\.sh\/chart:/d' -e '/managed-by: Helm$/d' \
    | awk '/./ { while (blank > 0 && begun) { print ""; blank-- } blank = 0; begun = 1; print; next } { blank++ }' \
      > "$folder/$file"
}

mkdir -p "$folder/monitoring" "$folder/people"
for name in configmap serviceaccount deployment service service-admin pdb networkpolicy; do
  write "$name.yaml" "$name"
done
# What needs the operator of Prometheus, and an adapter for the metrics of pods.
write monitoring/servicemonitor.yaml servicemonitor --set serviceMonitor.enabled=true
write monitoring/hpa.yaml hpa --set autoscaling.enabled=true
# A name from outside, at which people sign in.
write people/ingress.yaml ingress --set ingress.enabled=true --set ingress.people=true --set ingress.host=weir.example.com
