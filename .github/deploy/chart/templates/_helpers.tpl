{{- define "weir.name" -}}
{{- if contains "weir" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-weir" .Release.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "weir.secret" -}}
{{ .Values.secret.existing | default (include "weir.name" .) }}
{{- end }}

{{- define "weir.account" -}}
{{ .Values.serviceAccount.name | default (include "weir.name" .) }}
{{- end }}

{{- define "weir.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "weir.scheme" -}}
{{ if .Values.config.tls }}HTTPS{{ else }}HTTP{{ end }}
{{- end }}

{{/* The whole stop: the delay, the grace period, and what weir needs after it. */}}
{{- define "weir.seconds" -}}
{{- if .Values.terminationGracePeriodSeconds }}{{ .Values.terminationGracePeriodSeconds }}
{{- else }}
{{- $stop := .Values.config.stop | default dict }}
{{- $delay := 5000 }}
{{- if hasKey $stop "delayMs" }}{{ $delay = $stop.delayMs | int }}{{ end }}
{{- $grace := sub 21000 $delay | max 1 }}
{{- if .Values.config.graceMs }}{{ $grace = .Values.config.graceMs | int }}{{ end }}
{{- add (div (add $delay $grace 999) 1000) 9 | max 30 }}
{{- end }}
{{- end }}

{{/* weir.yaml: what the chart sets, over what the operator says. */}}
{{- define "weir.config" -}}
{{- $config := deepCopy .Values.config }}
{{- $admin := $config.admin | default dict }}
{{- $own := list
  (dict "name" "admin" "key" "${file:../secrets/admin-key}" "role" "admin")
  (dict "name" "metrics" "key" "${file:../secrets/metrics-key}" "role" "read") }}
{{- $_ := set $admin "host" "0.0.0.0" }}
{{- $_ := set $admin "port" 9348 }}
{{- if and .Values.ingress.enabled .Values.ingress.people }}
{{- $_ := set $admin "names" (append ($admin.names | default list) .Values.ingress.host | uniq) }}
{{- end }}
{{- $_ := set $admin "keys" (concat $own ($admin.keys | default list)) }}
{{- $_ := set $config "admin" $admin }}
{{- $_ := set $config "host" "0.0.0.0" }}
{{- $_ := set $config "port" 9347 }}
{{- if .Values.database.enabled }}
{{- $store := $config.store | default dict }}
{{- $_ := set $store "url" "${file:../secrets/store-url}" }}
{{- $_ := set $config "store" $store }}
{{- $_ := set $config "cluster" true }}
{{- end }}
{{- toYaml $config }}
{{- end }}

{{/* What a schema cannot say. */}}
{{- define "weir.check" -}}
{{- if and (not .Values.database.enabled) (or .Values.autoscaling.enabled (gt (int .Values.replicas) 1)) }}
{{- fail "without a database each pod would have budgets of its own: set replicas to 1 and autoscaling.enabled to false, or database.enabled to true" }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) }}
{{- fail "ingress.host is the name by which clients call the gateway; set it" }}
{{- end }}
{{- if not .Values.secret.existing }}
{{- range $name := concat (list "admin-key" "metrics-key") (ternary (list "store-url") list .Values.database.enabled) }}
{{- if not (index $.Values.secret.data $name) }}
{{- fail (printf "secret.data has no %s; set it, or secret.existing to the name of a secret that has it" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
