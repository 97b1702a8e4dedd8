/*
 * Every limit of the program in one place. A limit is checked before memory is taken. Limits marked
 * (config) are defaults that EvenkeelConfiguration can change; all other limits are fixed.
 */
#pragma once

/* JSON and YAML */
#define LIMIT_JSON_DEPTH 1000 /* nested arrays and objects in any document */
#define LIMIT_YAML_BYTES                                                                           \
    (256u << 20) /* bytes of a YAML document after it is rewritten as JSON; stops alias bombs */

/* Decoded objects. Like Kubernetes, we limit only their bytes (the arenas below), and the lists
 * that the cache keeps as tables. */
#define LIMIT_OBJECT_NAME                                                                          \
    253 /* bytes of a name in a reference that are kept and shown: no object has a longer name,    \
           but API servers accept longer names in references */
#define LIMIT_DEFAULT_CONSTRAINTS 64     /* spread.defaultConstraints of the configuration */
#define LIMIT_SELECTOR_REQUIREMENTS 1024 /* requirements of a selector written as one string */
#define LIMIT_SELECTOR_VALUES 4096       /* values of one requirement */
#define LIMIT_SPREAD_GROUP_TEXT                                                                    \
    (1u << 10) /* bytes of a spread group's selector, which is compared with each Placement of its \
                  namespace; a longer selector is ignored */
#define LIMIT_VOLUME_TEXT                                                                          \
    (16u << 10)           /* bytes of a volume's node affinity; a longer affinity is not read */
#define LIMIT_CLAIMS 1024 /* volume claims of one pod */
#define LIMIT_RESOURCES                                                                            \
    128 /* resources that one container, pod or node names, not counting cpu, memory,              \
           ephemeral-storage and pods */
#define LIMIT_IGNORED_RESOURCES                                                                    \
    4096 /* resources, and groups of resources, that kube-scheduler's configuration ignores */
#define LIMIT_NOT_READ                                                                             \
    200 /* bytes of the message that names the unread parts of kube-scheduler's configuration */
#define LIMIT_MODELS 1024       /* resource models (grades) of one cluster of Karmada */
#define LIMIT_NODE_IMAGES 512   /* names of images on one node; a kubelet reports 50 images */
#define LIMIT_HOST_PORTS 1024   /* ports of the host that one pod takes */
#define LIMIT_NODE_NAMES 100000 /* nodes in one extender request */
#define LIMIT_POLICY_TERMS 32   /* items of a list in a TopologyPolicy; locality.tiers */
#define LIMIT_POLICIES 4096     /* TopologyPolicies known at the same time */
#define LIMIT_POLICY_BYTES                                                                         \
    (256 << 10)             /* bytes of one TopologyPolicy from an API server, with metadata */
#define LIMIT_LIST_LEVELS 8 /* levels of Lists within Lists; real files have one level */

#define LIMIT_ASKED_OBJECTS 256 /* objects in one file that one command asks about */

/* Objects of Fluid */
#define LIMIT_FLUID_OBJECT                                                                         \
    (64u << 10) /* bytes kept of one object: a runtime with hundreds of affinity terms */
#define LIMIT_FLUID_BYTES (64u << 20) /* bytes kept of all objects; most claims take 100 bytes */
#define LIMIT_FLUID_WORKERS 10000     /* workers that are looked at for the datasets of one pod */
#define LIMIT_LEAVING_LABELS 32       /* labels of one node for datasets that leave the node */
#define LIMIT_LEAVING_NODES 10000     /* labels of all nodes for datasets that leave */

/* Reviews that wait for objects to be read */
#define LIMIT_WEBHOOK_LOOKUPS                                                                      \
    64 /* reviews that wait at the same time; further reviews are answered without look-ups */
#define LIMIT_WEBHOOK_LOOKUP_BODY (1u << 20)     /* bytes; a larger review does not wait */
#define LIMIT_WEBHOOK_LOOKUP_KEYS (64u << 10)    /* bytes of the names of one review's objects */
#define LIMIT_WEBHOOK_LOOKUP_BODIES (1u << 20)   /* bytes of all answers in one round of reading */
#define LIMIT_WEBHOOK_LOOKUP_OBJECT (256u << 10) /* bytes of one answer */
/* Objects that are read at the same time, each on its own connection. READS: for one review.
 * EXTRA_READS: for all reviews together, not counting one object for each review */
#define LIMIT_WEBHOOK_LOOKUP_READS 4
#define LIMIT_WEBHOOK_LOOKUP_EXTRA_READS 32

/* Selectors of custom controllers, read once (owners/owners.h) */
#define LIMIT_OWNERS 4096             /* selectors remembered; one namespace may use a quarter */
#define LIMIT_OWNERS_BYTES (2u << 20) /* bytes of all selectors */
#define LIMIT_OWNER_TEXT (16u << 10)  /* bytes of one selector */
#define LIMIT_OWNER_BODY                                                                           \
    (1u << 20) /* bytes of an answer that lists the resources of an API group */

/* Memory */
#define LIMIT_REQUEST_ARENA (64u << 20) /* bytes to decode one request, without its body */
#define LIMIT_STATE_BYTES (4ull << 30)  /* bytes of all state files together */
#define LIMIT_ANSWER_BYTES                                                                         \
    (1u << 30) /* bytes of a decoded answer that a command prints as a table */
#define LIMIT_STATE_OBJECT_ARENA (64u << 20) /* bytes to decode one object of a state file */
#define LIMIT_CONFIG_BYTES (4u << 20)        /* bytes of a configuration, pod or certificate file */
#define LIMIT_QUESTIONS 256 /* objects in one file that a command answers one after the other */
#define LIMIT_LOG_LINE 4096 /* bytes of one log line */

/* Cache */
#define LIMIT_COUNTERS                                                                             \
    1024 /* (config) selectors whose pods are counted per node at the same time */
#define LIMIT_FEASIBILITIES 512 /* distinct node affinities and tolerations remembered */
#define LIMIT_CACHE_BYTES                                                                          \
    (64u << 20) /* (config) bytes of counters, feasibilities, columns and trees, with the text     \
                   copied from pods */
#define LIMIT_CACHED_TEXT                                                                          \
    (256u << 10) /* bytes of text kept for a record; longer text is evaluated each time */
#define LIMIT_CACHED_IDLE_MS 600000 /* an unused record is forgotten after this time */
#define LIMIT_UPDATE_STEPS                                                                         \
    16384 /* steps to match a changed node with all feasibilities, or new labels with a            \
             namespace's counters: some hundred microseconds in which no request is answered */
#define LIMIT_PUBLISHED                                                                            \
    64 /* columns, counters and similar records that one question keeps for later questions */
#define LIMIT_WRITE_STEPS 8000          /* steps after which a writer lets readers take the lock */
#define LIMIT_FLIGHTS 4096              /* pods between a filter answer and their binding */
#define LIMIT_FLIGHT_BYTES (1u << 20)   /* bytes kept of one flight */
#define LIMIT_FLIGHTS_BYTES (32u << 20) /* bytes kept of all flights; see base/lru.h */
#define LIMIT_ASSUMED_TEXT                                                                         \
    (16u << 10) /* bytes of a pod's labels; a pod with longer labels is not assumed */
#define LIMIT_WORKLOAD_BYTES                                                                       \
    (64u << 10) /* bytes of a selector for default constraints; a longer selector is ignored */
#define LIMIT_POD_TERMS_BYTES                                                                      \
    (16u << 10) /* bytes of a pod's podAffinity and podAntiAffinity; longer terms are ignored, and \
                   the answer reports that */
#define LIMIT_TERMS_BYTES                                                                          \
    (64u << 20) /* bytes of the pod affinity terms of all pods; equal terms are kept once */
#define LIMIT_POD_REACH_BYTES                                                                      \
    (16u << 10) /* bytes kept of a pod's required node affinity and tolerations; if they are       \
                   longer, the pod's workload is not measured */
#define LIMIT_REACHES_BYTES                                                                        \
    (32u << 20) /* bytes of the node affinities and tolerations of all pods; equal texts are kept  \
                   once */
#define LIMIT_LABELS_BYTES                                                                         \
    (256u << 20) /* bytes of the labels of all live pods, counted as if different sets shared no   \
                    label; an ordinary set takes 1.5 KB, once for all pods with the same set. One  \
                    namespace may use a sixth, and less where other namespaces use much */
#define LIMIT_ASSUMED 4096           /* pods between a prioritize answer and their binding */
#define LIMIT_ASSUMED_NODES 128      /* nodes among which one assumed pod may be divided */
#define LIMIT_COLUMNS 512            /* node labels kept as columns; a dataset has two columns */
#define LIMIT_TREES 64               /* trees that are kept, one for each list of topology keys */
#define LIMIT_TREE_ARENA (64u << 20) /* bytes of memory while a tree is made */
#define LIMIT_PLACES 256             /* domains in which the nodes with one label may be */

/* Member clusters */
#define LIMIT_MEMBER_FEASIBILITIES 128 /* the same as LIMIT_FEASIBILITIES, for each member */
#define LIMIT_MEMBER_REMEMBERED                                                                    \
    (1u << 20) /* bytes of a member's feasibilities, of its columns, and of its trees */
#define LIMIT_MEMBER_BYTES (256u << 20) /* (config) bytes kept of one member */
#define LIMIT_MEMBER_OBJECT (64u << 10) /* bytes kept of a workload's labels and selector */

/* Evenness */
#define LIMIT_EVENNESS_KEYS 8 /* topology keys of one report */
#define LIMIT_EVENNESS_WORKLOADS                                                                   \
    50000u /* workloads measured in one report; of further workloads only the pods are counted */
#define LIMIT_EVENNESS_OF_A_NAMESPACE 20000u /* workloads of one namespace in a report */
#define LIMIT_EVENNESS_STEPS                                                                       \
    128000000u /* steps of one report to match nodes with the affinities and tolerations of pods;  \
                  a namespace has a quarter, and workloads beyond it are not measured */
#define LIMIT_EVENNESS_PIECE_STEPS                                                                 \
    25000u /* steps after which writers have their turn: about 1 ms */
#define LIMIT_EVENNESS_STEPS_A_NODE                                                                \
    64 /* steps for each node, to match all nodes with a pod's affinity and tolerations without a  \
          pause; pods with longer affinities or lists of tolerations are not measured */
#define LIMIT_EVENNESS_PAGE 1000         /* workloads in one answer */
#define LIMIT_EVENNESS_INTERVAL_MS 15000 /* between two reports of a daemon */
#define LIMIT_EVENNESS_SHARE 50 /* a report that took 1 s is repeated after at least 50 s */
/* Events about uneven workloads: EVENTS may be sent at once, then one more after each time in ms */
#define LIMIT_UNEVEN_EVENTS 60
#define LIMIT_UNEVEN_EVENT_MS 1000
#define LIMIT_UNEVEN_OF_A_NAMESPACE 20
#define LIMIT_UNEVEN_NAMESPACE_MS 60000
#define LIMIT_UNEVEN_AFTER_MS                                                                      \
    (15 * 60000) /* (config) a workload is uneven for this time before an Event is sent */
#define LIMIT_WORKLOAD_SERIES 100 /* (config) workloads that have their own metric series */
#define LIMIT_MORE_METRICS                                                                         \
    (8u << 20) /* bytes of the part of /metrics whose labels users write: enough for more than     \
                  10,000 workloads with the longest names. Series beyond the limit are left out */
#define LIMIT_EVENNESS_SETS                                                                        \
    8 /* different sets of two or more domains in which a workload's pods may be */
#define LIMIT_EVENNESS_EMPTY_DOMAINS                                                               \
    100 /* empty domains of a topology key; with more, only the domains that have pods are named   \
           for a workload */

/* Explaining */
#define LIMIT_DECISIONS 10000      /* (config) decisions kept */
#define LIMIT_DECISION_BYTES 1500  /* bytes kept of one decision; 15 MB with the number above */
#define LIMIT_DECISION_SUBJECT 640 /* bytes of a kept decision's subject; the longest takes 632 */
#define LIMIT_DECISION_NODES                                                                       \
    5 /* nodes named for each reason, and scores shown, in a kept decision */
#define LIMIT_WHAT_IF_NODES 100 /* the same for a what-if */
#define LIMIT_EXPLAINED 1000    /* decisions in one answer */

#define LIMIT_EXPLAINED_CONSTRAINTS                                                                \
    8 /* constraints of a plugin whose domains a what-if lists one by one; a rule has no more */
#define LIMIT_FINDINGS 32       /* findings in one answer; further findings are only counted */
#define LIMIT_FINDING_BYTES 400 /* bytes of a finding's message; a longer message is cut */
#define LIMIT_FINDINGS_ARENA (1u << 20)
#define LIMIT_FINDINGS_STEPS 4000000u /* steps to look for mistakes in a question: some 20 ms */
#define LIMIT_FINDING_SPELLINGS                                                                    \
    100 /* unknown members of a file for which the nearest known name is looked for */
#define LIMIT_FINDING_WARNINGS 8 /* findings that one review returns as warnings */
#define LIMIT_FINDING_WARNING                                                                      \
    256 /* bytes of each warning; an API server cuts warnings at the same length */
#define LIMIT_EXPLAINED_DATASETS 16   /* datasets of a pod that a what-if lists one by one */
#define LIMIT_EXPLAINED_DOMAINS 100   /* domains of one constraint */
#define LIMIT_EXPLAINED_GATES 1000    /* schedulingGates of a pod; the API server takes far fewer */
#define LIMIT_EXPLAINED_REPLICAS 32   /* replicas that one command asks */
#define LIMIT_EXPLAINED_WAIT_MS 10000 /* time to wait for a replica that does not answer */
#define LIMIT_REMOTE_FILES 256        /* files that kubectl evenkeel sends to a replica */
#define LIMIT_REMOTE_BYTES (64u << 20) /* bytes of these files together */
#define LIMIT_EXPLAINED_CAUSE 2000 /* bytes of the sentence that explains why a pod is Pending */

/* Kept moves of the Placements that Evenkeel decides */
#define LIMIT_MOVES                                                                                \
    4096 /* moves of all Placements; with more, the namespace with most moves loses its oldest     \
            move */
#define LIMIT_MOVES_OF_ONE 20 /* moves of one Placement */
#define LIMIT_MOVE_NAMES                                                                           \
    1024 /* bytes of the names of clusters kept with one move: half for added clusters, half for   \
            removed ones */

/* Items of one AddOnPlacementScore that we write: each Placement in mode Scores has one item in
 * each cluster of its plan. An API server takes some 15,000 items; each write has all items. */
#define LIMIT_SCORE_ITEMS 4096

/* AddOnPlacementScores that could not be written, and are remembered. */
#define LIMIT_DENIED_OBJECTS 16384

/* Work for one object */
#define LIMIT_ENGINE_STEPS                                                                         \
    1000000u /* steps of one call of the extender, while writers wait: look-ups, comparisons and   \
                sums */
#define LIMIT_ENGINE_STEPS_A_NODE 100u /* additional steps for each known node */
#define LIMIT_REVIEW_STEPS                                                                         \
    1000000u /* steps of one review; after them the object is admitted unchanged */
#define LIMIT_OTHERS_STEPS                                                                         \
    100000u /* steps of a review to check the podAntiAffinity of other workloads' pods; terms      \
               beyond the limit are not seen */
#define LIMIT_OTHERS_STEPS_A_NODE 20u
#define LIMIT_COMPANY_STEPS                                                                        \
    1000000u /* steps of a review to look for companions of a pod without a controller: enough for \
                some 50,000 sets of labels in its namespace; with more sets, no pod is denied      \
                because it has no companion */
#define LIMIT_CLUSTERS_STEPS                                                                       \
    50000000u /* steps of a question about a fleet: enough for some 5,000 clusters of 100 labels,  \
                 1,000 rounds */
#define LIMIT_AUDIT_STEPS (LIMIT_REVIEW_STEPS / 4) /* steps to try the policies in audit mode */
#define LIMIT_REVIEW_FINDINGS_STEPS                                                                \
    (LIMIT_REVIEW_STEPS / 4) /* steps to look for mistakes: the review waits for its warnings */
#define LIMIT_PATCH_BYTES                                                                          \
    (1u << 20) /* bytes added to one object; etcd takes 1.5 MiB for the whole object */

/* Memory for a hub's objects that users of namespaces write */
#define LIMIT_HUB_BYTES                                                                            \
    (128u << 20) /* bytes of Placements, PlacementDecisions and AddOnPlacementScores; an ordinary  \
                    Placement takes 2 KB. One namespace may use a sixth, and less where other      \
                    namespaces use much */
#define LIMIT_PLACEMENT_TEXT (64u << 10) /* bytes of one Placement, without its status */
#define LIMIT_PLACEMENT_STATUS                                                                     \
    (512u << 10) /* bytes of a Placement's status: some 100 for each decision group */
#define LIMIT_PLACEMENT_OUTLINE                                                                    \
    (2u << 10) /* bytes of the conditions and labels of a Placement of which only the outline is   \
                  kept */
#define LIMIT_DECISION_CLUSTERS                                                                    \
    200u /* clusters of one PlacementDecision: twice OCM's limit, because added clusters may       \
            appear before removed clusters leave */

/* Finding the Placements that a change of a hub's object affects */
#define LIMIT_GROUP_STEPS                                                                          \
    20000u /* steps to compare a Placement with the spread groups of its namespace: a fifth of a   \
              millisecond. Beyond the limit, all Placements with a group are planned again */
#define LIMIT_CHANGE_STEPS                                                                         \
    4000000u /* steps for one event: some milliseconds. Beyond the limit, all Placements are       \
                planned again */

/* Questions about fleets that bring their clusters along: a line of `simulate --lines` */
#define LIMIT_LINE_BYTES (64u << 20)
#define LIMIT_LINE_CLUSTERS 100000
#define LIMIT_LINE_ARENA (256u << 20) /* bytes of memory for a line's contents and its answer */
#define LIMIT_LINE_STEPS 100000000u   /* steps of a line: some tenths of a second */

/* HTTP */
#define LIMIT_HTTP_BODY (64u << 20) /* bytes; a body must be smaller than this */
#define LIMIT_WEBHOOK_BODY                                                                         \
    (16u << 20)                   /* the same for a review, which may hold two objects of 3 MiB */
#define LIMIT_OPS_BODY (1u << 20) /* the same for a what-if: a pod, names of nodes, policies */
#define LIMIT_HTTP_BODIES_IN_FLIGHT                                                                \
    (256u << 20) /* bytes of all bodies and unsent answers of one listener */
#define LIMIT_HTTP_SMALL_ANSWER                                                                    \
    (16u << 10) /* bytes; an answer of at most this size is always sent, whatever other bytes are  \
                   held */
#define LIMIT_HTTP_SMALL_BODY                                                                      \
    (64u << 10) /* bytes; a body of at most this size is always accepted */
#define LIMIT_HTTP_TRIM_BODY                                                                       \
    (8u << 20) /* after a body of this size, free memory goes back to the kernel. Some thousand    \
                  whole nodes have this size. Requests with names only are shorter in any cluster; \
                  they would be slowed down */
#define LIMIT_HTTP_LARGE_BODY                                                                      \
    (256u << 10) /* bodies up to this size do not wait for larger ones: 5,000 names take 218 KB */
#define LIMIT_HTTP_LEAVING_PART                                                                    \
    4 /* a quarter of the limit may be held beyond the limit, until closed connections have given  \
         back their bytes */
#define LIMIT_OPS_BYTES_IN_FLIGHT (64u << 20) /* bytes of bodies and answers, ops listener */
#define LIMIT_HTTP_HEADER_BYTES                                                                    \
    (32u << 10) /* request line and headers; libmicrohttpd's pool per connection */
#define LIMIT_HTTP_CONNECTIONS 512 /* (config) */
#define LIMIT_HTTP_CONNECTIONS_PER_ADDRESS                                                         \
    128 /* (config) connections without a verified client; several API servers may share one NAT   \
           address */
#define LIMIT_OPS_CONNECTIONS 64 /* connections of the ops listener */
#define LIMIT_OTHER_DESCRIPTORS                                                                    \
    512 /* descriptors for other uses than a listener's connections: mostly connections to API     \
           servers */
#define LIMIT_FREE_DESCRIPTORS                                                                     \
    128 /* when only so many descriptors are free, a listener with more than a few connections     \
           must close one for each new one */
#define LIMIT_RESERVED_PART                                                                        \
    4 /* if a listener asks for certificates, a quarter of its connections is for verified ones */
#define LIMIT_HTTP_HEADER_MS 5000 /* (config) TLS handshake and headers */
#define LIMIT_HTTP_REQUEST_MS                                                                      \
    10000 /* (config) from the end of the headers to the last byte of the answer */
#define LIMIT_HTTP_SLOW_MS                                                                         \
    500 /* a request that takes longer is logged with its cause: half of a timeout of 1 s */
#define LIMIT_HTTP_IDLE_MS                                                                         \
    120000                  /* (config) keep-alive; Go clients hold idle connections for 90 s */
#define LIMIT_PIPE_MS 10000 /* time to wait for a pipe with a silent writer */
#define LIMIT_KEPT_PIPE_BYTES ((size_t)64 << 20) /* a larger pipe can be read only once */
#define LIMIT_HANDLER_MS 30000 /* a handler that runs longer counts as hung, and /livez fails */
#define LIMIT_HTTP_DROP_BYTES                                                                      \
    (1u << 20) /* a refused body up to this size is read to its end, so that the client surely     \
                  sees the answer */

/* TLS, before anything is trusted */
#define LIMIT_TLS_HANDSHAKE_BYTES (64u << 10) /* bytes of one handshake message from a client */
#define LIMIT_TLS_CHAIN 16 /* certificates in our chain, or in a client's chain */
#define LIMIT_TLS_NAMES 64 /* names looked at in a client's certificate */
#define LIMIT_TLS_RECONNECT_S                                                                      \
    600 /* a client should connect again this time before its certificate expires */

/* gRPC */
#define LIMIT_GRPC_CONNECTIONS 1024u
#define LIMIT_GRPC_CONNECTIONS_PER_ADDRESS 1000u /* without a client certificate */
#define LIMIT_GRPC_ALL_BYTES                                                                       \
    (32u << 20) /* bytes of all connections, beyond the own bytes of each connection */
#define LIMIT_GRPC_SESSION_OWN_BYTES                                                               \
    (32u << 10) /* own bytes of each connection, whatever other connections hold */
#define LIMIT_GRPC_CALL_BYTES 1024u /* bytes counted for a call, besides its message */
#define LIMIT_GRPC_BEGIN_MS 10000   /* time for the handshake, and for the first bytes after it */
#define LIMIT_GRPC_STREAMS 1000     /* calls of one connection at the same time */
#define LIMIT_GRPC_WAITING 100u     /* complete calls of one connection that wait for their turn */
#define LIMIT_GRPC_HEADERS (16u << 10)
#define LIMIT_GRPC_MESSAGE (4u << 20)        /* bytes of one message; the default of grpc-go */
#define LIMIT_GRPC_SESSION_BYTES (16u << 20) /* bytes of a connection's unanswered requests */
#define LIMIT_GRPC_ARENA (64u << 20)         /* bytes of memory for one call */
#define LIMIT_GRPC_STEPS 1500000u            /* steps of one call: 10 to 20 ms */
#define LIMIT_GRPC_OUTPUT                                                                          \
    (64u << 10)                     /* bytes not sent yet; while there are more, no input is read */
#define LIMIT_GRPC_RECEIVE_MS 10000 /* time until a request is complete */
#define LIMIT_GRPC_SEND_MS 30000    /* time until the client has taken the answer */
#define LIMIT_GRPC_GONE_MS 20000    /* time until a peer has acknowledged our bytes */
#define LIMIT_GRPC_IGNORED                                                                         \
    (16u << 10) /* further bytes of an answered request; after them its stream is reset */
#define LIMIT_GRPC_OBJECT 256 /* bytes kept of the metadata `object` */
#define LIMIT_GRPC_PATH 128   /* bytes of an unknown path that errors show */
#define LIMIT_GRPC_TEXT 1024  /* bytes kept of the text of a server's status */

#define LIMIT_GRPC_ADDRESS 264   /* bytes of "host:port" with its NUL */
#define LIMIT_GRPC_ORDERS 16384u /* calls that wait for the dialer's thread */
#define LIMIT_GRPC_DIAL_MS 5000  /* time for one address: to connect, for TLS, for SETTINGS */
#define LIMIT_GRPC_REDIAL_MS                                                                       \
    1000 /* wait after the first failure; doubled after each failure, up to: */
#define LIMIT_GRPC_REDIAL_MAX_MS 30000
#define LIMIT_LOOKUPS 16u /* look-ups of host names at the same time */

/* API server */
#define LIMIT_KUBE_EVENT                                                                           \
    (16u << 20) /* bytes of one watch event: an object of 1.5 MiB may take six times as much in    \
                   JSON */
#define LIMIT_KUBE_PAGE (64u << 20) /* bytes of one page of a list */
#define LIMIT_KUBE_BODY (4u << 20)  /* bytes of any other answer */
#define LIMIT_KUBE_PAGE_OBJECTS 500 /* objects asked for per page */
#define LIMIT_LISTED                                                                               \
    500000 /* objects in one list: a cluster may have 150,000 pods. A longer list does not end */
#define LIMIT_LISTED_FEW                                                                           \
    100000 /* the same for kinds with fewer objects: 5,000 nodes, 10,000 namespaces, Services */
#define LIMIT_LISTED_BYTES                                                                         \
    (256u << 20) /* bytes of memory that one list, or the watch after it, may add. 150,000 pods,   \
                    all different, add 62 MiB */
#define LIMIT_KUBE_EXEC_BYTES (1u << 20)       /* bytes of a credential plugin's output */
#define LIMIT_KUBE_EXEC_MS 60000               /* run time of a credential plugin */
#define LIMIT_KUBE_CREDENTIAL_BYTES (1u << 20) /* bytes of a token, CA, certificate or key file */
#define LIMIT_KUBECONFIG_ENTRIES                                                                   \
    4096                           /* clusters, users, contexts or plugin arguments of a file      \
                                    */
#define LIMIT_WRITES_IN_FLIGHT 64  /* writes sent to one API server at the same time */
#define LIMIT_KUBE_STALE_MS 180000 /* (config) silence after which answers become "no opinion" */
