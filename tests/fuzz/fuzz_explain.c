/*
 * Any bytes as a question to POST /explain: it is refused with a sentence, or there is a pod, and
 * policies in their order. Whatever the pod's condition says, there is a sentence about it.
 */
#include "explain/pending.h"
#include "explain/question.h"
#include "fuzz/fuzz.h"

static void check(const struct explain_question *q) {
    require(!str_empty(q->text) && q->text.p[0] == '{');
    require(!str_empty(q->pod.meta.namespace));
    require(q->nodes.count <= LIMIT_NODE_NAMES && (q->nodes.count == 0 || q->has_nodes));
    require(q->policies.count <= LIMIT_POLICIES && (q->policies.count == 0 || q->has_policies));
    for (uint32_t i = 1; i < q->policies.count; i++)
        require(q->policies.items[i - 1].priority >= q->policies.items[i].priority);
}

static void explain(const struct explain_question *q, struct arena *arena) {
    char bytes[LIMIT_EXPLAINED_CAUSE];
    struct strbuf text = {.p = bytes, .cap = sizeof bytes, .max = sizeof bytes};
    struct pod_state state;
    struct err err = {0};
    if (pod_state_decode(q->text, arena, &state, &err) != 0)
        return;
    const struct pending_question question = {.state = &state, .pod = &q->pod};
    require(pending_say(&question, &text)[0] != '\0');
    require(text.n > 0 && text.n <= sizeof bytes);
}

static int try_input(const uint8_t *bytes, size_t n) {
    struct arena arena;
    struct explain_question question;
    struct err err = {0};
    arena_init(&arena, 64u << 20);
    if (explain_question_decode((struct str){(const char *)bytes, n}, &arena, &question, &err) ==
        0) {
        check(&question);
        explain(&question, &arena);
    } else {
        require(err.code < 0 && err.text[0] != '\0');
    }
    arena_done(&arena);
    return 0;
}
