#include "bench/cluster.h"

enum { IMAGES = 36 };

static const char *const regions[] = {"eu-west-1", "eu-central-1", "us-east-1", "us-west-2"};

static const struct machine {
    const char *family, *size;
    unsigned cpus, memory_gib;
} machines[] = {
    {"m6i", "4xlarge", 16, 64},  {"m6i", "8xlarge", 32, 128}, {"c6i", "4xlarge", 16, 32},
    {"r6i", "4xlarge", 16, 128}, {"m7a", "2xlarge", 8, 32},
};

/* What the parts of one node are made of. */
struct parts {
    uint32_t node;
    const char *region;
    char letter; /* of the zone */
    const struct machine *machine;
    unsigned address[3]; /* behind the 10. */
};

/* splitmix64 */
uint64_t cluster_hash(uint64_t of) {
    uint64_t x = of + 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void cluster_put_uid(uint64_t of, struct strbuf *out) {
    uint64_t a = cluster_hash(of), b = cluster_hash(~of);
    strbuf_appendf(out, "\"%08x-%04x-4%03x-%04x-%012llx\"", (unsigned)(a >> 32),
                   (unsigned)(a >> 16 & 0xffff), (unsigned)(a & 0xfff),
                   (unsigned)(0x8000 | (b >> 48 & 0x3fff)),
                   (unsigned long long)(b & 0xffffffffffffu));
}

static struct parts parts_of(uint32_t node) {
    uint32_t zone = node % CLUSTER_ZONES, in_zone = node / CLUSTER_ZONES;
    return (struct parts){
        .node = node,
        .region = regions[zone / 3],
        .letter = (char)('a' + zone % 3),
        .machine = &machines[cluster_hash(node) % (sizeof machines / sizeof machines[0])],
        .address = {zone, in_zone / 250, in_zone % 250},
    };
}

static void put_name(const struct parts *p, struct strbuf *out) {
    strbuf_appendf(out, "ip-10-%u-%u-%u.%s.compute.internal", p->address[0], p->address[1],
                   p->address[2], p->region);
}

void cluster_node_name(uint32_t node, struct strbuf *out) {
    struct parts parts = parts_of(node);
    put_name(&parts, out);
}

static void put_zone_label(const char *key, const struct parts *p, struct strbuf *out) {
    strbuf_appendf(out, "\"%s\":\"%s%c\",", key, p->region, p->letter);
}

static void put_labels(const struct parts *p, struct strbuf *out) {
    const struct machine *m = p->machine;
    strbuf_appendf(out,
                   "{\"beta.kubernetes.io/arch\":\"amd64\",\"beta.kubernetes.io/os\":\"linux\","
                   "\"beta.kubernetes.io/instance-type\":\"%s.%s\",\"example.com/capacity-type\":"
                   "\"%s\",\"example.com/cpu-count\":\"%u\",\"example.com/image\":\"node-2025.09\","
                   "\"example.com/memory-gib\":\"%u\",\"example.com/node-group\":\"general-%c\","
                   "\"example.com/owner\":\"platform\",\"kubernetes.io/hostname\":\"",
                   m->family, m->size, cluster_hash(p->node + 7) % 4 == 0 ? "spot" : "on-demand",
                   m->cpus, m->memory_gib, p->letter);
    put_name(p, out);
    strbuf_append_str(out, STR("\","));
    put_zone_label("failure-domain.beta.kubernetes.io/zone", p, out);
    put_zone_label("topology.kubernetes.io/zone", p, out);
    put_zone_label("topology.storage.example.com/zone", p, out);
    strbuf_appendf(out,
                   "\"failure-domain.beta.kubernetes.io/region\":\"%s\","
                   "\"topology.kubernetes.io/region\":\"%s\",\"topology.example.com/rack\":"
                   "\"%s%c-%u\",\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/os\":\"linux\","
                   "\"node.kubernetes.io/instance-family\":\"%s\","
                   "\"node.kubernetes.io/instance-type\":\"%s.%s\"}",
                   p->region, p->region, p->region, p->letter, p->node / CLUSTER_ZONES / 20,
                   m->family, m->family, m->size);
}

static void put_resources(const char *name, const struct machine *m, unsigned mib_per_gib,
                          struct strbuf *out) {
    strbuf_appendf(out,
                   "\"%s\":{\"cpu\":\"%u\",\"ephemeral-storage\":\"95551679124\","
                   "\"hugepages-1Gi\":\"0\",\"hugepages-2Mi\":\"0\",\"memory\":\"%uKi\",\"pods\":"
                   "\"110\"},",
                   name, m->cpus, m->memory_gib * mib_per_gib * 1024);
}

static void put_conditions(struct strbuf *out) {
    static const char *const conditions[][3] = {
        {"MemoryPressure", "False", "KubeletHasSufficientMemory"},
        {"DiskPressure", "False", "KubeletHasNoDiskPressure"},
        {"PIDPressure", "False", "KubeletHasSufficientPID"},
        {"Ready", "True", "KubeletReady"},
    };
    for (int i = 0; i < 4; i++)
        strbuf_appendf(out,
                       "%s{\"lastHeartbeatTime\":\"2025-10-01T12:00:00Z\",\"lastTransitionTime\":"
                       "\"2025-09-01T08:00:00Z\",\"message\":\"the kubelet says %s\",\"reason\":"
                       "\"%s\",\"status\":\"%s\",\"type\":\"%s\"}",
                       i == 0 ? "\"conditions\":[" : ",", conditions[i][2], conditions[i][2],
                       conditions[i][1], conditions[i][0]);
    strbuf_append_str(out, STR("],"));
}

static void put_images(uint32_t node, struct strbuf *out) {
    for (uint32_t i = 0; i < IMAGES; i++) {
        uint64_t image = cluster_hash((uint64_t)node * IMAGES + i) % 5000;
        strbuf_appendf(
            out,
            "%s{\"names\":[\"registry.example.com/team-%u/svc-%03u@sha256:"
            "%016llx%016llx%016llx%016llx\",\"registry.example.com/team-%u/svc-%03u:"
            "v1.%u\"],\"sizeBytes\":%u}",
            i == 0 ? "\"images\":[" : ",", (unsigned)(image % CLUSTER_NAMESPACES),
            (unsigned)(image % CLUSTER_WORKLOADS), (unsigned long long)cluster_hash(image),
            (unsigned long long)cluster_hash(image + 5000),
            (unsigned long long)cluster_hash(image + 10000),
            (unsigned long long)cluster_hash(image + 15000), (unsigned)(image % CLUSTER_NAMESPACES),
            (unsigned)(image % CLUSTER_WORKLOADS), (unsigned)(image % 17),
            (unsigned)(10000000 + image * 70001));
    }
    strbuf_append_str(out, STR("],"));
}

static void put_status(const struct parts *p, struct strbuf *out) {
    strbuf_appendf(out,
                   "{\"addresses\":[{\"address\":\"10.%u.%u.%u\",\"type\":\"InternalIP\"},"
                   "{\"address\":\"",
                   p->address[0], p->address[1], p->address[2]);
    put_name(p, out);
    strbuf_append_str(out, STR("\",\"type\":\"Hostname\"}],"));
    put_resources("allocatable", p->machine, 960, out);
    put_resources("capacity", p->machine, 1024, out);
    put_conditions(out);
    put_images(p->node, out);
    strbuf_append_str(out,
                      STR("\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":10250}},\"nodeInfo\":"
                          "{\"architecture\":\"amd64\",\"bootID\":\"\",\"containerRuntimeVersion\":"
                          "\"containerd://1.7.27\",\"kernelVersion\":\"6.1.0\",\"kubeletVersion\":"
                          "\"v1.34.1\",\"machineID\":\"\",\"operatingSystem\":\"linux\","
                          "\"osImage\":\"Linux\",\"systemUUID\":\"\"}}"));
}

void cluster_node(uint32_t node, bool with_kind, struct strbuf *out) {
    struct parts p = parts_of(node);
    strbuf_append_str(out, with_kind ? STR("{\"apiVersion\":\"v1\",\"kind\":\"Node\",") : STR("{"));
    strbuf_append_str(out,
                      STR("\"metadata\":{\"annotations\":{\"node.alpha.kubernetes.io/ttl\":\"0\","
                          "\"volumes.kubernetes.io/controller-managed-attach-detach\":\"true\"},"
                          "\"creationTimestamp\":\"2025-09-01T08:00:00Z\",\"labels\":"));
    put_labels(&p, out);
    strbuf_append_str(out, STR(",\"name\":\""));
    put_name(&p, out);
    strbuf_appendf(out, "\",\"resourceVersion\":\"%u\",\"uid\":", 100000000 + node);
    cluster_put_uid(((uint64_t)1 << 40) + node, out);
    strbuf_appendf(out,
                   "},\"spec\":{\"podCIDR\":\"10.%u.%u.0/24\"%s},\"status\":", 128 + node / 256,
                   node % 256,
                   cluster_hash(node + 3) % 20 == 0
                       ? ",\"taints\":[{\"effect\":\"NoSchedule\",\"key\":\"dedicated\",\"value\":"
                         "\"batch\"}]"
                       : "");
    put_status(&p, out);
    strbuf_append_char(out, '}');
}
