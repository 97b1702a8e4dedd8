/*
 * A Service of type ExternalName with one port: a name at an API server that leads to an address
 * elsewhere. upstream: karmada pkg/estimator/client/service.go, resolveCluster(), which searches a
 * port by its number, and dials spec.externalName at the integer targetPort of this port.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

/* A Service to write; ports are 1 to 65535. */
struct external_service {
    struct str namespace, name;
    struct str host;
    uint16_t port, target_port;
};

/* A Service as it is. */
struct external_service_seen {
    struct str name, uid, version; /* metadata.uid and .resourceVersion */
    bool ours;                     /* labelled as managed by Evenkeel */
    bool terminating;
    struct str host; /* spec.externalName; "": the Service has another type */
    uint32_t ports;  /* number of ports; the members below describe the last port */
    struct str port_name;
    int64_t port, target_port; /* 0: no port, or a port given by name */
};

/* Decodes a Service, which must have a name. Strings are in the text or the arena. -EINVAL or
 * -ENOMEM. */
int external_service_read(struct str object, struct arena *arena, struct external_service_seen *ret,
                          struct err *err) MUST_CHECK;
/* Is the seen Service exactly as wanted? */
bool external_service_says(const struct external_service_seen *seen,
                           const struct external_service *wanted);

/* Appends the body of a POST; failures stay in the buffer, here and below. */
void external_service_put_new(struct strbuf *out, const struct external_service *service);
/* Appends the body of a merge patch that succeeds only on this version. */
void external_service_put_patch(struct strbuf *out, const struct external_service *service,
                                struct str version);
