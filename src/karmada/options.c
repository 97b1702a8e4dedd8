#include "karmada/karmada.h"

const struct karmada_options karmada_defaults = {
    .models = MODELS_THIRD,
    .search_budget = 1000000,
};

const struct str karmada_error_names[KARMADA_ERRORS] = {
    [KARMADA_OK] = STR(""),
    [KARMADA_FIT_ERROR] = STR("FitError"),
    [KARMADA_UNSCHEDULABLE] = STR("UnschedulableError"),
    [KARMADA_ERROR] = STR("error"),
};
