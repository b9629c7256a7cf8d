#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CBaseline.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

static void *require(void *memory) {
    if (!memory) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *cb_allocate(size_t size) {
    return require(calloc(1, size ? size : 1));
}

char *cb_copy_text(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(cb_allocate(size), text, size);
}

void *cb_grow(void *items, size_t count, size_t *capacity, size_t item_size) {
    if (count < *capacity) return items;
    *capacity = *capacity ? *capacity * 2 : 16;
    return require(realloc(items, *capacity * item_size));
}

void cb_release_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
