#include "cli/replicas.h"

#include "base/file.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { URL_BYTES = 512 };

/* ---- finding replicas ---- */

static int add(struct replicas *all, const char *server, struct err *err) {
    if (all->count == LIMIT_EXPLAINED_REPLICAS)
        return err_set(err, -E2BIG, "more than %d replicas", LIMIT_EXPLAINED_REPLICAS);
    struct replica *r = &all->items[all->count++];
    r->server = server;
    r->all = all;
    r->body.max = LIMIT_REQUEST_ARENA;
    return 0;
}

/* Reads "http://NAME:PORT" or "http://NAME" whose name should be resolved here. Not https, since
 * certificates are for names, and neither an IPv4 address nor "localhost". */
static bool read_url(const char *url, char name[static URL_BYTES], char port[static 8]) {
    struct str rest = str_of(url);
    const struct str scheme = STR("http://");
    if (!str_has_prefix(rest, scheme))
        return false;
    rest = (struct str){rest.p + scheme.n, rest.n - scheme.n};
    if (rest.n == 0 || rest.n >= URL_BYTES || rest.p[0] == '[' || str_find(rest, '/') != SIZE_MAX)
        return false;
    size_t colon = str_find(rest, ':');
    struct str host = {rest.p, colon == SIZE_MAX ? rest.n : colon};
    struct str number =
        colon == SIZE_MAX ? STR("80") : (struct str){rest.p + colon + 1, rest.n - colon - 1};
    struct in_addr literal;
    if (number.n == 0 || number.n >= 8)
        return false;
    (void)snprintf(name, URL_BYTES, "%.*s", STR_ARG(host));
    (void)snprintf(port, 8, "%.*s", STR_ARG(number));
    return inet_pton(AF_INET, name, &literal) != 1 && strcmp(name, "localhost") != 0;
}

static int add_address(struct replicas *all, const struct addrinfo *found, struct arena *arena,
                       struct err *err) {
    char host[NI_MAXHOST], port[NI_MAXSERV], url[NI_MAXHOST + NI_MAXSERV + 16];
    if (getnameinfo(found->ai_addr, found->ai_addrlen, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return 0; /* cannot happen: host and port are numeric */
    bool six = found->ai_family == AF_INET6;
    (void)snprintf(url, sizeof url, "http://%s%s%s:%s", six ? "[" : "", host, six ? "]" : "", port);
    const char *kept = arena_cstr(arena, str_of(url));
    return kept == NULL ? err_set(err, -ENOMEM, "no memory for the replicas") : add(all, kept, err);
}

/* A dual-stack Service has two addresses for each replica: addresses of one family are enough. */
static int add_all(struct replicas *all, const struct addrinfo *list, struct arena *arena,
                   struct err *err) {
    int family = AF_INET6, r = 0;
    for (const struct addrinfo *at = list; at != NULL; at = at->ai_next)
        if (at->ai_family == AF_INET)
            family = AF_INET;
    for (const struct addrinfo *at = list; r == 0 && at != NULL; at = at->ai_next)
        if (at->ai_family == family)
            r = add_address(all, at, arena, err);
    return r;
}

static int add_server(struct replicas *all, const char *server, struct arena *arena,
                      struct err *err) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char name[URL_BYTES], port[8];
    struct addrinfo *found;
    if (!read_url(server, name, port) || getaddrinfo(name, port, &hints, &found) != 0)
        return add(all, server, err);
    int r = add_all(all, found, arena, err);
    freeaddrinfo(found);
    return r;
}

int replicas_open(struct replicas *ret, const char *const *servers, uint32_t count,
                  struct arena *arena, struct err *err) {
    *ret = (struct replicas){.items =
                                 arena_array(arena, LIMIT_EXPLAINED_REPLICAS, sizeof *ret->items)};
    mutex_init(&ret->mutex);
    condition_init(&ret->answered);
    int r = ret->items == NULL ? err_set(err, -ENOMEM, "no memory for the replicas") : 0;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        r = add_server(ret, servers[i], arena, err);
    return r;
}

void replicas_done(struct replicas *all) {
    for (uint32_t i = 0; i < all->count; i++)
        strbuf_done(&all->items[i].body);
    condition_done(&all->answered);
    mutex_done(&all->mutex);
}

/* ---- asking ---- */

static void on_done(void *ctx, const struct kube_result *result) {
    struct replica *r = ctx;
    mutex_lock(&r->all->mutex);
    r->status = result->error == 0 ? result->status : 0;
    if (result->error != 0)
        (void)err_set(&r->error, result->error, "%s", result->error_text);
    strbuf_append_str(&r->body, result->body);
    if (r->status != 0 && strbuf_failed(&r->body)) {
        r->status = 0;
        (void)err_set(&r->error, -ENOMEM, "no memory for the answer");
    }
    r->all->waiting--;
    condition_signal(&r->all->answered);
    mutex_unlock(&r->all->mutex);
}

static void start(struct replica *r, const struct replica_question *q) {
    size_t max = r->body.max;
    strbuf_done(&r->body);
    r->body = (struct strbuf){.max = max};
    r->status = 0;
    r->client = NULL;
    r->access = (struct kube_access){
        .server = r->server, .source = "--server", .token_file = q->token_file};
    if (kube_client_new(&r->access, NULL, &r->client, &r->error) != 0)
        return;
    r->request = (struct kube_request){.method = q->method,
                                       .path = q->path,
                                       .body = q->body,
                                       .max_body = max,
                                       .timeout_ms = LIMIT_EXPLAINED_WAIT_MS,
                                       .on_done = on_done,
                                       .ctx = r};
    mutex_lock(&r->all->mutex);
    r->all->waiting++;
    mutex_unlock(&r->all->mutex);
    kube_request_start(r->client, &r->request);
}

void replicas_ask(struct replicas *all, uint32_t first, uint32_t count,
                  const struct replica_question *question) {
    for (uint32_t i = first; i < first + count; i++)
        start(&all->items[i], question);
    mutex_lock(&all->mutex);
    while (all->waiting > 0)
        condition_wait(&all->answered, &all->mutex);
    mutex_unlock(&all->mutex);
    for (uint32_t i = first; i < first + count; i++)
        kube_client_free(all->items[i].client);
}

int replicas_add_answer(struct replicas *all, const char *server, const char *file,
                        struct err *err) {
    int r = add(all, server, err);
    if (r != 0)
        return r;
    struct replica *added = &all->items[all->count - 1];
    if (file[0] == '\0') {
        (void)err_set(&added->error, -EIO, "it did not answer"); /* no failure here */
        return 0;
    }
    r = file_read(file, LIMIT_REQUEST_ARENA, &added->body, err);
    if (r == 0)
        added->status = added->body.n > 0 ? 200 : 404;
    return r;
}
