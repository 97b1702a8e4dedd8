{{/* Parts of a pod that more than one kind of object has: a door's Deployment, and the pod of `helm test`. All take
     (dict "root" $ "door" name "facts" facts). */}}

{{/* "account": the name of the pod's service account; none: the door's. */}}
{{- define "evenkeel.podSettings" -}}
serviceAccountName: {{ .account | default (include "evenkeel.serviceAccount" .) }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- with .root.Values.pod.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pod.tolerations }}
tolerations: {{- toYaml . | nindent 0 }}
{{- end }}
{{- /* As JSON, for in YAML Helm writes the user 1000650000 as 1.00065e+09. */}}
{{- with .root.Values.podSecurityContext }}
securityContext: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "evenkeel.mounts" -}}
- {name: configuration, mountPath: /etc/evenkeel/evenkeel.yaml, subPath: evenkeel.yaml, readOnly: true}
- {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- range $i, $mount := .facts.mounts }}
- {name: mount-{{ $i }}, mountPath: {{ $mount.path }}, readOnly: true}
{{- end }}
{{- range .root.Values.extraVolumeMounts }}
- {{ toJson . }}
{{- end }}
{{- end }}

{{- define "evenkeel.volumes" -}}
- name: configuration
  configMap: {name: {{ include "evenkeel.doorName" . }}}
{{ include "evenkeel.tokenVolume" . }}
{{- range $i, $mount := .facts.mounts }}
- name: mount-{{ $i }}
  {{- if $mount.secret }}
  secret:
    secretName: {{ $mount.secret }}
    defaultMode: {{ include "evenkeel.fileMode" $.root }}
    {{- with $mount.keys }}
    items:
    {{- range . }}
    - {key: {{ . | quote }}, path: {{ . | quote }}}
    {{- end }}
    {{- end }}
  {{- else }}
  configMap: {name: {{ $mount.configMap }}}
  {{- end }}
{{- end }}
{{- range .root.Values.extraVolumes }}
- {{ toJson . }}
{{- end }}
{{- end }}

{{- define "evenkeel.tokenVolume" -}}
- name: token
  projected:
    defaultMode: {{ include "evenkeel.fileMode" .root }}
    sources:
    - serviceAccountToken: {path: token, expirationSeconds: {{ .root.Values.serviceAccount.tokenExpirationSeconds }}}
    - configMap:
        name: kube-root-ca.crt
        items: [{key: ca.crt, path: ca.crt}]
    - downwardAPI:
        items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]
{{- end }}
