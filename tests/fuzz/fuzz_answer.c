/*
 * Any JSON document as the answer of a daemon, printed for people as each command does. Nothing
 * that is printed moves a terminal's cursor, and the same answer is printed the same again.
 */
#include "fuzz/fuzz.h"

#include "cli/binding_print.h"
#include "cli/explanation.h"
#include "cli/placement_print.h"
#include "cli/placing_print.h"
#include "cli/simulation_print.h"
#include "cli/workloads.h"
#include "cli/workloads_internal.h"

static void print_decisions(const struct value *root, struct strbuf *out) {
    static const struct subject web = {.kind = {"Pod", 3}, .namespace = {"n", 1}, .name = {"p", 1}};
    explanation_print(root, &web, out);
}

static bool is_text(struct str text) {
    for (size_t i = 0; i < text.n; i++) {
        const unsigned char c = (unsigned char)text.p[i];
        const unsigned char next = i + 1 < text.n ? (unsigned char)text.p[i + 1] : 0;
        if ((c < 0x20 && c != '\n') || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0))
            return false;
    }
    return true;
}

static void print_twice(struct str json, answer_print_fn *print) {
    const struct workloads_request request = {.max_skew = -1};
    struct strbuf first = {0}, second = {0};
    struct err err;
    const int r = answer_print(json, print, &request, &first, &err);
    require(answer_print(json, print, &request, &second, &err) == r);
    require(r != 0 || is_text(strbuf_str(&first)));
    require(r != 0 || str_eq(strbuf_str(&first), strbuf_str(&second)));
    strbuf_done(&first);
    strbuf_done(&second);
}

static int try_input(const uint8_t *bytes, size_t n) {
    static answer_print_fn *const prints[] = {
        binding_print, explanation_print_list, print_decisions,     placement_print,
        placing_print, simulation_print,       workloads_print_all, workloads_print_each};
    for (size_t i = 0; i < sizeof prints / sizeof prints[0]; i++)
        print_twice((struct str){(const char *)bytes, n}, prints[i]);
    return 0;
}
