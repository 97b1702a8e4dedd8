/*
 * A Service of type ExternalName with one port: a name at an API server that leads to an address
 * elsewhere. upstream: karmada pkg/estimator/client/service.go, resolveCluster(), which dials
 * spec.externalName at the integer targetPort of the port that has the number it looks for.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* What one says; a port is 1 to 65535. */
struct external_service {
    struct str namespace, name;
    struct str host;
    uint16_t port, target_port;
};

/* One as it is. */
struct external_service_seen {
    struct str name, uid, version; /* metadata.uid and .resourceVersion */
    bool ours;                     /* labelled as managed by Evenkeel */
    bool terminating;
    struct str host; /* spec.externalName; "": it is of another type */
    uint32_t ports;  /* how many it has; what follows is of the last one */
    struct str port_name;
    int64_t port, target_port; /* 0: none, or a name */
};

/* Decodes a Service, which has a name. Strings are the text's or the arena's. -EINVAL or -ENOMEM.
 */
int external_service_read(struct str object, struct arena *arena, struct external_service_seen *ret,
                          struct err *err) MUST_CHECK;
/* Does it say this, and nothing else? */
bool external_service_says(const struct external_service_seen *seen,
                           const struct external_service *wanted);

/* The body of a POST; the failure is the buffer's, here and below. */
void external_service_put_new(struct strbuf *out, const struct external_service *service);
/* The body of a merge patch that succeeds only on this version. */
void external_service_put_patch(struct strbuf *out, const struct external_service *service,
                                struct str version);
