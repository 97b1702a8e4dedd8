/*
 * A conversation of grpc-go's client and server, recorded from Karmada's scheduler and estimator
 * (data/karmada/grpc_capture.txt): the client's half is played to a session, whose answers must be
 * those that were recorded, stream by stream: status, message, bytes. A line is "C>S HEX" or
 * "S>C HEX".
 */
#include "base/file.h"
#include "estimator/wire.h"
#include "grpc/session.h"

#include "unit/estimator/wire_bytes.h"
#include "unit/grpc/h2.h"

#include <stdio.h>

#define DATA "tests/conformance/data/karmada/grpc_capture.txt"
#define SERVICE "/github.com.karmada_io.karmada.pkg.estimator.service.Estimator/"

static const char *const member = "fake"; /* as when it was recorded, with 16 replicas to spare */

static bool is_member(struct str cluster, struct grpc_response *response) {
    if (str_eq(cluster, str_of(member)))
        return true;
    response->status = GRPC_UNKNOWN;
    (void)err_set(&response->err, -1, "cluster name does not match, got: %.*s, desire: %s",
                  STR_ARG(cluster), member);
    return false;
}

static void replicas(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    struct wire_replicas request;
    (void)ctx;
    assert_int_equal(wire_replicas_decode(q->message, q->arena, &request, NULL), 0);
    assert_int_equal(request.requirements.request_count, 1);
    assert_str(request.requirements.requests[0].text, "500m");
    if (is_member(request.cluster, response))
        wire_response_encode(16, WIRE_BYTES, &response->message);
}

static void unschedulable(void *ctx, const struct grpc_request *q, struct grpc_response *response) {
    struct wire_unschedulable request;
    (void)ctx;
    assert_int_equal(wire_unschedulable_decode(q->message, q->arena, &request, NULL), 0);
    if (!is_member(request.cluster, response))
        return;
    response->status = GRPC_UNKNOWN; /* there was none when it was recorded */
    (void)err_set(&response->err, -1, "no matches for kind \"%.*s\" in version \"%.*s\"",
                  STR_ARG(request.kind), STR_ARG(request.api_version));
}

static const struct grpc_method methods[] = {{"MaxAvailableReplicas", replicas},
                                             {"GetUnschedulableReplicas", unschedulable}};
static const struct grpc_service service = {.path = SERVICE, .methods = methods, .method_count = 2};

static void play(struct strbuf *text, struct h2_seen *recorded, struct h2_seen *ours) {
    struct clock_fake fake;
    struct grpc_budget budget = {.max = 1 << 20};
    struct grpc_session *session;
    struct err err;
    char *next = NULL;
    clock_fake_init(&fake, 0);
    assert_int_equal(grpc_session_new(&service, &fake.clock, &budget, &session, &err), 0);
    for (char *line = strtok_r(text->p, "\n", &next); line != NULL;
         line = strtok_r(NULL, "\n", &next)) {
        CLEANUP(strbuf_done) struct strbuf bytes = {0};
        hex_append(line + 4, &bytes);
        if (line[0] == 'S') {
            h2_see(recorded, strbuf_str(&bytes));
            continue;
        }
        assert_int_equal(grpc_session_receive(session, strbuf_str(&bytes), &err), 0);
        const struct str out = grpc_session_output(session);
        h2_see(ours, out);
        grpc_session_sent(session, out.n);
    }
    assert_int_equal(grpc_session_calls(session), 0);
    grpc_session_free(session);
}

static void the_answers_are_those_that_were_recorded(void **state) {
    static struct h2_seen recorded, ours;
    CLEANUP(strbuf_done) struct strbuf text = {.max = 1 << 20};
    struct err err;
    size_t answers = 0;
    (void)state;
    if (file_read(DATA, 1 << 20, &text, &err) != 0)
        fail_msg("%s", err.text);
    strbuf_append_char(&text, '\0');
    play(&text, &recorded, &ours);
    for (size_t i = 0; i < H2_STREAMS; i++) {
        const struct h2_answer *a = &ours.answers[i], *b = &recorded.answers[i];
        if (!b->ended)
            continue;
        answers++;
        print_message("# stream %zu: status %s '%s'\n", 2 * i + 1, b->grpc_status, b->grpc_message);
        assert_string_equal(a->status, b->status);
        assert_string_equal(a->type, b->type);
        assert_string_equal(a->grpc_status, b->grpc_status);
        assert_string_equal(a->grpc_message, b->grpc_message);
        assert_int_equal(a->header_frames, b->header_frames);
        assert_int_equal(a->body_length, b->body_length);
        assert_memory_equal(a->body, b->body, b->body_length);
        assert_true(a->ended);
        assert_false(a->reset);
    }
    assert_int_equal(answers, 5);
    h2_seen_done(&recorded);
    h2_seen_done(&ours);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_answers_are_those_that_were_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
