/* Versions of Karmada's use of resource models. */
#pragma once

/* The way to read a cluster's resource models, by the versions of Karmada that use it. */
enum estimator_models {
    MODELS_OFF,    /* models are not used: only the summary counts */
    MODELS_FIRST,  /* v1.3 to v1.11 */
    MODELS_SECOND, /* v1.12 to v1.17 */
    MODELS_THIRD,  /* from v1.18 on */
};
