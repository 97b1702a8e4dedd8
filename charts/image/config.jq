# The image's configuration: what a container engine needs to start it.
{
  created: $created,
  architecture: $architecture,
  os: "linux",
  config: {
    User: $user,
    Entrypoint: ["/usr/bin/evenkeel"],
    Cmd: ["--help"],
    Env: ["PATH=/usr/bin"],
    WorkingDir: "/",
    StopSignal: "SIGTERM",
    Labels: {
      "org.opencontainers.image.title": "evenkeel",
      "org.opencontainers.image.description": "Keeps Kubernetes workloads even across failure domains and close to their data",
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.version": $version,
      "org.opencontainers.image.revision": $commit,
      "org.opencontainers.image.created": $created
    }
  },
  rootfs: {type: "layers", diff_ids: [$debian, $evenkeel]},
  history: [
    {created: $created, comment: "libraries of Debian, and their licences"},
    {created: $created, comment: "evenkeel"}
  ]
}
