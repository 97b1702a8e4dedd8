{{/* THE table of doors. Everything else is made from it, once for each door that is on: a new one is a row
     in the first list, a configuration, and rules.

     The facts of a door, as YAML:

       enabled, replicas, port, resources, hostNetwork
       configuration   its part of the EvenkeelConfiguration
       leases          names of the Leases that Evenkeel takes part in
       leaseName       that of the configuration, if it is not the door's
       heldLeases      those of other containers
       singleReady     only one replica is ever ready
       rules           of the ClusterRole; none: it needs no such right
       namespaced      of the Role in the release's namespace
       elsewhere       namespace: rules of a Role there. Events about objects without a namespace are in "default"
       mounts          {path, secret | configMap, keys}; keys: of the Secret only these
       service         type, clusterIP, nodePort, annotations, port (443), portName (https). None: nobody outside asks
       moreServices    names of others, by which its pods are called at the same port
       servers         API servers that it asks: own, the one of this cluster (default), and members, those of others
       clusterRoles    that are there already, and that it has, too
       kubeSystemRoles the same of Roles in kube-system
       files           more of its ConfigMap
       containers      more of its pods, which may mount the volumes "configuration" and "token" */}}
{{- define "evenkeel.doors" -}}
{{- $doors := dict "webhook" (include "evenkeel.webhook" . | fromYaml) "extender" (include "evenkeel.extender" . | fromYaml) "scheduler" (include "evenkeel.scheduler" . | fromYaml) "ocm" (include "evenkeel.ocm" . | fromYaml) "estimator" (include "evenkeel.estimator" . | fromYaml) -}}
{{- range $name, $door := $doors -}}
{{- if not $door.enabled }}{{ $_ := unset $doors $name }}{{ end -}}
{{- end -}}
{{- toYaml $doors -}}
{{- end }}

{{/* The EvenkeelConfiguration of a door: what all have, then the door's part. As JSON, for in YAML Helm writes
     1000000 as 1e+06. */}}
{{- define "evenkeel.configuration" -}}
{{- $all := dict "apiVersion" "evenkeel.io/v1alpha1" "kind" "EvenkeelConfiguration"
      "kubernetes" (dict "inCluster" true)
      "extender" (dict "listen" "0")
      "webhook" (dict "listen" "0")
      "ops" (dict "listen" (printf ":%v" .root.Values.ops.port)) -}}
{{- $leases := .facts.leases -}}
{{- if $leases -}}
{{- $_ := set $all "leaderElection" (dict "enabled" true "leaseName" (default (include "evenkeel.doorName" .) .facts.leaseName) "leaseNamespace" .root.Release.Namespace) -}}
{{- end -}}
{{- range $section, $settings := .root.Values.config -}}
{{- if and $settings (not (has $section (list "ocm" "estimator"))) }}{{ $_ := set $all $section $settings }}{{ end -}}
{{- end -}}
{{- range $section, $settings := .facts.configuration -}}
{{- $_ := set $all $section $settings -}}
{{- end -}}
{{- toPrettyJson $all -}}
{{- end }}

{{/* ---- the rules that several doors have ---- */}}

{{- define "evenkeel.watchRules" -}}
- apiGroups: [""]
  resources: [nodes, pods, namespaces]
  verbs: [list, watch]
{{- if ne (dig "spread" "defaulting" "System" (default dict .Values.config) | toString) "List" }}
{{ include "evenkeel.defaultsRules" . }}
{{- else if dig "spread" "defaultConstraints" list (default dict .Values.config) }}
{{ include "evenkeel.defaultsRules" . }}
{{- end }}
- apiGroups: [evenkeel.io]
  resources: [topologypolicies]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [persistentvolumes, persistentvolumeclaims]
  verbs: [list, watch]
- apiGroups: [storage.k8s.io]
  resources: [storageclasses]
  verbs: [list, watch]
{{- end }}

{{/* Default constraints take the selectors of these. */}}
{{- define "evenkeel.defaultsRules" -}}
- apiGroups: [""]
  resources: [services, replicationcontrollers]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [replicasets, statefulsets]
  verbs: [list, watch]
{{- end }}

{{- define "evenkeel.fluidRules" -}}
- apiGroups: [data.fluid.io]
  resources: [datasets, alluxioruntimes, cacheruntimes, efcruntimes, jindoruntimes, juicefsruntimes, thinruntimes, vineyardruntimes]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [persistentvolumeclaims]
  verbs: [get]
{{- end }}

{{/* To get single objects of these resources, each given as RESOURCE.GROUP: a rule for each group. */}}
{{- define "evenkeel.readRules" -}}
{{- $groups := dict -}}
{{- range .names -}}
{{- $parts := splitn "." 2 . -}}
{{- $_ := set $groups $parts._1 (append (default list (get $groups $parts._1)) (printf "%s%s" $parts._0 $.subresource)) -}}
{{- end -}}
{{- range $group, $resources := $groups }}
- apiGroups: [{{ $group }}]
  resources: {{ toJson $resources }}
  verbs: [get]
{{- end -}}
{{- end }}

{{- define "evenkeel.eventRules" -}}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{/* A rule for create cannot name the object. */}}
{{- define "evenkeel.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: {{ toJson . }}
  verbs: [get, update]
{{- end }}

{{/* ---- webhook ---- */}}

{{- define "evenkeel.webhook" -}}
{{- $at := dict "root" . "door" "webhook" -}}
{{- $w := .Values.webhook -}}
{{- $secret := include "evenkeel.webhookSecret" . -}}
{{- $lease := printf "%s-controllers" (include "evenkeel.doorName" $at) -}}
{{- $selfSigned := eq $w.certificates.mode "SelfSigned" -}}
{{- $unevenAfter := dig "events" "unevenAfter" "15m" (default dict .Values.config) | toString -}}
{{- $uneven := not (regexMatch "^0[a-z]*$" $unevenAfter) -}}
{{- $named := dig "events" "namespaces" list (default dict .Values.config) | default list -}}
{{- $everywhere := and $uneven (not $named) -}}
{{- /* Where Events are about workloads, if that is not everywhere, and about policies and webhook configurations. */}}
{{- $eventNamespaces := ternary list (without (uniq (append (ternary $named list $uneven) "default")) .Release.Namespace) $everywhere -}}
enabled: {{ $w.enabled }}
replicas: {{ $w.replicas }}
port: {{ $w.port }}
hostNetwork: {{ $w.hostNetwork }}
resources: {{ toJson $w.resources }}
leases: [{{ $lease }}]
singleReady: false
service: {type: ClusterIP}
configuration:
  webhook:
    listen: ":{{ $w.port }}"
    annotate: {{ $w.annotate }}
    certificates:
      mode: {{ $w.certificates.mode }}
      secretName: {{ $secret }}
      secretNamespace: {{ .Release.Namespace }}
      {{- if $selfSigned }}
      hosts: ["{{ include "evenkeel.doorName" $at }}.{{ .Release.Namespace }}.svc"]
      {{- end }}
      {{- if $w.certificates.keepBundle }}
      configurations: [{{ include "evenkeel.clusterName" . }}]
      {{- if $w.validating.enabled }}
      validatingConfigurations: [{{ include "evenkeel.clusterName" . }}]
      {{- end }}
      {{- end }}
    {{- if $w.clientCA.configMapName }}
    clientCAFile: /etc/evenkeel/client-ca/ca.crt
    allowedSubjects: {{ toJson $w.clientCA.allowedSubjects }}
    {{- end }}
    fluid: {watch: {{ $w.fluid.watch }}, readFor: {{ $w.fluid.readFor }}}
  {{- if $w.fluid.labelLeavingNodes }}
  data: {labelLeavingNodes: true}
  {{- end }}
mounts:
{{- if $w.clientCA.configMapName }}
- {path: /etc/evenkeel/client-ca, configMap: {{ $w.clientCA.configMapName }}}
{{- else }} []
{{- end }}
rules:
{{ include "evenkeel.watchRules" . }}
{{- if $w.fluid.watch }}
{{ include "evenkeel.fluidRules" . }}
{{- end }}
{{- if $w.fluid.labelLeavingNodes }}
- apiGroups: [""]
  resources: [nodes]
  verbs: [patch]
{{- end }}
- apiGroups: [evenkeel.io]
  resources: [topologypolicies/status]
  verbs: [patch]
{{- if $everywhere }}
# About workloads that stay uneven, in their namespaces: which these are nobody knows beforehand.
{{ include "evenkeel.eventRules" . }}
{{- end }}
{{- /* What controllers of custom kinds select. */}}
{{- include "evenkeel.readRules" (dict "names" $w.owners "subresource" "/scale") }}
{{- if and $w.validating.enabled $w.validating.units }}
# Who stands behind a pod that says that it is of a unit.
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
- apiGroups: [apps]
  resources: [statefulsets]
  verbs: [get]
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get]
{{- include "evenkeel.readRules" (dict "names" $w.validating.units "subresource" "") }}
{{- end }}
{{- if $w.certificates.keepBundle }}
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations{{ if $w.validating.enabled }}, validatingwebhookconfigurations{{ end }}]
  resourceNames: [{{ include "evenkeel.clusterName" . }}]
  verbs: [list, watch, patch]
{{- end }}
namespaced:
{{ include "evenkeel.leaseRules" (list $lease) }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $secret }}]
  verbs: [list, watch{{ if $selfSigned }}, patch{{ end }}]
{{- if $selfSigned }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}
{{- if not $everywhere }}
{{ include "evenkeel.eventRules" . }}
{{- end }}
elsewhere:
{{- range $eventNamespaces }}
  {{ . }}: {{ include "evenkeel.eventRules" $ | nindent 4 }}
{{- else }} {}
{{- end }}
{{- end }}

{{/* ---- extender ---- */}}

{{- define "evenkeel.extender" -}}
{{- $at := dict "root" . "door" "extender" -}}
{{- $e := .Values.extender -}}
{{- $reserves := ne $e.reservations.mode "Off" -}}
{{- $elects := and $reserves (gt (int $e.replicas) 1) -}}
{{- $c := $e.certificates -}}
{{- $makes := not $e.tls.secretName -}}
{{- $secrets := include "evenkeel.extenderSecrets" . | fromYaml -}}
enabled: {{ $e.enabled }}
replicas: {{ $e.replicas }}
port: {{ $e.port }}
hostNetwork: false
resources: {{ toJson $e.resources }}
singleReady: {{ $reserves }}
service: {{ toJson $e.service }}
{{- if $elects }}
leases: [{{ include "evenkeel.doorName" $at }}]
{{- end }}
configuration:
  extender:
    listen: ":{{ $e.port }}"
    {{- if $makes }}
    certificates:
      mode: SelfSigned
      secretName: {{ $secrets.server }}
      secretNamespace: {{ .Release.Namespace }}
      # On the host's network no name of a Service can be resolved: hence the addresses.
      hosts: {{ concat (list (printf "%s.%s.svc" (include "evenkeel.doorName" $at) .Release.Namespace)) (compact (list $e.service.clusterIP)) $c.hosts | uniq | toJson }}
      clientSecretName: {{ $secrets.client }}
      clientName: {{ $c.clientName | quote }}
      clientDays: {{ $c.clientDays }}
    allowedSubjects: {{ concat (list $c.clientName) $e.allowedSubjects | uniq | toJson }}
    {{- else }}
    certFile: /etc/evenkeel/tls/tls.crt
    keyFile: /etc/evenkeel/tls/tls.key
    clientCAFile: /etc/evenkeel/tls/ca.crt
    allowedSubjects: {{ default (list "system:kube-scheduler") $e.allowedSubjects | toJson }}
    {{- end }}
    maxPriority: {{ $e.maxPriority }}
    bind: {{ $e.bind }}
  reservations: {{ toJson $e.reservations }}
  webhook:
    listen: "0"
    fluid: {watch: {{ $e.fluid.watch }}}
mounts:
{{- if $makes }} []
{{- else }}
- {path: /etc/evenkeel/tls, secret: {{ $e.tls.secretName }}}
{{- end }}
rules:
{{ include "evenkeel.watchRules" . }}
{{- if $e.fluid.watch }}
{{ include "evenkeel.fluidRules" . }}
{{- end }}
{{- if $e.bind }}
- apiGroups: [""]
  resources: [pods/binding]
  verbs: [create]
- apiGroups: [""]
  resources: [pods]
  verbs: [get]
{{- end }}
{{- if or $elects $makes }}
namespaced:
{{- if $elects }}
{{ include "evenkeel.leaseRules" (list (include "evenkeel.doorName" $at)) }}
{{- end }}
{{- if $makes }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $secrets.server }}, {{ $secrets.client }}]
  verbs: [list, watch, patch]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}
{{ include "evenkeel.eventRules" . }}
{{- end }}
{{- end }}

{{/* ---- scheduler ---- */}}

{{/* With bindings or reservations nothing need be agreed on: of the kube-schedulers one leads, and each asks
     the Evenkeel of its own pod. It asks over plain HTTP: 127.0.0.1 of a pod is its own containers', and who is
     in there could read the key of any certificate, too. */}}
{{- define "evenkeel.scheduler" -}}
{{- $at := dict "root" . "door" "scheduler" -}}
{{- $s := .Values.scheduler -}}
{{- $lease := include "evenkeel.doorName" $at -}}
enabled: {{ $s.enabled }}
replicas: {{ $s.replicas }}
port: {{ $s.port }}
hostNetwork: false
resources: {{ toJson $s.resources }}
singleReady: false
heldLeases: [{{ $lease }}]
configuration:
  extender:
    listen: "127.0.0.1:{{ $s.port }}"
    insecure: true
    maxPriority: {{ $s.maxPriority }}
    bind: {{ $s.bind }}
  reservations: {{ toJson $s.reservations }}
  webhook:
    listen: "0"
    fluid: {watch: {{ $s.fluid.watch }}}
clusterRoles: ["system:kube-scheduler", "system:volume-scheduler"]
kubeSystemRoles: [extension-apiserver-authentication-reader] # who may read its metrics
files:
  scheduler.yaml: {{ include "evenkeel.schedulerConfiguration" . | quote }}
containers:
- name: kube-scheduler
  image: {{ $s.image.repository }}{{ if $s.image.digest }}@{{ $s.image.digest }}{{ else }}:{{ default (regexFind "^v[0-9]+[.][0-9]+[.][0-9]+" .Capabilities.KubeVersion.Version) $s.image.tag }}{{ end }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [kube-scheduler, --config=/etc/kube-scheduler/scheduler.yaml]
  ports:
  - {name: kube-scheduler, containerPort: 10259}
  livenessProbe:
    httpGet: {path: /healthz, port: kube-scheduler, scheme: HTTPS}
    periodSeconds: 10
    timeoutSeconds: 5
    failureThreshold: 3
  # Without it a container that has just started counts as ready, and an update goes on. Before Kubernetes 1.31
  # kube-scheduler has no /readyz.
  readinessProbe:
    httpGet: {path: /healthz, port: kube-scheduler, scheme: HTTPS}
    periodSeconds: 5
    timeoutSeconds: 5
    failureThreshold: 3
  resources: {{ toJson $s.kubeSchedulerResources }}
  {{- with .Values.securityContext }}
  securityContext: {{ toJson . }}
  {{- end }}
  volumeMounts:
  - {name: configuration, mountPath: /etc/kube-scheduler/scheduler.yaml, subPath: scheduler.yaml, readOnly: true}
  - {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
mounts: []
rules:
{{ include "evenkeel.watchRules" . }}
{{- if $s.fluid.watch }}
{{ include "evenkeel.fluidRules" . }}
{{- end }}
namespaced:
{{ include "evenkeel.leaseRules" (list $lease) }}
{{- end }}

{{- define "evenkeel.schedulerConfiguration" -}}
{{- $at := dict "root" . "door" "scheduler" -}}
{{- $s := .Values.scheduler -}}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: true, resourceName: {{ include "evenkeel.doorName" $at }}, resourceNamespace: {{ .Release.Namespace }}}
percentageOfNodesToScore: {{ $s.percentageOfNodesToScore }}
profiles:
- {{ toJson (merge (dict "schedulerName" $s.name) $s.profile) }}
extenders:
- urlPrefix: http://127.0.0.1:{{ $s.port }}/extender/v1
  filterVerb: filter
  prioritizeVerb: {{ $s.prioritizeVerb }}
  preemptVerb: preempt
  {{- if $s.bind }}
  bindVerb: bind
  {{- end }}
  weight: {{ $s.weight }}
  nodeCacheCapable: true
  ignorable: {{ $s.ignorable }}
  httpTimeout: {{ ternary "5s" "1s" $s.bind }}
{{ end }}

{{/* ---- ocm, with the webhook about Placements ---- */}}

{{/* May Placements have mode Scores? "true" or "false". */}}
{{- define "evenkeel.scores" -}}
{{- $settings := dig "ocm" dict (default dict .Values.config) | default dict -}}
{{- ternary $settings.scores (eq (default "Owner" $settings.mode) "Scores") (hasKey $settings "scores") -}}
{{- end }}

{{/* The hub is the cluster that it is installed in. Nothing of pods is asked about, so nothing of theirs is watched. */}}
{{- define "evenkeel.ocm" -}}
{{- $settings := dig "ocm" dict (default dict .Values.config) | default dict -}}
{{- $scores := eq (include "evenkeel.scores" .) "true" -}}
{{- $at := dict "root" . "door" "ocm" -}}
{{- $p := .Values.placements -}}
{{- $c := $p.certificates -}}
{{- $secret := include "evenkeel.placementsSecret" . -}}
{{- $selfSigned := eq $c.mode "SelfSigned" -}}
{{- $lease := printf "%s-ocm" (include "evenkeel.fullname" .) -}}
enabled: {{ .Values.ocm.enabled }}
replicas: {{ .Values.ocm.replicas }}
port: {{ $p.port }}
hostNetwork: {{ and $p.enabled $p.hostNetwork }}
resources: {{ toJson .Values.ocm.resources }}
leases: [{{ $lease }}]
leaseName: {{ include "evenkeel.fullname" . }}
singleReady: false
{{- if $p.enabled }}
service: {type: ClusterIP}
{{- end }}
configuration:
  ocm: {{ merge (dict "enabled" true "scores" $scores) $settings | toJson }}
  {{- if $p.enabled }}
  webhook:
    listen: ":{{ $p.port }}"
    pods: false
    certificates:
      mode: {{ $c.mode }}
      secretName: {{ $secret }}
      secretNamespace: {{ .Release.Namespace }}
      {{- if $selfSigned }}
      hosts: ["{{ include "evenkeel.doorName" $at }}.{{ .Release.Namespace }}.svc"]
      {{- end }}
      {{- if $c.keepBundle }}
      configurations: [{{ include "evenkeel.placementsName" . }}]
      {{- end }}
  {{- end }}
mounts: []
rules:
- apiGroups: [cluster.open-cluster-management.io]
  resources: [managedclusters]
  verbs: [list, watch]
- apiGroups: [cluster.open-cluster-management.io]
  resources: [managedclustersets, managedclustersetbindings]
  verbs: [get, list, watch]
- apiGroups: [cluster.open-cluster-management.io]
  resources: [addonplacementscores]
  verbs: [get, list, watch{{ if $scores }}, create] # create: evenkeel-0 and on, in the namespaces of clusters{{ else }}]{{ end }}
{{- if $scores }}
- apiGroups: [cluster.open-cluster-management.io]
  resources: [addonplacementscores/status]
  verbs: [patch]
{{- end }}
- apiGroups: [cluster.open-cluster-management.io]
  resources: [placements]
  verbs: [get, list, watch, patch] # patch: its annotations; in mode Scores its prioritizers and predicates
- apiGroups: [cluster.open-cluster-management.io]
  resources: [placementdecisions]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [cluster.open-cluster-management.io]
  resources: [placements/status, placementdecisions/status]
  verbs: [patch]
# Where the API server checks who may block the deletion of an owner (OpenShift does).
- apiGroups: [cluster.open-cluster-management.io]
  resources: [placements/finalizers]
  verbs: [update]
# Which policies fit a Placement.
- apiGroups: [""]
  resources: [namespaces]
  verbs: [list, watch]
- apiGroups: [evenkeel.io]
  resources: [topologypolicies]
  verbs: [list, watch]
# About Placements, in their namespaces: which these are nobody knows beforehand.
{{ include "evenkeel.eventRules" . }}
{{- if and $p.enabled $c.keepBundle }}
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  resourceNames: [{{ include "evenkeel.placementsName" . }}]
  verbs: [list, watch, patch]
{{- end }}
namespaced:
{{ include "evenkeel.leaseRules" (list $lease) }}
{{- if $p.enabled }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $secret }}]
  verbs: [list, watch{{ if $selfSigned }}, patch{{ end }}]
{{- if $selfSigned }}
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
{{- end }}
{{- end }}
{{- end }}

{{/* ---- estimator ---- */}}

{{/* Of members and of Karmada it needs what their kubeconfigs may do, and of the cluster that it runs in nothing, unless that is a
     member, too: the one without a Secret. */}}
{{- define "evenkeel.estimator" -}}
{{- $e := .Values.estimator -}}
{{- $settings := dig "estimator" dict (default dict .Values.config) | default dict -}}
{{- $own := false -}}
{{- $mounts := list -}}
{{- $members := list -}}
{{- $services := list -}}
{{- range $e.members -}}
{{- if .secretName -}}
{{- $path := printf "/etc/evenkeel/members/%s" .secretName -}}
{{- $mounts = append $mounts (dict "path" $path "secret" .secretName) -}}
{{- $members = append $members (printf "%s=%s/%s%s" .name $path (default "kubeconfig" .key) (ternary (printf "#%s" .context) "" (not (empty .context)))) -}}
{{- else -}}
{{- $own = true -}}
{{- $members = append $members .name -}}
{{- end -}}
{{- end -}}
{{- range include "evenkeel.estimated" . | fromYamlArray -}}
{{- if $e.service.memberPrefix -}}
{{- $services = append $services (printf "%s-%s" $e.service.memberPrefix .) -}}
{{- end -}}
{{- end -}}
{{- $door := dict "listen" (printf ":%v" $e.port) "members" $members -}}
{{- $karmada := dict -}}
{{- $leader := dict -}}
{{- with $e.karmada -}}
{{- if $e.fromKarmada -}}
{{- $mounts = append $mounts (dict "path" "/etc/evenkeel/karmada" "secret" .secretName) -}}
{{- $door = merge $door (dict "fromKarmada" true) -}}
{{- $karmada = dict "kubeconfig" (printf "/etc/evenkeel/karmada/%s" .key) "clusterNamespace" .clusterNamespace -}}
{{- with .context }}{{ $_ := set $karmada "context" . }}{{ end -}}
{{- if $e.services -}}
{{- $name := include "evenkeel.doorName" (dict "root" $ "door" "estimator") -}}
{{- $door = merge $door (dict "services" true "serviceHost" (default (printf "%s.%s.svc:%v" $name $.Release.Namespace $e.service.port) $e.serviceHost)) -}}
{{- with $e.service.memberPrefix }}{{ $_ := set $karmada "estimators" (dict "servicePrefix" .) }}{{ end -}}
{{- $leader = dict "enabled" true "leaseName" $name "leaseNamespace" "karmada-system" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $e.tls -}}
{{- if .secretName -}}
{{- $mounts = append $mounts (dict "path" "/etc/evenkeel/tls" "secret" .secretName "keys" (list .certKey .keyKey)) -}}
{{- $door = merge $door (dict "certFile" (printf "/etc/evenkeel/tls/%s" .certKey) "keyFile" (printf "/etc/evenkeel/tls/%s" .keyKey)) -}}
{{- end -}}
{{- end -}}
{{- with $e.clientCA -}}
{{- if .secretName -}}
{{- $mounts = append $mounts (dict "path" "/etc/evenkeel/client-ca" "secret" .secretName "keys" (list .key)) -}}
{{- $door = merge $door (dict "clientCAFile" (printf "/etc/evenkeel/client-ca/%s" .key) "allowedSubjects" $e.allowedSubjects) -}}
{{- end -}}
{{- end -}}
enabled: {{ $e.enabled }}
replicas: {{ $e.replicas }}
port: {{ $e.port }}
hostNetwork: false
resources: {{ toJson $e.resources }}
singleReady: false
service: {{ merge (dict "portName" (ternary "https" "grpc" (hasKey $door "certFile"))) $e.service | toJson }}
moreServices: {{ toJson $services }}
servers: {{ compact (list (ternary "own" "" $own) (ternary "members" "" (or $e.fromKarmada (gt (len $members) (ternary 1 0 $own))))) | toJson }}
configuration:
  kubernetes: {inCluster: {{ $own }}}
  estimator: {{ merge $door $settings | toJson }}
  {{- if $karmada }}
  karmada: {{ toJson $karmada }}
  {{- end }}
  {{- if $leader }}
  leaderElection: {{ toJson $leader }}
  {{- end }}
mounts: {{ uniq $mounts | toJson }}
rules:
{{- if $own }}
- apiGroups: [""]
  resources: [nodes, pods{{ if $settings.resourceQuota }}, resourcequotas{{ end }}]
  verbs: [list, watch]
- apiGroups: [apps]
  resources: [deployments, replicasets]
  verbs: [list, watch]
{{- else }} []
{{- end }}
{{- end }}

{{/* Names of the members that are known here, as YAML: with fromKarmada there may be more. */}}
{{- define "evenkeel.estimated" -}}
{{- $names := list -}}
{{- range .Values.estimator.members }}{{ $names = append $names .name }}{{ end -}}
{{- concat $names (default list .Values.estimator.service.members) | uniq | toYaml -}}
{{- end }}
