/* A connection's bytes, without TLS; with it, the listener's tests and integration tests. */
#include "grpc/stream.h"

#include "base/limits.h"

#include "unit/unit.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* Two answers in a row, of which the second would wait for the first one's acknowledgement. */
static void a_stream_sends_at_once(void **state) {
    struct grpc_stream *s = NULL;
    struct err err;
    int on = 0;
    socklen_t length = sizeof on;
    (void)state;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    assert_int_equal(grpc_stream_open(fd, NULL, &s, &err), 0);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    assert_int_not_equal(on, 0);
    grpc_stream_close(s);
}

/* Both sides: a peer that is gone without a word is noticed. */
static void a_peer_that_is_gone_is_noticed(void **state) {
    struct grpc_stream *s = NULL;
    struct err err;
    (void)state;
    for (int dials = 0; dials < 2; dials++) {
        int on = 0, idle_s = 0, unsent_ms = 0;
        socklen_t length = sizeof on;
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        assert_true(fd >= 0);
        const int r = dials ? grpc_stream_dial(fd, NULL, "host", &s, &err)
                            : grpc_stream_open(fd, NULL, &s, &err);
        assert_int_equal(r, 0);
        assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &length), 0);
        assert_int_not_equal(on, 0);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, &length), 0);
        assert_true(idle_s <= 60);
        assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unsent_ms, &length), 0);
        assert_int_equal(unsent_ms, LIMIT_GRPC_GONE_MS);
        grpc_stream_close(s);
    }
}

/* Without TCP, as between two programs of one machine. */
static void a_stream_of_another_kind_works(void **state) {
    struct grpc_stream *s = NULL;
    struct err err;
    int both[2];
    char got[4];
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both), 0);
    assert_int_equal(grpc_stream_open(both[0], NULL, &s, &err), 0);
    assert_int_equal(grpc_stream_handshake(s, &err), 0);
    assert_int_equal(grpc_stream_read(s, got, sizeof got), -EAGAIN);
    assert_int_equal(grpc_stream_write(s, "abc", 3), 3);
    assert_int_equal(read(both[1], got, sizeof got), 3);
    assert_memory_equal(got, "abc", 3);
    assert_false(grpc_stream_has_more(s));
    (void)close(both[1]);
    assert_int_equal(grpc_stream_read(s, got, sizeof got), 0);
    grpc_stream_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_sends_at_once),
        cmocka_unit_test(a_peer_that_is_gone_is_noticed),
        cmocka_unit_test(a_stream_of_another_kind_works),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
