/*
 * A folder with everything that TLS between kube-scheduler and this program needs:
 *
 *     ca.crt ca.key           the authority; kept if it exists
 *     tls.crt tls.key         for the server
 *     client.crt client.key   for kube-scheduler
 *
 * Certificates have mode 0644, keys 0600, a new folder 0700.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct folder_request {
    const char *dir;
    const struct str *hosts; /* the server's names; if empty: the names in the certificate that is
                                renewed, or localhost, 127.0.0.1 and ::1 */
    size_t host_count;
    struct str client_name; /* empty: the name in the certificate that is renewed, or
                               system:kube-scheduler */
    int days, ca_days;      /* validity of leaves and of a new authority; 0: the default */
    bool force;             /* overwrite certificates that this authority has not signed */
    int64_t now_s;
};

struct folder_report {
    bool ca_is_new;
    int64_t ca_not_after_s, leaf_not_after_s;
};

/*
 * Makes the authority, unless it exists, and new leaves. Writes the first file only after all
 * certificates are made, and replaces each file atomically. For a moment a reader may see a new key
 * with the old certificate: it must try again. Returns 0, -EEXIST (leaves that this authority has
 * not signed, or an authority with only one of its two files), -EINVAL, or the error of a failed
 * write.
 */
int folder_init(const struct folder_request *request, struct folder_report *ret,
                struct err *err) MUST_CHECK;
