{{/* THE table of alerts: each row is one, of the doors that are on. `of` is a selector of the release's replicas.
     docs/guides/alerts.md has a section for each, and tests/packaging/test_alerts.sh makes each fire. No label of
     an alert is what a tenant writes: a topology key is one of eight. */}}
{{- define "evenkeel.alerts" -}}
{{- $doors := include "evenkeel.doors" . | fromYaml -}}
{{- $jobs := list -}}
{{- range $door, $facts := $doors -}}
{{- $jobs = append $jobs (include "evenkeel.doorName" (dict "root" $ "door" $door)) -}}
{{- end -}}
{{- $of := printf "namespace=%q,job=~%q" .Release.Namespace (join "|" $jobs) -}}
{{- range $door, $facts := $doors }}
{{- $job := include "evenkeel.doorName" (dict "root" $ "door" $door) }}
- alert: EvenkeelReplicaSilent
  expr: (count(evenkeel_build_info{namespace={{ $.Release.Namespace | quote }},job={{ $job | quote }}}) or vector(0)) < {{ $facts.replicas }}
  for: 5m
  labels: {severity: warning, job: {{ $job }}}
  summary: Fewer replicas of {{ $job }} answer Prometheus than there should be
  description: {{ printf "{{ $value }} of %v replicas of %s are heard." $facts.replicas $job | quote }}
{{- end }}
{{- if .Values.webhook.enabled }}
- alert: EvenkeelWebhookSlow
  expr: histogram_quantile(0.99, sum by (le, job) (rate(evenkeel_http_request_duration_seconds_bucket{ {{- $of }},listener="webhook"}[5m]))) > {{ minf (divf .Values.webhook.timeoutSeconds 2) 9 }}
  for: 5m
  labels: {severity: warning}
  summary: One review in a hundred takes half of the webhook's timeout or more
  description: "p99 is {{ "{{ $value }}" }} s. After {{ .Values.webhook.timeoutSeconds }} s API servers go on without an answer, or refuse the pod with failurePolicy Fail. evenkeel_http_slow_requests_total and the log name the cause."
- alert: EvenkeelWebhookFailOpen
  expr: sum by (name) (rate(apiserver_admission_webhook_fail_open_count{name=~"(validate[.])?pods[.]evenkeel[.]io"}[5m])) > 0
  for: 5m
  labels: {severity: critical}
  summary: API servers create pods without Evenkeel's answer
  description: "{{ "{{ $value }}" }} pods a second are created without an answer to {{ "{{ $labels.name }}" }}: without the constraints of their policies, or unbound by them."
- alert: EvenkeelPatchesRefused
  expr: sum by (name) (rate(apiserver_admission_webhook_rejection_count{name=~"(validate[.])?pods[.]evenkeel[.]io",error_type=~"apiserver_internal_error|calling_webhook_error"}[5m])) > 0
  for: 5m
  labels: {severity: critical}
  summary: API servers refuse pods because of Evenkeel's answers, or for want of them
  description: "{{ "{{ $value }}" }} pods a second cannot be created."
{{- end }}
{{- if or .Values.webhook.enabled .Values.placements.enabled }}
- alert: EvenkeelReviewsFailed
  expr: sum by (job, verb) (rate(evenkeel_admission_requests_total{ {{- $of }},result=~"failed|refused"}[5m])) > 0
  for: 10m
  labels: {severity: warning}
  summary: Pods or Placements are admitted as they came, because their reviews failed
  description: "{{ "{{ $value }}" }} reviews a second fail."
{{- end }}
{{- /* An average, because a configuration that somebody overwrites again and again is right for a moment after each
       repair, and wrong for a moment when a certificate is replaced. */}}
{{- $w := .Values.webhook }}
{{- $p := .Values.placements }}
{{- if or (and $w.enabled $w.certificates.keepBundle) (and $p.enabled $p.certificates.keepBundle) }}
- alert: EvenkeelWebhookConfigurationWrong
  expr: min by (job, configuration) (avg_over_time(evenkeel_webhook_configuration_right{ {{- $of }}}[5m])) < 0.5
  for: 5m
  labels: {severity: critical}
  summary: A webhook configuration is missing, or does not trust Evenkeel's certificate
  description: "API servers cannot use {{ "{{ $labels.configuration }}" }}: they go on without an answer, or refuse the object with failurePolicy Fail."
{{- end }}
{{- if or .Values.extender.enabled .Values.scheduler.enabled }}
- alert: EvenkeelExtenderErrors
  expr: sum by (job) (rate(evenkeel_extender_errors_total{ {{- $of }}}[5m])) / sum by (job) (rate(evenkeel_http_requests_total{ {{- $of }},listener="extender"}[5m])) > 0.01
  for: 5m
  labels: {severity: warning}
  summary: More than one in a hundred answers to kube-scheduler is an error
  description: "The share of errors is {{ "{{ $value | humanizePercentage }}" }}."
- alert: EvenkeelNoOpinion
  expr: sum by (job, reason) (rate(evenkeel_extender_no_opinion_total{ {{- $of }}}[5m])) > 0
  for: 5m
  labels: {severity: warning}
  summary: kube-scheduler gets no opinion, so pods are placed without Evenkeel
  description: "{{ "{{ $value }}" }} answers a second say nothing, because of {{ "{{ $labels.reason }}" }}."
{{- end }}
{{- /* A scheduler calls for each pod that it places, so more bound pods without a call were placed without Evenkeel.
       The number also grows while a replica lists the cluster; such a replica does not count. The door scheduler is left
       out: most pods are another scheduler's. */}}
{{- if .Values.extender.enabled }}
{{- $extender := printf "namespace=%q,job=%q" .Release.Namespace (include "evenkeel.doorName" (dict "root" $ "door" "extender")) }}
- alert: EvenkeelExtenderNotCalled
  expr: min by (job) (delta(evenkeel_cache_pods{ {{- $extender }}}[30m]) and min_over_time(evenkeel_cache_ready{ {{- $extender }}}[30m]) == 1) > 10 unless on (job) sum by (job) (increase(evenkeel_http_requests_total{ {{- $extender }},listener="extender",verb=~"filter|prioritize|complement"}[30m])) > 0
  for: 10m
  labels: {severity: warning}
  summary: Pods are placed, and kube-scheduler does not call the extender
  description: "{{ "{{ $value | humanize }}" }} more pods are bound than half an hour ago, and no call has arrived."
{{- end }}
{{- if .Values.placements.enabled }}
- alert: EvenkeelPlacementsUnreviewed
  expr: sum by (name) (rate(apiserver_admission_webhook_fail_open_count{name="placements.evenkeel.io"}[5m])) > 0
  for: 5m
  labels: {severity: warning}
  summary: The hub's API server stores Placements without Evenkeel's answer
  description: "{{ "{{ $value }}" }} Placements a second are stored as they came: OCM decides new ones first, and a negative numberOfClusters is not refused."
{{- end }}
{{- if .Values.ocm.enabled }}
- alert: EvenkeelPlacementsSkewed
  expr: max by (job) (evenkeel_placement_skewed{ {{- $of }}}) > 0
  for: 15m
  labels: {severity: warning}
  summary: Placements stay uneven, or short of clusters
  description: "{{ "{{ $value }}" }} Placements do not satisfy their spread terms."
- alert: EvenkeelPlacementsNotPlanned
  expr: sum by (job) (rate(evenkeel_placement_plans_total{ {{- $of }},result="failed"}[5m])) > 0
  for: 10m
  labels: {severity: warning}
  summary: Placements cannot be planned, for want of memory or because they take too much work
  description: "{{ "{{ $value }}" }} plans a second fail; decisions stay as they are."
- alert: EvenkeelDecisionsNotWritten
  expr: sum by (job, what) (rate(evenkeel_writes_total{ {{- $of }},what=~"placements|placementdecisions|addonplacementscores",result=~"error|dropped"}[5m])) > 0
  for: 10m
  labels: {severity: critical}
  summary: What is decided of Placements is not written
  description: "{{ "{{ $value }}" }} writes of {{ "{{ $labels.what }}" }} a second fail."
{{- end }}
{{- if .Values.estimator.enabled }}
- alert: EvenkeelMembersNotSynced
  expr: max by (job, state) (evenkeel_estimator_members{ {{- $of }},state!="synced"}) > 0
  for: 15m
  labels: {severity: warning}
  summary: Member clusters are not estimated
  description: "{{ "{{ $value }}" }} member clusters are {{ "{{ $labels.state }}" }}: karmada-scheduler learns nothing of them."
{{- end }}
- alert: EvenkeelConnectionsTurnedAway
  expr: sum by (job, listener) (rate(evenkeel_http_connections_refused_total{ {{- $of }}}[5m])) + sum by (job, listener) (rate(evenkeel_http_connections_evicted_total{ {{- $of }}}[5m])) > 0
  for: 10m
  labels: {severity: warning}
  summary: A listener has too many connections, and refuses or closes some
  description: "{{ "{{ $value }}" }} connections a second of the {{ "{{ $labels.listener }}" }} are refused, or closed to make room for others."
- alert: EvenkeelDataTooOld
  expr: ((max by (job, resource) (evenkeel_watch_age_seconds{ {{- $of }}}) > 180) or (min by (job, resource) (evenkeel_watch_age_seconds{ {{- $of }}}) < 0)) unless on (job, resource) (max by (job, resource) (evenkeel_watch_absent{ {{- $of }}}) == 1)
  for: 1m
  labels: {severity: critical}
  summary: A replica has not heard of a kind of objects for more than 3 minutes
  description: "{{ "{{ $labels.resource }}" }} were heard of {{ "{{ $value }}" }} s ago (-1: never)."
- alert: EvenkeelNoLeader
  expr: max by (job, name) (evenkeel_leader{ {{- $of }}}) < 1
  for: 2m
  labels: {severity: warning}
  summary: No replica leads by a Lease of Evenkeel
  description: "Nobody holds the Lease {{ "{{ $labels.name }}" }}: what only a leader does is not done."
- alert: EvenkeelCertificateExpires
  expr: min by (job, listener) (evenkeel_certificate_expiration_timestamp_seconds{ {{- $of }}} > 0) - time() < 14 * 86400
  for: 10m
  labels: {severity: warning}
  summary: A serving certificate expires in less than 14 days
  description: "That of the {{ "{{ $labels.listener }}" }} expires in {{ "{{ $value | humanizeDuration }}" }}."
- alert: EvenkeelPolicyNotEffective
  expr: max by (reason) (evenkeel_policies_ineffective{ {{- $of }}}) > 0
  for: 15m
  labels: {severity: warning}
  summary: A TopologyPolicy cannot do what it asks for
  description: "{{ "{{ $value }}" }} policies have the condition Effective False, with the reason {{ "{{ $labels.reason }}" }}: pods that need them may be Pending, or get no constraint."
{{- /* Of pods that are older than ten minutes: queues of a batch cluster are shorter. All replicas see the same pods. */}}
- alert: EvenkeelPodsPending
  expr: max(evenkeel_pods_pending{ {{- $of }}}) > 0
  for: 5m
  labels: {severity: warning}
  summary: Pods with a hard spread constraint or a claim stay Pending
  description: "{{ "{{ $value }}" }} pods have had no node for more than 10 minutes, and a hard spread constraint or a claim may be the cause."
{{- /* By the replica that sees the fewest: only those that admit pods know volumes, without which a
       StatefulSet that its disks keep where it is looks uneven. */}}
- alert: EvenkeelWorkloadsUneven
  expr: min by (topology_key) (evenkeel_workloads{ {{- $of }},state="uneven",topology_key!="kubernetes.io/hostname"}) > 0
  for: 15m
  labels: {severity: info}
  summary: Workloads stay uneven, and could be more even
  description: "{{ "{{ $value }}" }} workloads are uneven by {{ "{{ $labels.topology_key }}" }}."
{{- end }}
