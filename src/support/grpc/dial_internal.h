/* A dialer and its peers, for dial.c (the thread and its queue of orders) and peer.c (one
 * connection). */
#pragma once

#include "base/limits.h"
#include "base/list.h"
#include "base/mutex.h"
#include "grpc/dial.h"
#include "grpc/stream.h"
#include "net/lookup.h"

struct order;

struct grpc_dialer {
    struct grpc_dial_tls tls;
    struct clock *clock;
    struct grpc_budget budget;
    pthread_t thread;
    bool started;
    int poll_fd, wake_fd;
    struct list peers; /* used by the dialer's thread only, like the next two */
    struct grpc_dial_credentials *credentials; /* NULL: not read yet, or plaintext */
    int64_t credentials_ms;

    struct mutex lock;  /* guards the next three, and each peer's report */
    struct list orders; /* struct order of dial.c, oldest first */
    size_t order_count; /* number of calls among the orders */
    bool stopping;
    struct condition changed; /* signalled when a peer's report changes */
};

struct grpc_peer {
    struct list link;
    struct grpc_dialer *dialer;
    char addresses[GRPC_PEER_ADDRESSES][LIMIT_GRPC_ADDRESS];
    size_t address_count;
    struct grpc_peer_report report;
    struct order *removal; /* owned until grpc_peer_remove() queues it */

    /* The members below are used by the dialer's thread only: */
    enum grpc_peer_stage stage;
    size_t address; /* index of the address that is tried */
    bool is_queued; /* it waits for a place to look up the address's name */
    char host[LOOKUP_HOST_SIZE], port[LOOKUP_PORT_SIZE];
    struct lookup *lookup;
    struct lookup_found found;
    size_t next_found;              /* index of the item in `found` that is tried next */
    enum grpc_peer_stage failed_at; /* in this try, like `failure` */
    struct err failure;
    int fd; /* a connection that `stream` does not own yet, or -1 */
    struct grpc_stream *stream;
    struct grpc_client *client;
    uint32_t waits_for;
    int64_t due_ms; /* when the peer must act without an event; INT64_MAX: never */
};

/* ---- peer.c ---- */

/* Does the peer's next steps. Call it after an event of the descriptor, at due_ms, or when any
 * look-up has ended. */
void grpc_peer_go_on(struct grpc_peer *p, bool has_event);
void grpc_peer_begin(struct grpc_peer *p);
/* Ends the connection and its calls. */
void grpc_peer_disconnect(struct grpc_peer *p);
