/*
 * Opens listening sockets itself, not through libmicrohttpd, so that an error can name the failed
 * call, the address, and a remedy. Host names are not resolved, because a listener cannot follow a
 * name that changes its address.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct parts {
    char host[ADDRESS_TEXT_SIZE], port[8];
};

static int split(const char *address, struct parts *ret_parts, struct err *err) {
    static const char form[] = "expected host:port, such as 127.0.0.1:8443, [::1]:8443 or :8443";
    const char *colon = strrchr(address, ':');
    if (colon == NULL)
        return err_set(err, -EINVAL, "cannot listen on '%s': %s", address, form);
    struct str host = {address, (size_t)(colon - address)}, port = str_of(colon + 1);
    bool bracketed = host.n >= 2 && host.p[0] == '[' && host.p[host.n - 1] == ']';
    if (bracketed)
        host = (struct str){host.p + 1, host.n - 2};
    else if (str_find(host, ':') != SIZE_MAX)
        return err_set(err, -EINVAL, "cannot listen on '%s': put the IPv6 address in brackets",
                       address);
    int64_t number;
    if (!str_to_i64(port, &number) || number < 0 || number > 65535 || port.p[0] == '+')
        return err_set(err, -EINVAL,
                       "cannot listen on '%s': the port is not a number from 0 to 65535", address);
    if (host.n >= sizeof ret_parts->host || port.n >= sizeof ret_parts->port ||
        (bracketed && host.n == 0))
        return err_set(err, -EINVAL, "cannot listen on '%s': %s", address, form);
    (void)snprintf(ret_parts->host, sizeof ret_parts->host, "%.*s", (int)host.n, host.p);
    (void)snprintf(ret_parts->port, sizeof ret_parts->port, "%s", port.p);
    return 0;
}

static const char *advice(int errnum) {
    switch (errnum) {
    case EADDRINUSE:
        return "; stop the program that listens there, or choose another port";
    case EACCES:
        return "; ports below 1024 need privileges: choose a higher one";
    case EADDRNOTAVAIL:
        return "; this machine has no such address";
    default:
        return "";
    }
}

static int listen_at(const struct sockaddr *to, socklen_t length, int *ret_fd) {
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0)
        return -errno;
    const int on = 1, off = 0;
    /* Both are optional: they allow a restart right after a stop, and one socket for both families.
     */
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (to->sa_family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, to, length) != 0 || listen(fd, SOMAXCONN) != 0) {
        int r = -errno;
        (void)close(fd); /* nothing was sent on it */
        return r;
    }
    *ret_fd = fd;
    return 0;
}

struct target {
    struct sockaddr_storage address;
    socklen_t length;
};

/* Finds the addresses to try, in order. No host means every address of the machine: one IPv6 socket
 * for both families, or IPv4 if IPv6 is off. */
static int resolve(const char *address, const struct parts *parts, struct target targets[2],
                   size_t *ret_count, struct err *err) {
    static const char *const anywhere[] = {"::", "0.0.0.0"};
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV,
                                   .ai_socktype = SOCK_STREAM};
    size_t count = parts->host[0] == '\0' ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        struct addrinfo *found;
        if (getaddrinfo(count == 2 ? anywhere[i] : parts->host, parts->port, &hints, &found) != 0)
            return err_set(err, -EINVAL,
                           "cannot listen on '%s': '%s' is neither an IPv4 nor an IPv6 address "
                           "(names are not resolved)",
                           address, parts->host);
        memcpy(&targets[i].address, found->ai_addr, found->ai_addrlen);
        targets[i].length = found->ai_addrlen;
        freeaddrinfo(found);
    }
    *ret_count = count;
    return 0;
}

int address_listen(const char *address, char text[ADDRESS_TEXT_SIZE], int *ret_fd,
                   struct err *err) {
    struct parts parts;
    struct target targets[2];
    size_t count = 0;
    int fd = -1, r = split(address, &parts, err);
    if (r == 0)
        r = resolve(address, &parts, targets, &count, err);
    if (r != 0)
        return r;
    r = -EAFNOSUPPORT;
    for (size_t i = 0; i < count && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL); i++)
        r = listen_at((struct sockaddr *)&targets[i].address, targets[i].length, &fd);
    char why[128];
    if (r != 0)
        return err_set(err, r, "cannot listen on '%s': %s%s", address,
                       strerror_r(-r, why, sizeof why), advice(-r));
    struct sockaddr_storage bound = {0};
    socklen_t length = sizeof bound;
    (void)getsockname(fd, (struct sockaddr *)&bound, &length); /* a bound socket has a name */
    address_text((struct sockaddr *)&bound, text);
    *ret_fd = fd;
    return 0;
}

/* Converts the address of an IPv4 peer of an IPv6 socket to IPv4. Returns false for any other
 * address. */
static bool unmap(const struct sockaddr *address, struct sockaddr_in *ret_v4) {
    struct sockaddr_in6 v6;
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(&v6, address, sizeof v6);
    if (!IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr))
        return false;
    *ret_v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = v6.sin6_port};
    memcpy(&ret_v4->sin_addr, v6.sin6_addr.s6_addr + 12, 4);
    return true;
}

void address_text(const struct sockaddr *address, char text[ADDRESS_TEXT_SIZE]) {
    char host[ADDRESS_TEXT_SIZE - 10], port[8];
    struct sockaddr_in v4;
    if (unmap(address, &v4))
        address = (const struct sockaddr *)&v4;
    bool v6 = address->sa_family == AF_INET6;
    socklen_t length = v6 ? sizeof(struct sockaddr_in6) : sizeof v4;
    if ((!v6 && address->sa_family != AF_INET) ||
        getnameinfo(address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        (void)snprintf(text, ADDRESS_TEXT_SIZE, "unknown");
    else
        (void)snprintf(text, ADDRESS_TEXT_SIZE, v6 ? "[%s]:%s" : "%s:%s", host, port);
}

bool address_is_loopback(const struct sockaddr *address) {
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (unmap(address, &v4))
        return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
    if (address->sa_family == AF_INET6) {
        memcpy(&v6, address, sizeof v6);
        return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
    }
    if (address->sa_family != AF_INET)
        return false;
    memcpy(&v4, address, sizeof v4);
    return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
}

bool address_is_open(const char *address) {
    struct parts parts;
    struct target targets[2];
    size_t count = 0;
    struct err err;
    if (split(address, &parts, &err) != 0 || resolve(address, &parts, targets, &count, &err) != 0)
        return false;
    return !address_is_loopback((const struct sockaddr *)&targets[0].address);
}

bool address_is_valid(struct str address) {
    char text[ADDRESS_TEXT_SIZE];
    struct parts parts;
    struct target targets[2];
    size_t count = 0;
    struct err err;
    if (address.n >= sizeof text || str_find(address, '\0') != SIZE_MAX)
        return false;
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(address));
    if (split(text, &parts, &err) != 0)
        return false;
    bool has_interface = strchr(parts.host, '%') != NULL;
    return has_interface || resolve(text, &parts, targets, &count, &err) == 0;
}

struct address_key address_key(const struct sockaddr *address) {
    struct address_key key = {.bytes = {[10] = 0xff, [11] = 0xff}};
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    if (address->sa_family == AF_INET) {
        memcpy(&v4, address, sizeof v4);
        memcpy(key.bytes + 12, &v4.sin_addr, 4);
        return key;
    }
    if (address->sa_family != AF_INET6)
        return (struct address_key){.bytes = {0}};
    memcpy(&v6, address, sizeof v6);
    memcpy(key.bytes, &v6.sin6_addr, sizeof key.bytes);
    return key;
}

static bool is_v4(const struct address_key *key) {
    struct in6_addr v6;
    memcpy(&v6, key->bytes, sizeof v6);
    return IN6_IS_ADDR_V4MAPPED(&v6);
}

struct address_key address_key_network(struct address_key key) {
    const size_t kept = is_v4(&key) ? 15 : 8;
    memset(key.bytes + kept, 0, sizeof key.bytes - kept);
    return key;
}

struct address_key address_key_caller(struct address_key key) {
    return is_v4(&key) ? key : address_key_network(key);
}

void address_key_text(const struct address_key *key, char text[ADDRESS_TEXT_SIZE]) {
    const bool v4 = is_v4(key);
    if (inet_ntop(v4 ? AF_INET : AF_INET6, key->bytes + (v4 ? 12 : 0), text, ADDRESS_TEXT_SIZE) ==
        NULL)
        (void)snprintf(text, ADDRESS_TEXT_SIZE, "unknown"); /* cannot happen: the text has room */
}
