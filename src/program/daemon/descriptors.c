#include "daemon/descriptors.h"

#include "base/limits.h"
#include "base/log.h"

#include <sys/resource.h>

static unsigned long of_listener(const char *address, unsigned connections) {
    return configuration_listens(address) ? 2ul * connections : 0;
}

unsigned long descriptors_needed(const struct configuration *c) {
    return of_listener(c->extender.listen, c->extender.limits.connections) +
           of_listener(c->webhook.listen, c->webhook.limits.connections) +
           of_listener(c->ops.listen, LIMIT_OPS_CONNECTIONS) +
           of_listener(c->ops.probe_listen, LIMIT_OPS_CONNECTIONS) + LIMIT_OTHER_DESCRIPTORS;
}

void descriptors_prepare(const struct configuration *c) {
    const unsigned long needed = descriptors_needed(c);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return; /* listeners handle a lack of descriptors themselves */
    if (limit.rlim_cur < needed) {
        limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* cannot fail below the hard limit */
    }
    if (limit.rlim_cur < needed)
        LOG_W("too few files may be open for all connections that are allowed",
              LOG_INT("limit", (int64_t)limit.rlim_cur), LOG_INT("needed", (int64_t)needed),
              LOG_CSTR("advice", "raise the hard limit (ulimit -Hn, LimitNOFILE=) or lower "
                                 "limits.connections; until then connections are closed to make "
                                 "room before limits.connections is reached"));
}
