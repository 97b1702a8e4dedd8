/*
 * A folder with everything that TLS between kube-scheduler and this program needs:
 *
 *     ca.crt ca.key           the authority; kept when it is there
 *     tls.crt tls.key         for the server
 *     client.crt client.key   for kube-scheduler
 *
 * Certificates have mode 0644, keys 0600, the folder 0700 when it is made.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct folder_request {
    const char *dir;
    const struct str *hosts; /* of the server; none: those of the certificate that is renewed, or
                                localhost, 127.0.0.1 and ::1 */
    size_t host_count;
    struct str client_name; /* empty: that of the certificate that is renewed, or
                               system:kube-scheduler */
    int days, ca_days;      /* 0: the usual; ca_days counts for a new authority only */
    bool force;             /* overwrite certificates that are not of this authority */
    int64_t now_s;
};

struct folder_report {
    bool ca_is_new;
    int64_t ca_not_after_s, leaf_not_after_s;
};

/*
 * Makes the authority unless it is there, and new leaves. Everything is made before anything is
 * written, and each file is replaced at once; a reader may see a new key with the old certificate
 * for a moment, and is to try again then. 0, -EEXIST (leaves that this authority has not signed, or
 * half an authority), -EINVAL, or what writing failed with.
 */
int folder_init(const struct folder_request *request, struct folder_report *ret,
                struct err *err) MUST_CHECK;
