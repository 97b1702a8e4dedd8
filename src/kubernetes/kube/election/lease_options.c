#include "kube/election/lease.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

/* upstream: kube-scheduler's defaults are 15, 10 and 2 s. With another duration the ratio stays the
 * same. */
enum {
    DURATION_MS = 15000,
    RENEW_SHARE = 10,
    RETRY_SHARE = 2,
    SHARES = 15,
    IDENTITY_BYTES = 256,
};

static bool is_object_name(const char *name, size_t max) {
    size_t n = name != NULL ? strlen(name) : 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.'))
            return false;
    }
    return n > 0 && n <= max && name[0] != '.' && name[0] != '-';
}

static bool is_identity(const char *identity) {
    size_t n = identity != NULL ? strlen(identity) : 0;
    for (size_t i = 0; i < n; i++)
        if (identity[i] <= ' ' || identity[i] > '~')
            return false;
    return n > 0 && n <= IDENTITY_BYTES;
}

struct lease_options lease_options_complete(const struct lease_options *options) {
    struct lease_options o = *options;
    o.duration_ms = o.duration_ms != 0 ? o.duration_ms : DURATION_MS;
    const int64_t share_ms = o.duration_ms / SHARES;
    o.renew_deadline_ms = o.renew_deadline_ms != 0 ? o.renew_deadline_ms : share_ms * RENEW_SHARE;
    o.retry_ms = o.retry_ms != 0 ? o.retry_ms : share_ms * RETRY_SHARE;
    return o;
}

static int check_times(const struct lease_options *o, struct err *err) {
    if (o->retry_ms < 1)
        return err_set(err, -EINVAL, "the retry period must be longer than 0");
    if (o->duration_ms % 1000 != 0 || o->duration_ms / 1000 > INT32_MAX)
        return err_set(err, -EINVAL, "the lease duration must be whole seconds, not %lld ms",
                       (long long)o->duration_ms);
    if (o->renew_deadline_ms >= o->duration_ms)
        return err_set(
            err, -EINVAL,
            "the renew deadline (%lld ms) must be shorter than the lease duration (%lld ms)",
            (long long)o->renew_deadline_ms, (long long)o->duration_ms);
    if (o->retry_ms > INT64_MAX / LEASE_JITTER_TENTHS ||
        o->renew_deadline_ms <= o->retry_ms * LEASE_JITTER_TENTHS / 10)
        return err_set(
            err, -EINVAL,
            "the renew deadline (%lld ms) must be longer than 1.2 x the retry period (%lld ms)",
            (long long)o->renew_deadline_ms, (long long)o->retry_ms);
    return 0;
}

int lease_options_check(const struct lease_options *options, struct err *err) {
    const struct lease_options o = lease_options_complete(options);
    if (!is_object_name(o.namespace, 63))
        return err_set(err, -EINVAL, "'%s' is no namespace for a lease",
                       o.namespace != NULL ? o.namespace : "");
    if (!is_object_name(o.name, 253))
        return err_set(err, -EINVAL, "'%s' is no name for a lease", o.name != NULL ? o.name : "");
    if (!is_identity(o.identity))
        return err_set(err, -EINVAL,
                       "'%s' is no identity for a leader: 1 to %d printable ASCII characters",
                       o.identity != NULL ? o.identity : "", IDENTITY_BYTES);
    return check_times(&o, err);
}

int lease_identity(char ret[static LEASE_IDENTITY_SIZE], struct err *err) {
    char host[65] = "";
    unsigned char u[16];
    if (getrandom(u, sizeof u, 0) != (ssize_t)sizeof u)
        return err_set_errno(err, errno, "no random bytes for the identity of a leader");
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        (void)snprintf(host, sizeof host, "unknown");
    for (char *c = host; *c != '\0'; c++)
        *c = *c > ' ' && *c <= '~' ? *c : '-';
    u[6] = (unsigned char)(0x40 | (u[6] & 0x0f)); /* a random UUID, RFC 9562 version 4 */
    u[8] = (unsigned char)(0x80 | (u[8] & 0x3f));
    (void)snprintf(ret, LEASE_IDENTITY_SIZE,
                   "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host,
                   u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12],
                   u[13], u[14], u[15]); /* fits: 64 + 1 + 36 */
    return 0;
}
