#include "net/door.h"

#include "base/limits.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static const char *const reasons[SLOTS_EVICTIONS] = {
    [SLOTS_ALL] = "all", [SLOTS_ADDRESS] = "address", [SLOTS_BYTES] = "bytes"};

static void add(struct metric *m, struct metric as, const char *labels) {
    *m = as;
    m->labels = labels;
    metric_register(m);
}

static void add_metrics(struct door *d) {
    int n = snprintf(d->labels, sizeof d->labels, "listener=\"%s\"", d->options.listener);
    assert(n > 0 && n < DOOR_LABELS);
    add(&d->connections,
        (struct metric){
            .name = "evenkeel_http_connections", .help = "Open connections.", .kind = METRIC_GAUGE},
        d->labels);
    add(&d->deadline_closes,
        (struct metric){.name = "evenkeel_http_deadline_closes_total",
                        .help = "Connections closed because a handshake, headers, a body, the "
                                "reading of an answer or the next request took too long."},
        d->labels);
    for (int i = 0; i < SLOTS_EVICTIONS; i++) {
        n = snprintf(d->reason_labels[i], DOOR_LABELS, "%s,reason=\"%s\"", d->labels, reasons[i]);
        assert(n > 0 && n < DOOR_LABELS);
        if (i < SLOTS_REASONS)
            add(&d->refused[i],
                (struct metric){.name = "evenkeel_http_connections_refused_total",
                                .help = "New connections closed because of a limit."},
                d->reason_labels[i]);
        add(&d->evicted[i],
            (struct metric){.name = "evenkeel_http_connections_evicted_total",
                            .help = "Connections closed to make room for another."},
            d->reason_labels[i]);
    }
}

int door_open(struct door *d, const struct door_options *options, struct err *err) {
    const unsigned part =
        options->asks_for_certificates ? options->connections / LIMIT_RESERVED_PART : 0;
    d->options = *options;
    d->scarce_fd = slots_scarce_fd();
    d->slots = slots_new(&(struct slots_limits){.connections = options->connections,
                                                .per_address = options->per_address,
                                                .reserved = part,
                                                .scarce_fd = d->scarce_fd});
    if (d->slots == NULL)
        return err_set(err, -ENOMEM, "no memory for connections");
    add_metrics(d);
    return 0;
}

void door_close(struct door *d) {
    metric_unregister(&d->connections);
    metric_unregister(&d->deadline_closes);
    for (int i = 0; i < SLOTS_REASONS; i++)
        metric_unregister(&d->refused[i]);
    for (int i = 0; i < SLOTS_EVICTIONS; i++)
        metric_unregister(&d->evicted[i]);
    slots_free(d->slots);
}

bool door_admit(struct door *d, int fd, const struct sockaddr *peer) {
    const struct slots_entry entry = slots_enter(d->slots, fd, peer);
    char text[ADDRESS_TEXT_SIZE];
    if (d->scarce_fd > 0 && fd >= d->scarce_fd)
        LOG_W("few files may still be opened", LOG_CSTR("listener", d->options.listener),
              LOG_CSTR("advice", "raise the limit of open files (ulimit -n, LimitNOFILE=) or lower "
                                 "limits.connections"));
    if (entry.evicted) {
        address_key_text(&entry.whose, text);
        metric_add(&d->evicted[entry.reason], 1);
        LOG_W("connection closed to make room for another",
              LOG_CSTR("listener", d->options.listener), LOG_CSTR("peer", text));
    }
    if (entry.admitted)
        return true;
    (void)close(fd); /* nothing was read or written */
    address_text(peer, text);
    metric_add(&d->refused[entry.reason], 1);
    LOG_W("connection refused: too many are open", LOG_CSTR("listener", d->options.listener),
          LOG_CSTR("peer", text), LOG_INT("limit", d->options.connections),
          LOG_INT("limit_per_address", d->options.per_address));
    return false;
}

void door_turn_back(struct door *d, int fd) {
    slots_leave(d->slots, fd);
    LOG_W("connection refused: no memory", LOG_CSTR("listener", d->options.listener));
}

bool door_evict_holder(struct door *d, const struct slot *slot, size_t wanted) {
    struct slots_entry entry;
    char text[ADDRESS_TEXT_SIZE];
    if (!slots_evict_holder(d->slots, slot, wanted, &entry))
        return false;
    address_key_text(&entry.whose, text);
    metric_add(&d->evicted[entry.reason], 1);
    LOG_W("connection closed: the memory that it held is needed for other connections",
          LOG_CSTR("listener", d->options.listener), LOG_CSTR("peer", text),
          LOG_CSTR("advice", "clients sent large bodies or read large answers slowly; let in only "
                             "clients that need access: set clientCAFile, or use a NetworkPolicy"));
    return true;
}

/* Sequentially consistent, because a thread that waits for the last connection sets its flag and
 * then reads this count. */
int64_t door_count(struct door *d, int64_t change) {
    return atomic_fetch_add(&d->connections.value, change) + change;
}

void door_count_late(void *door) {
    struct door *d = door;
    metric_add(&d->deadline_closes, 1);
}
