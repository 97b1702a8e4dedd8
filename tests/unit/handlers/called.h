/*
 * The extender's handlers, called without a listener, on a small cluster: nodes a and b are in
 * zone1, x and y in zone2, and one pod with the label foo is on a.
 */
#pragma once

#include "handlers/extender.h"
#include "unit/cluster_builder.h"

/* "default/web", which must not make the zones differ by more than one. */
#define CALLED_POD                                                                                 \
    "{\"metadata\":{\"name\":\"web\",\"namespace\":\"default\",\"uid\":\"u\",\"labels\":{"         \
    "\"foo\":\"\"}},\"spec\":{\"topologySpreadConstraints\":[{\"maxSkew\":1,\"topologyKey\":"      \
    "\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{\"matchLabels\":{"        \
    "\"foo\":\"\"}}}]}}"
#define CALLED_NODES(names) "{\"Pod\":" CALLED_POD ",\"NodeNames\":[" names "]}"

struct called {
    struct cluster c; /* reservations last 1000 ms */
    struct extender x;
    struct arena arena; /* memory of the last request */
    struct http_response response;
    bool from_elsewhere; /* true: requests come from another machine */
    struct str client;   /* the verified name of the client; "": no certificate */
};

/* Makes the cluster; its cache is ready, and requests make no reservations. */
void called_init(struct called *called);
void called_done(struct called *called);

/* Calls a handler; its answer is in called->response until the next call. */
void call_handler(struct called *called, http_handler_fn *handle, const char *body);
/* The same as call_handler(); the answer must be equal to `answer`. */
void call_expecting(struct called *called, http_handler_fn *handle, const char *body, int status,
                    const char *answer);
