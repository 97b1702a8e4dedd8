#include "unit/daemon/secrets.h"

#include "base/metrics.h"
#include "unit/unit.h"

void secrets_fixture_init(struct secrets_fixture *f) {
    struct err err;
    *f = (struct secrets_fixture){.client = NULL};
    api_init(&f->api);
    f->access = (struct kube_access){.server = f->api.url, .namespace = "ns", .source = "the test"};
    assert_int_equal(kube_client_new(&f->access, NULL, &f->client, &err), 0);
    const struct writer_options writer = {.client = f->client};
    assert_int_equal(writer_new(&writer, &f->writer, &err), 0);
    configuration_init(&f->configuration);
    served_init(&f->served);
}

void secrets_fixture_done(struct secrets_fixture *f) {
    writer_free(f->writer);
    kube_client_free(f->client);
    configuration_done(&f->configuration);
    served_done(&f->served);
    api_call_done(&f->watches[0]);
    api_call_done(&f->watches[1]);
    api_call_done(&f->call);
    api_done(&f->api);
    metrics_reset();
}

void secrets_take_watches(struct secrets_fixture *f, const char *const paths[static 2], int count) {
    for (int i = 0; i < count; i++) {
        api_take(&f->api, &f->call);
        int of = str_has_prefix(f->call.path, str_of(paths[0])) ? 0 : 1;
        assert_true(str_has_prefix(f->call.path, str_of(paths[of])));
        assert_null(f->watches[of].text.p);
        f->watches[of] = f->call;
        f->call = (struct api_call){0};
    }
}

void secrets_expect(struct secrets_fixture *f, const char *method, const char *path) {
    for (;;) {
        api_take(&f->api, &f->call);
        if (!str_has_prefix(f->call.path, STR("/apis/events.k8s.io/v1/")))
            break;
        api_answer(&f->call, 201, "", "{}");
    }
    assert_str(f->call.method, method);
    assert_str(f->call.path, path);
}

void secrets_deliver(struct api_call *watch, const char *type, struct str object,
                     const char *version) {
    static const char metadata[] = "\"metadata\":{";
    struct strbuf text = {0};
    if (object.p == NULL)
        fail_msg("nothing was sent to us");
    const char *at = memmem(object.p, object.n, metadata, sizeof metadata - 1);
    assert_non_null(at);
    size_t n = (size_t)(at - object.p) + sizeof metadata - 1;
    strbuf_appendf(&text, "{\"type\":\"%s\",\"object\":", type);
    strbuf_append(&text, object.p, n);
    strbuf_appendf(&text, "\"resourceVersion\":\"%s\",", version);
    strbuf_append(&text, object.p + n, object.n - n);
    strbuf_append_str(&text, STR("}\n"));
    strbuf_append_char(&text, '\0');
    assert_false(strbuf_failed(&text));
    assert_true(text.p != NULL && api_say(watch, text.p));
    strbuf_done(&text);
}
