#include "admission/objects/objects.h"

#include "admission/pods/pods.h"

const struct admitted_kind *const admitted_kinds[ADMITTED_KINDS] = {&admitted_pods,
                                                                    &validated_pods};
