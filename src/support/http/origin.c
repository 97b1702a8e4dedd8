#include "http/origin.h"

/* Returns the text behind "://", or the whole text without "://". */
static struct str authority_of(struct str origin) {
    for (size_t i = 0; i + 3 <= origin.n; i++)
        if (memcmp(origin.p + i, "://", 3) == 0)
            return (struct str){origin.p + i + 3, origin.n - i - 3};
    return origin;
}

bool origin_is_foreign(const struct origin *o) {
    if (!str_empty(o->sec_fetch_site))
        return !str_eq(o->sec_fetch_site, STR("same-origin")) &&
               !str_eq(o->sec_fetch_site, STR("none"));
    /* "null", from a page without an origin, is not our host either */
    return !str_empty(o->origin) && !str_eq_nocase(authority_of(o->origin), o->host);
}

/* Returns a host without ":8080"; the colons in "[::1]" stay. */
static struct str without_port(struct str host) {
    size_t end = host.n;
    while (end > 0 && host.p[end - 1] >= '0' && host.p[end - 1] <= '9')
        end--;
    if (end == 0 || end == host.n || host.p[end - 1] != ':')
        return host;
    return (struct str){host.p, end - 1};
}

bool origin_is_loopback(const struct origin *o) {
    const struct str host = without_port(o->host);
    return str_eq_nocase(host, STR("localhost")) || str_eq(host, STR("127.0.0.1")) ||
           str_eq(host, STR("[::1]"));
}
