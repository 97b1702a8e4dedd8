/* Requests that browsers send for web pages, told from programs'. Headers as the Fetch standard and
 * RFC 6454 have browsers send them. */
#include "http/origin.h"

#include "unit/unit.h"

static struct origin of(const char *host, const char *origin, const char *site) {
    return (struct origin){str_of(host), str_of(origin), str_of(site)};
}

static void pages_of_other_sites(void **state) {
    (void)state;
    static const struct {
        const char *host, *origin, *site;
        bool foreign;
    } cases[] = {
        {"127.0.0.1:8080", "", "", false},     /* a program */
        {"127.0.0.1:8080", "", "none", false}, /* typed into the address bar */
        {"127.0.0.1:8080", "http://127.0.0.1:8080", "same-origin", false},
        {"127.0.0.1:8080", "http://127.0.0.1:8080", "", false}, /* an older browser */
        {"LOCALHOST:8080", "http://localhost:8080", "", false},
        {"127.0.0.1:8080", "https://evil.example.com", "cross-site", true},
        {"127.0.0.1:8080", "", "cross-site", true}, /* an image, say */
        {"127.0.0.1:8080", "", "same-site", true},  /* another port is another page */
        {"127.0.0.1:8080", "https://evil.example.com", "", true},
        {"127.0.0.1:8080", "http://127.0.0.1:9090", "", true},
        {"127.0.0.1:8080", "null", "", true}, /* a sandboxed frame */
        {"127.0.0.1:8080", "", "of course", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct origin o = of(cases[i].host, cases[i].origin, cases[i].site);
        if (origin_is_foreign(&o) != cases[i].foreign)
            fail_msg("%s, %s, %s", cases[i].host, cases[i].origin, cases[i].site);
    }
}

static void names_of_this_machine(void **state) {
    (void)state;
    static const char *const ours[] = {"localhost", "localhost:8080", "LocalHost:1",
                                       "127.0.0.1", "127.0.0.1:8080", "[::1]",
                                       "[::1]:8080"};
    static const char *const others[] = {"",
                                         "evil.example.com",
                                         "evil.example.com:8080",
                                         "127.0.0.1.example.com",
                                         "localhost.example.com:8080",
                                         "localhost:",
                                         "localhost:80x",
                                         "::1",
                                         "127.0.0.2:8080",
                                         ":8080",
                                         "127.0.0.1:8080 "};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        const struct origin o = of(ours[i], "", "");
        if (!origin_is_loopback(&o))
            fail_msg("%s", ours[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct origin o = of(others[i], "", "");
        if (origin_is_loopback(&o))
            fail_msg("%s", others[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_other_sites),
        cmocka_unit_test(names_of_this_machine),
    };
    return cmocka_run_group_tests_name("origin", tests, NULL, NULL);
}
