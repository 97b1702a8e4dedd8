{{/* Names. Of a long one the end is replaced by a checksum, so that two long ones stay two. The longest
     suffix of a name of a Service is 10 characters ("-estimator"), and Services have 63. */}}
{{- define "evenkeel.short" -}}
{{- $name := regexReplaceAll "[^a-z0-9-]" (lower .) "-" | trimSuffix "-" -}}
{{- if gt (len $name) 50 -}}
{{- printf "%s-%s" (trunc 41 $name | trimSuffix "-") (sha256sum . | trunc 8) -}}
{{- else -}}
{{- $name -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.name" -}}
{{- include "evenkeel.short" (default .Chart.Name .Values.nameOverride) -}}
{{- end }}

{{/* A Service's name must begin with a letter, a release's need not. */}}
{{- define "evenkeel.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := .Values.fullnameOverride -}}
{{- if not $full -}}
{{- $full = ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- end -}}
{{- if not (regexMatch "^[a-z]" $full) -}}
{{- $full = printf "%s-%s" .Chart.Name $full -}}
{{- end -}}
{{- include "evenkeel.short" $full -}}
{{- end }}

{{/* Of what has no namespace: releases of one name in two namespaces must not share it. A namespace has no
     dot, so no two pairs give one name. */}}
{{- define "evenkeel.clusterName" -}}
{{- printf "%s.%s" (include "evenkeel.fullname" .) .Release.Namespace -}}
{{- end }}

{{- define "evenkeel.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/name: {{ include "evenkeel.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: evenkeel
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* (dict "root" $ "door" name) */}}
{{- define "evenkeel.doorLabels" -}}
{{ include "evenkeel.labels" .root }}
app.kubernetes.io/component: {{ .door }}
{{- end }}

{{- define "evenkeel.selector" -}}
app.kubernetes.io/name: {{ include "evenkeel.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .door }}
{{- end }}

{{- define "evenkeel.doorName" -}}
{{- printf "%s-%s" (include "evenkeel.fullname" .root) .door -}}
{{- end }}

{{- define "evenkeel.doorClusterName" -}}
{{- printf "%s.%s" (include "evenkeel.doorName" .) .root.Release.Namespace -}}
{{- end }}

{{/* The name of a door's service account: its own, the one of all doors, or the door's name. */}}
{{- define "evenkeel.serviceAccount" -}}
{{- $account := .root.Values.serviceAccount -}}
{{- coalesce (get (default dict $account.names) .door) $account.name (include "evenkeel.doorName" .) -}}
{{- end }}

{{- define "evenkeel.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{- printf "%s@%s" $image.repository $image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image.repository (default .Chart.AppVersion $image.tag) -}}
{{- end -}}
{{- end }}

{{- define "evenkeel.webhookSecret" -}}
{{- default (printf "%s-webhook-tls" (include "evenkeel.fullname" .)) .Values.webhook.certificates.secretName -}}
{{- end }}

{{- define "evenkeel.placementsSecret" -}}
{{- default (printf "%s-ocm-tls" (include "evenkeel.fullname" .)) .Values.placements.certificates.secretName -}}
{{- end }}

{{/* Of the webhook configuration about Placements; another release's have one dot. */}}
{{- define "evenkeel.placementsName" -}}
{{- printf "%s.placements" (include "evenkeel.clusterName" .) -}}
{{- end }}

{{/* The names of the Secrets that the extender's certificates are kept in, as YAML. */}}
{{- define "evenkeel.extenderSecrets" -}}
{{- $c := .Values.extender.certificates -}}
server: {{ default (printf "%s-extender-tls" (include "evenkeel.fullname" .)) $c.secretName }}
client: {{ default (printf "%s-extender-client" (include "evenkeel.fullname" .)) $c.clientSecretName }}
{{- end }}

{{/* The mode of files with secrets in a pod's volumes. The process reads them by the group fsGroup. Where the values
     set none, and an admission plugin need not set one either, they belong to root and every user of the pod may
     read them; the pod has no other users. */}}
{{- define "evenkeel.fileMode" -}}
{{- ternary "0440" "0444" (hasKey (default dict .Values.podSecurityContext) "fsGroup") -}}
{{- end }}

{{/* The doors that `helm test` has a pod for, in a text; none: empty. A door that asks other clusters only has no
     test: its account may do nothing here. */}}
{{- define "evenkeel.tested" -}}
{{- range $door, $facts := include "evenkeel.doors" . | fromYaml -}}
{{- if has "own" (default (list "own") $facts.servers) }}{{ $door }} {{ end -}}
{{- end -}}
{{- end }}

{{/* An amount of memory in whole MiB; nothing for a text that it does not understand, which is left to the API
     server. */}}
{{- define "evenkeel.mebibytes" -}}
{{- $text := kindIs "string" . | ternary . (printf "%.0f" (float64 .)) -}}
{{- $units := dict "" 1 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- if regexMatch "^[0-9]+([.][0-9]+)?([kMGT]|[KMGT]i)?$" $text -}}
{{- $unit := regexFind "[A-Za-z]*$" $text -}}
{{- int64 (divf (mulf (trimSuffix $unit $text | float64) (get $units $unit)) 1048576) -}}
{{- end -}}
{{- end }}

{{/* A duration as Evenkeel reads it ("1m30s", "500ms"), in whole seconds, rounded up. */}}
{{- define "evenkeel.seconds" -}}
{{- $units := dict "ns" 1e-9 "us" 1e-6 "µs" 1e-6 "μs" 1e-6 "ms" 1e-3 "s" 1 "m" 60 "h" 3600 -}}
{{- $sum := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ns|us|µs|μs|ms|s|m|h)" (toString .) -1 -}}
{{- $unit := regexFind "[^0-9.]+$" . -}}
{{- $sum = addf $sum (mulf (trimSuffix $unit .) (get $units $unit)) -}}
{{- end -}}
{{- ceil $sum | int64 -}}
{{- end -}}
