#include "callgrind_requests.h"

#include <stdint.h>

// Valgrind finds these instructions, which change nothing, and looks for the request where the register points. They are a part of its
// interface for programs: "The Client Request mechanism" in its manual, and <valgrind/valgrind.h>.
static uint64_t request(uint64_t code) {
    volatile uint64_t words[6] = {code, 0, 0, 0, 0, 0};
    volatile uint64_t answer = 0;
#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "=d"(answer)
                     : "a"(&words[0]), "0"(answer)
                     : "cc", "memory");
#elif defined(__aarch64__)
    __asm__ volatile("mov x3, %1; mov x4, %2\n"
                     "ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10\n"
                     "mov %0, x3"
                     : "=r"(answer)
                     : "r"((uint64_t)0), "r"(&words[0])
                     : "cc", "memory", "x3", "x4");
#endif
    (void)words;
    return answer;
}

enum {
    running_on_valgrind = 0x1001,
    // The tool's own requests begin with its two letters.
    start_instrumentation = ('C' << 24 | 'T' << 16) + 4,
    stop_instrumentation = ('C' << 24 | 'T' << 16) + 5,
};

int callgrind_is_running(void) { return request(running_on_valgrind) != 0; }
void callgrind_start(void) { request(start_instrumentation); }
void callgrind_stop(void) { request(stop_instrumentation); }
