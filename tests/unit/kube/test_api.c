/* The fake API server keeps its port while nobody listens there. */
#include "unit/kube/api.h"
#include "unit/unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int taking(int fd, const struct sockaddr *at, socklen_t n);

/* The error of a socket's bind() or connect() at the API server's port; 0: none. */
static int error_of(taking *take, const struct api *api) {
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons(api->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    const int error = take(fd, (const struct sockaddr *)&at, sizeof at) == 0 ? 0 : errno;
    assert_int_equal(close(fd), 0);
    return error;
}

static void test_the_port_is_kept(void **state) {
    (void)state;
    struct api api;
    char url[sizeof api.url];
    api_init(&api);
    memcpy(url, api.url, sizeof url);
    assert_int_equal(error_of(connect, &api), 0);
    api_deafen(&api);
    assert_int_equal(error_of(connect, &api), ECONNREFUSED);
    assert_int_equal(error_of(bind, &api), EADDRINUSE);
    api_listen(&api);
    assert_string_equal(api.url, url);
    assert_int_equal(error_of(connect, &api), 0);
    api_done(&api);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_port_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
