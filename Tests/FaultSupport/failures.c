#include "fault_internal.h"

#include <stdatomic.h>

static _Atomic uint32_t armed_kinds;
static _Atomic uint64_t first_failure;
static _Atomic int failure_lasts;
static _Atomic int failure_effect;
// By the bit of the kind.
static _Atomic uint64_t calls[32];
static _Atomic uint64_t failures;

void fault_arm(uint32_t kinds, uint64_t first, int lasts, int effect) {
    for (int bit = 0; bit < 32; bit++) calls[bit] = 0;
    failures = 0;
    first_failure = first;
    failure_lasts = lasts;
    failure_effect = effect;
    armed_kinds = kinds;
}

uint64_t fault_disarm(void) {
    armed_kinds = 0;
    return failures;
}

uint64_t fault_call_count(uint32_t kind) { return calls[__builtin_ctz(kind)]; }

int fault_effect(void) { return failure_effect; }

int fault_strikes(uint32_t kind) {
    if (!(armed_kinds & kind)) return 0;
    uint64_t number = atomic_fetch_add(&calls[__builtin_ctz(kind)], 1) + 1;
    if (number != first_failure && !(failure_lasts && number > first_failure)) return 0;
    failures++;
    return 1;
}
