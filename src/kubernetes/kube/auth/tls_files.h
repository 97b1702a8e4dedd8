/*
 * The CA bundle and the client certificate with its key, as data or as files. Files are checked
 * every 10 s and read again when they have changed. upstream: client-go transport/ca_rotation.go,
 * cert_rotation.go. One thread.
 *
 * New files are used only if the TLS library's parser accepts them and the key belongs to the
 * certificate: the old pair stays during a renewal that replaces one file after the other, and
 * during the symlink swap by which the kubelet updates a volume.
 */
#pragma once

#include "base/file.h"
#include "base/secret.h"
#include "kube/auth/access.h"
#include "kube/auth/reload.h"

/* One file or text. */
struct tls_source {
    const struct kube_pem *from; /* borrowed */
    const char *data_name;       /* name in messages, if the source is not a file */
    struct secret bytes;         /* content of the file */
    struct file_signature seen;  /* signature of the file before it was read */
};

struct tls_files {
    struct tls_source ca, certificate, key;
    int64_t looked_ms;
    uint64_t version; /* changes when the certificates in use change */
    struct reload ca_reload, certificate_reload;
};

/* Fails if a file is missing or not valid. `t` must be zero-initialised; call tls_files_done() in
 * any case. */
int tls_files_init(struct tls_files *t, const struct kube_access *access, int64_t now_ms,
                   struct err *err) MUST_CHECK;
void tls_files_done(struct tls_files *t);

/* Checks the files if 10 s are over. Unusable files are logged and counted, and are read again 10 s
 * later even if they have not changed. */
void tls_files_poll(struct tls_files *t, int64_t now_ms);

/* Returns the PEM text in use; empty: none. Borrowed until the next poll. */
struct str tls_source_str(const struct tls_source *s);
