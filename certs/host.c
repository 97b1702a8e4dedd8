#include "certs/host.h"

#include <arpa/inet.h>
#include <errno.h>

static bool parse_address(struct str text, struct host *ret) {
    if (text.n >= 2 && text.p[0] == '[' && text.p[text.n - 1] == ']')
        text = (struct str){text.p + 1, text.n - 2};
    char copy[INET6_ADDRSTRLEN];
    if (text.n >= sizeof copy || str_find(text, '\0') != SIZE_MAX)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = (struct host){.kind = HOST_IP};
    if (inet_pton(AF_INET, copy, ret->bytes) == 1)
        ret->n = sizeof(struct in_addr);
    else if (inet_pton(AF_INET6, copy, ret->bytes) == 1)
        ret->n = sizeof(struct in6_addr);
    return ret->n > 0;
}

static bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Checks a label by RFC 1123: letters, digits and inner hyphens, at most 63 bytes. */
static bool is_label(struct str label) {
    if (label.n == 0 || label.n > 63 || !is_alphanumeric(label.p[0]) ||
        !is_alphanumeric(label.p[label.n - 1]))
        return false;
    for (size_t i = 0; i < label.n; i++)
        if (!is_alphanumeric(label.p[i]) && label.p[i] != '-')
            return false;
    return true;
}

/* A name whose last label is a number is a mistyped address ("10.0.0", "300.1.1.1"). */
static bool is_number(struct str label) {
    for (size_t i = 0; i < label.n; i++)
        if (label.p[i] < '0' || label.p[i] > '9')
            return false;
    return true;
}

static bool parse_name(struct str text, struct host *ret) {
    if (text.n == 0 || text.n > HOST_DNS_MAX)
        return false;
    *ret = (struct host){.kind = HOST_DNS, .n = text.n};
    for (size_t i = 0; i < text.n; i++)
        ret->bytes[i] = (char)(text.p[i] >= 'A' && text.p[i] <= 'Z' ? text.p[i] | 0x20 : text.p[i]);
    struct str rest = {ret->bytes, ret->n};
    if (str_has_prefix(rest, STR("*.")))
        rest = (struct str){rest.p + 2, rest.n - 2};
    for (;;) {
        size_t dot = str_find(rest, '.');
        struct str label = {rest.p, dot == SIZE_MAX ? rest.n : dot};
        if (!is_label(label))
            return false;
        if (dot == SIZE_MAX)
            return !is_number(label);
        rest = (struct str){rest.p + dot + 1, rest.n - dot - 1};
    }
}

int host_parse(struct str text, struct host *ret, struct err *err) {
    struct host host;
    if (!parse_address(text, &host) && !parse_name(text, &host)) {
        const char *hint = str_find(text, '/') != SIZE_MAX   ? "; leave out the scheme and the path"
                           : str_find(text, ':') != SIZE_MAX ? "; leave out the port"
                                                             : "";
        return err_set(err, -EINVAL, "host '%.*s' is neither a DNS name nor an IP address%s",
                       STR_ARG(text), hint);
    }
    *ret = host;
    return 0;
}
