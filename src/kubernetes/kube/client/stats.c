#include "kube/client/stats.h"

#include "base/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENT_METHODS = 6, CLIENT_CODES = 16 };

struct client_stats {
    char host[300];
    char server[40]; /* ',server="hub"', or "" */
    struct metric duration[CLIENT_METHODS], requests[CLIENT_METHODS][CLIENT_CODES];
    char duration_labels[CLIENT_METHODS][400], labels[CLIENT_METHODS][CLIENT_CODES][440];
};

/* The last row of each table stands for all values without a row. */
static const char *const methods[CLIENT_METHODS] = {"GET",   "POST",   "PUT",
                                                    "PATCH", "DELETE", "other"};
static const struct {
    int status;
    const char *text;
} codes[CLIENT_CODES] = {{0, "<error>"}, {200, "200"}, {201, "201"}, {400, "400"},
                         {401, "401"},   {403, "403"}, {404, "404"}, {405, "405"},
                         {409, "409"},   {410, "410"}, {422, "422"}, {429, "429"},
                         {500, "500"},   {503, "503"}, {504, "504"}, {-1, "other"}};

/* Copies "host:port" of a URL, up to the first character that a label may not have. */
static void copy_host(const char *server, char *out, size_t size) {
    const char *begin = strstr(server, "://");
    size_t n = 0;
    begin = begin != NULL ? begin + 3 : server;
    while (n < size - 1 && begin[n] != '\0' && strchr("/\"\\\n", begin[n]) == NULL) {
        out[n] = begin[n];
        n++;
    }
    out[n] = '\0';
}

static void add_method(struct client_stats *s, int m) {
    (void)snprintf(s->duration_labels[m], sizeof s->duration_labels[m], "verb=\"%s\",host=\"%s\"%s",
                   methods[m], s->host, s->server);
    s->duration[m] = (struct metric){.name = "rest_client_request_duration_seconds",
                                     .help = "Requests to the API server, except watches.",
                                     .labels = s->duration_labels[m],
                                     .kind = METRIC_HISTOGRAM,
                                     .hide_zero = true};
    metric_register(&s->duration[m]);
    for (int i = 0; i < CLIENT_CODES; i++) {
        (void)snprintf(s->labels[m][i], sizeof s->labels[m][i],
                       "code=\"%s\",method=\"%s\",host=\"%s\"%s", codes[i].text, methods[m],
                       s->host, s->server);
        s->requests[m][i] = (struct metric){.name = "rest_client_requests_total",
                                            .help = "Requests to the API server, by its answer.",
                                            .labels = s->labels[m][i],
                                            .hide_zero = true};
        metric_register(&s->requests[m][i]);
    }
}

struct client_stats *client_stats_new(const char *server, const char *role) {
    struct client_stats *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    copy_host(server, s->host, sizeof s->host);
    if (role != NULL)
        (void)snprintf(s->server, sizeof s->server, ",server=\"%s\"", role); /* our own names: it
                                                                                fits */
    for (int m = 0; m < CLIENT_METHODS; m++)
        add_method(s, m);
    return s;
}

void client_stats_free(struct client_stats *s) {
    if (s == NULL)
        return;
    for (int m = 0; m < CLIENT_METHODS; m++) {
        metric_unregister(&s->duration[m]);
        for (int i = 0; i < CLIENT_CODES; i++)
            metric_unregister(&s->requests[m][i]);
    }
    free(s);
}

void client_stats_count(struct client_stats *s, const struct kube_request *request,
                        const struct kube_result *result, int64_t duration_ms) {
    int m = 0, i = 0;
    while (m < CLIENT_METHODS - 1 && strcmp(methods[m], request->method) != 0)
        m++;
    while (i < CLIENT_CODES - 1 && codes[i].status != result->status)
        i++;
    metric_add(&s->requests[m][i], 1);
    if (strstr(request->path, "watch=1") == NULL)
        metric_observe_ns(&s->duration[m], duration_ms * 1000000);
}
