#ifndef CB_MEMORY_H
#define CB_MEMORY_H

#include <stddef.h>

// Allocation that ends the process when there is no memory: a benchmark has nothing better to do.

void *cb_allocate(size_t size);
char *cb_copy_text(const char *text);

/// Makes room for one more item: returns `items`, moved if it had to grow.
void *cb_grow(void *items, size_t count, size_t *capacity, size_t item_size);

#endif
