{{/* Where it is installed: in the namespace of the release, unless one is named. */}}
{{- define "phalanx.namespace" -}}
{{ .Values.namespace.name | default .Release.Namespace }}
{{- end }}

{{/* What the names of its objects end in: nothing for the default shard. */}}
{{- define "phalanx.suffix" -}}
{{ if ne .Values.shard "default" }}-{{ .Values.shard }}{{ end }}
{{- end }}

{{/* Its image: by digest where there is one, else by tag. */}}
{{- define "phalanx.image" -}}
{{ with .Values.image -}}
{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The file of settings; who observes leads by the Lease that is installed. */}}
{{- define "phalanx.settings" -}}
{{- $run := deepCopy .Values.run -}}
{{- if or (ne .Values.shard "default") $run.observe }}{{ $_ := set $run "shard" .Values.shard }}{{ end -}}
{{- with .Values.nodePool }}{{ $_ := set $run "nodePool" . }}{{ end -}}
apiVersion: phalanx/v1
kind: Config
policy: {{- toYaml .Values.policy | nindent 2 }}
run: {{- toYaml $run | nindent 2 }}
{{- end }}
